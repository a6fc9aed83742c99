package report

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/semantics"
)

// screen writes a report that fits one screen: the verdict, what was run, one table,
// the fate of the messages, the reasons of the verdict with what to do, and where to
// find the rest. It shows as many reasons and notes as have room.
func screen(p *printer, s *subject, foot document) {
	least := 0
	if p.width < 80 {
		least = 1
	}
	p.fit(screenLines, 3, least, func(most int) document { return append(screenOf(s, most, p.width), foot...) })
}

// screenOf returns a screen of a width with at most most reasons, notes and met objectives.
func screenOf(s *subject, most, width int) document {
	var out document
	name := ""
	if s.letter != "" {
		name = s.label + ": "
	}
	out.say("", name+verdictLine(s), statusStyle(s.sum.Verdict.Status))
	out.list("", setupLine(s), normal)
	for _, b := range s.banners {
		if b.Mark {
			out.say("! ", b.Head+": "+b.Text, alarm)
		}
	}
	out.add(gap{})
	out.add(screenTable(s, width)...)
	for _, l := range otherLatencies(s) {
		out.list("  ", l, normal)
	}
	out.add(gap{})
	out.add(screenAccounts(s)...)
	out.add(screenObjectives(s, 2+most)...)
	out.add(screenReasons(s, most)...)
	return out
}

// verdictLine returns the verdict with its reasons in a few words.
func verdictLine(s *subject) string {
	v, status := s.sum.Verdict, s.status()
	switch v.Status {
	case result.Valid, result.Suspect:
		if l := v.Limit(s.measuredMetric()); l != nil {
			if v.Status == result.Valid {
				return status + "; " + limitText(*l, s.whyInFull)
			}
			if l.ValidTo == "" {
				line := status + " from " + rowName(l.From) + " on: " + s.whyInFull(*l, false)
				if l.InvalidFrom != "" {
					line += "; " + rowName(l.InvalidFrom) + " invalid: " + s.whyInFull(*l, true)
				}
				return line
			}
		}
	}
	for _, r := range s.reasons() {
		if r.Status == v.Status && (r.Status != result.Valid || r.Code == result.ReasonAllRefused) {
			return status + ": " + adviceOf(r).brief
		}
	}
	return status
}

// whyInFull is why a percentile is suspect or invalid; the generator's own lag is explained.
func (s *subject) whyInFull(l result.Limit, invalid bool) string {
	d, codes, percentile := s.sum.Histograms[l.Metric], l.Codes, l.From
	if invalid {
		codes, percentile = l.InvalidCodes, l.InvalidFrom
	}
	if f, _ := d.At(percentile); f.OwnShare != nil && slices.Equal(codes, []result.ReasonCode{result.ReasonOwnLag}) {
		return share(*f.OwnShare) + " of it is the generator's own lag"
	}
	return shortWhy(l, invalid)
}

// setupLine says what was measured, where and how.
func setupLine(s *subject) []string {
	h := &s.run.Header
	broker := brokerName(h)
	if broker == "" {
		broker = plain(h.Driver)
	}
	if d := h.Deployment; d != nil && d.Nodes > 1 {
		broker += ", " + count(int64(d.Nodes)) + " nodes"
	}
	if h.SameHost {
		broker += " on this host"
	}
	if n := h.Network; n != nil {
		broker += " over a path with " + conditionsText(n.Asked)
	}
	out := []string{broker, plain(h.Pattern), loadText(h)}
	if s.letter == "" && s.title != titleOfAll(&result.Run{Header: result.Header{Driver: h.Driver, Pattern: h.Pattern, Rate: h.Rate, Mode: h.Mode}}) {
		out = append([]string{s.title}, out...)
	}
	switch h.Mode {
	case result.ModeOpen:
	case result.ModeFlatOut:
		out = append(out, "flat out")
	default:
		out = append(out, plain(h.Mode))
	}
	if h.Synchronous != nil {
		out = append(out, "each producer waits for the answer")
	}
	out = append(out, shortDuration(float64(window(s))))
	if s.sum.Interrupted {
		out[len(out)-1] += " (ended early)"
	}
	if c := clientText(&h.Semantics); c != "" {
		out = append(out, c)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// clientText names the client, direct where the driver speaks the protocol itself.
func clientText(s *result.Semantics) string {
	c := clientOf(s)
	if s.Client.Kind == semantics.Direct {
		c = string(semantics.Direct)
	}
	if c == "" {
		return ""
	}
	return "client " + shorten(c, 30)
}

// clientOf is the client with its version, which older files have among the settings.
func clientOf(s *result.Semantics) string {
	return plain(cmp.Or(s.Client.String(), s.Settings["client"]))
}

// screenRows are the percentiles of the first screen: one for each nine.
func screenRows() []result.Percentile {
	return []result.Percentile{result.P50, result.P90, result.P99, result.P999, result.P9999, result.P99999, result.P999999, result.Maximum}
}

// screenTable shows the latency that the verdict is about. It drops columns from the right if
// the terminal is too narrow.
func screenTable(s *subject, width int) (out document) {
	m := s.measuredMetric()
	if m == "" {
		out.say("  ", "no latency was measured", warning)
		return out
	}
	main := s.column(m)
	withheld := s.sum.Verdict.Status == result.Unstable && m.IsResponse()
	var service *column
	if m.Service() != "" {
		service = s.column(m.Service())
	}
	if withheld && service != nil {
		main, service = service, nil
	}
	for columns := 3; !withheld || !main.Metric.IsResponse(); columns-- {
		x := screenGrid(s, main, service, columns)
		if columns == 1 || x.total() <= width {
			out.add(x)
			if columns > 1 && slices.ContainsFunc(main.Figures, func(f figure) bool { return slices.Contains(screenRows(), f.Percentile) && f.byMessages() }) {
				line := byMessagesMark + " assumes independent messages; it decides nothing"
				if len(s.sum.Objectives) > 0 {
					line = byMessagesMark + " assumes independent messages; objectives have bounds that do not"
				}
				out.say("  ", line, faint)
			}
			break
		}
	}
	if withheld {
		line := "response times are withheld: they depend on the length of the run"
		if f := s.figureAt(m, result.Maximum); f.ok() {
			line += " (max " + f.text() + ")"
		}
		out.say("  ", line, warning)
		if d := s.column(m).Dist; main.Metric != m && d.Total() > d.Count {
			out.say("  ", "service times are those of the "+count(d.Count)+" of "+count(d.Total())+" messages that succeeded", warning)
		}
	}
	return out
}

// screenGrid lays out the first of three columns: the latency, its interval, and
// the service time beside a response time.
func screenGrid(s *subject, main, service *column, columns int) *table {
	head := main.Head
	if of := metricName(main.Of); main.Of != result.DeliveryResponse && main.Of != result.DeliveryService {
		head = of
	}
	x := &table{Head: columnHeads("lr", "", head), Fixed: true}
	if columns > 1 {
		x.Head = append(x.Head, cell{Text: "95 % interval"})
	}
	if columns > 2 && service != nil {
		x.Head = append(x.Head, cell{Text: service.Head, Right: true})
	}
	limit, said := s.sum.Verdict.Limit(main.Metric), result.Valid
	var other *result.Limit // of the service time, where the response time has none
	if columns > 2 && service != nil && limit == nil {
		other = s.sum.Verdict.Limit(service.Metric)
	}
	for _, name := range screenRows() {
		i := slices.Index(rows(), name)
		f := main.Figures[i]
		if f.Needs > 0 {
			needs := figureCell(f)
			needs.Text = "n/a"
			x.Rows = append(x.Rows, row{Cells: []cell{{Text: rowName(name)}, needs}, Notes: []string{"needs " + plural(f.Needs, "message")}},
				screenRow(main, service, len(rows())-1, columns, nil))
			return x
		}
		var notes []string
		if f.fewEvents() {
			notes = append(notes, plural(int64(f.Episodes), "event")+": this run only")
		}
		if reached := limit.Of(name); reached != said {
			said = reached
			why := limit.Why
			if reached == result.Invalid {
				why = "invalid: " + limit.InvalidWhy
			}
			notes = append([]string{plain(why)}, notes...)
		}
		if other.Reaches(name) {
			notes, other = append(notes, service.Head+": "+plain(other.Why)), nil
		}
		x.Rows = append(x.Rows, screenRow(main, service, i, columns, notes))
	}
	return x
}

// screenRow is a row of the table; its notes stay together.
func screenRow(main, service *column, i, columns int, notes []string) row {
	f := main.Figures[i]
	r := row{Cells: []cell{{Text: rowName(f.Percentile)}, figureCell(f)}}
	if columns > 1 {
		text := f.decisive().shortInterval()
		if f.byMessages() {
			text += " " + byMessagesMark
		}
		r.Cells = append(r.Cells, cell{Text: text, Style: faint})
	}
	if columns > 2 && service != nil {
		r.Cells = append(r.Cells, figureCell(service.Figures[i]))
	}
	if len(notes) > 0 {
		r.Notes = []string{strings.Join(notes, "; ")}
	}
	return r
}

// byMessagesMark follows an interval that is computed from messages only.
const byMessagesMark = "*"

// byMessages reports whether the figure's interval assumes independent messages, because
// the run has no interval by stretches. Such an interval decides no objective.
func (f figure) byMessages() bool {
	return f.interval() != "" && !f.Interval.Sequential && f.Blocks == nil
}

// decisive returns the figure with the interval that decides objectives: at each end the
// wider of the intervals by messages and by stretches.
func (f figure) decisive() figure {
	if f.Interval != nil && !f.Interval.Sequential {
		wider := *f.Interval
		wider.Low, wider.High = f.Widest()
		f.Interval = &wider
	}
	return f
}

// shortInterval is the interval with its unit said once, if there is one unit.
func (f figure) shortInterval() string {
	text := f.interval()
	lo, hi, found := strings.Cut(text, " – ")
	_, unit, _ := strings.Cut(lo, " ")
	if _, same, _ := strings.Cut(hi, " "); found && same == unit {
		return strings.TrimSuffix(lo, " "+unit) + " – " + hi
	}
	return text
}

// otherLatencies returns the latencies that are not in the table, one line each: the others
// that were measured, and those of the messages that were not refused.
func otherLatencies(s *subject) [][]string {
	m := s.measuredMetric()
	var out [][]string
	for _, f := range s.tables {
		if f.Apart || f.Key == "lag" {
			continue
		}
		for _, c := range f.Columns {
			service := c.Metric.Service() == "" && !c.Metric.IsResponse() && c.Of != result.ProbeService
			if c.Metric == m || c.Corrected || service || s.sum.Verdict.Status == result.Unstable && c.Of.IsResponse() {
				continue
			}
			var parts []string
			for _, p := range []result.Percentile{result.P50, result.P99, result.P999, result.Maximum} {
				if x := c.at(p); x.Needs == 0 && !x.Absent {
					parts = append(parts, rowName(p)+" "+x.text())
				}
			}
			if len(parts) == 0 {
				continue
			}
			parts[0] = metricName(c.Metric) + "  " + parts[0]
			if l := s.sum.Verdict.Limit(c.Metric); l != nil {
				parts = append(parts, limitText(*l, shortWhy))
			}
			out = append(out, parts)
		}
	}
	return out
}

// screenObjectives returns the objectives, one line each, with at most most of those that are
// met.
func screenObjectives(s *subject, most int) (out document) {
	left, brief := 0, false
	for _, failed := range []bool{true, false} {
		for _, o := range s.sum.Objectives {
			outcome := plain(o.Outcome)
			if (outcome != "met") != failed {
				continue
			}
			if most--; most < 0 {
				left++
				continue
			}
			out.add(points{{Word: outcome + strings.Repeat(" ", max(0, 10-lipgloss.Width(outcome))), Text: plain(o.Text) + ": " + plain(cmp.Or(o.Brief, o.Found)), WordStyle: objectiveStyle(outcome)}})
			brief = brief || o.Brief != "" && o.Brief != o.Found
		}
	}
	switch {
	case left > 0:
		out.say("  ", "and "+plural(int64(left), "objective")+" more: --show objectives", faint)
	case brief:
		out.say("  ", "how they were decided: --show objectives", faint)
	}
	return out
}

// screenReasons returns the reasons of the verdict with what to do, then the notes.
func screenReasons(s *subject, most int) (out document) {
	all := advices(s)
	for i, a := range all {
		if i >= max(most, 1) {
			out.say("  ", "and "+plural(int64(len(all)-i), "more reason")+": --show reasons", faint)
			break
		}
		out.say("  why   ", a.why, normal)
		if a.try != "" {
			out.say("  try   ", a.try, strong)
		}
	}
	if line := steadyLine(s); line != "" {
		out.say("  ", line, warning)
	}
	notes := screenNotes(s)
	for i, n := range notes {
		if i < most {
			out.say("  note  ", n, faint)
		}
	}
	if missed, open := s.failedObjectives(); len(all)+len(missed)+len(open) == 0 && len(notes) < most {
		if line := repeatLine(s); line != "" {
			out.say("  ", line, faint)
		}
	}
	return out
}

// steadyLine says which part of the steady state was not assessed; empty: all was.
func steadyLine(s *subject) string {
	st := s.sum.Steady
	if st == nil || s.run.Header.Mode == result.ModeFlatOut || s.sum.Verdict.Status == result.Unstable {
		return ""
	}
	const none = string(stats.NotAssessed)
	switch {
	case st.P50.Class == none:
		return "steady state not assessed: a longer run is needed (--duration)"
	case st.P99.Class == none:
		return "steady state not assessed beyond p90: a longer run is needed (--duration)"
	}
	return ""
}

// screenNotes returns the notes beside the verdict, one or two lines each.
func screenNotes(s *subject) []string {
	var out []string
	if col := s.column(s.measuredMetric()); col != nil {
		first, last := "", ""
		for _, name := range screenRows() {
			if f := col.at(name); f.nearFloor() {
				if last = rowName(name); first == "" {
					first = last
				}
			}
		}
		if first != "" {
			if first != last {
				first += " to " + last
			}
			out = append(out, first+": below 3 times this machine's noise floor, so as much about the machine as about the broker")
		}
	}
	for _, r := range s.reasons() {
		if r.Status == result.Valid && r.Code.Properties().Shown == result.ShownAsNote {
			out = append(out, plain(r.What()))
		}
	}
	if s.sum.Interrupted {
		out = append(out, "the window was ended early; it is complete up to that instant")
	}
	return out
}

// footer says where to find the rest of a report.
func footer(s *subject, opt Options) (out document) {
	if opt.Page != "" {
		out.add(command("  page     " + plain(opt.Page)))
	}
	if s.run.Path != "" {
		out.add(command("  details  sixnines report --full " + plain(s.run.Path)))
	}
	if len(out) > 0 {
		out = append(document{gap{}}, out...)
	}
	return out
}
