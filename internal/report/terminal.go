package report

import (
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"sixnines/result"
)

// Terminal writes results for people: what fits a screen, with the verdict first,
// and after it the parts of opt.Show; with opt.Full everything. Several results
// stand side by side, workloads of one run below each other. Lines keep to
// opt.Width where words allow it.
func Terminal(w io.Writer, runs []*result.Run, opt Options) error {
	subjects, err := subjects(runs)
	if err != nil {
		return err
	}
	if opt.Width == 0 && !opt.Full {
		opt.Width = 80
	}
	p := newPrinter(opt)
	switch {
	case opt.Full:
		terminalFull(p, subjects)
	case len(subjects) > 1 && !ofOneRun(subjects):
		comparison(p, subjects)
	default:
		for i, s := range subjects {
			var foot []string
			if i > 0 {
				p.blank()
			}
			if i == len(subjects)-1 {
				foot = footer(s, opt)
			}
			screen(p, s, foot)
		}
	}
	if !opt.Full {
		for _, part := range Parts() {
			for _, s := range subjects {
				if slices.Contains(opt.Show, part.Name) {
					part.write(p, s)
				}
			}
		}
	}
	_, err = w.Write(p.buf.Bytes())
	return err
}

// ofOneRun reports whether subjects are the workloads of one run.
func ofOneRun(subjects []*subject) bool {
	return !slices.ContainsFunc(subjects, func(s *subject) bool {
		h := &s.run.Header
		return h.Workload == "" || h.ID != subjects[0].run.Header.ID
	})
}

// terminalFull writes everything: the verdict and its reasons first, then what was
// run, the percentiles, the accounts of messages, and guarantees and settings.
func terminalFull(p *printer, subjects []*subject) {
	for i, s := range subjects {
		if i > 0 {
			p.blank()
		}
		terminalVerdict(p, s)
	}
	p.table(objectives(subjects), "")
	for _, sentence := range omission(subjects) {
		p.blank()
		p.wrapped("", sentence, strong)
	}
	for _, x := range repeatTables(subjects, allMetrics) {
		p.table(x, "")
	}
	terminalTables(p, subjects, func(family) bool { return true })
	terminalFindings(p, subjects)
	for _, s := range subjects {
		terminalMessages(p, s)
		terminalKept(p, s)
	}
	told := map[string]bool{} // repeats of a run stand on the same
	for _, s := range subjects {
		if t := s.run.Header.Trial; t != nil && t.Set != "" {
			key := t.Set + " " + t.Arm + " " + s.run.Header.Workload
			if told[key] {
				continue
			}
			told[key] = true
		}
		terminalSetting(p, s)
	}
}

// terminalFindings writes what is behind the figures: of a run that is alone
// all, of several what fits a line each.
func terminalFindings(p *printer, subjects []*subject) {
	if len(subjects) == 1 {
		s := subjects[0]
		terminalFloor(p, s)
		for _, x := range findings(s) {
			if !x.Page {
				p.table(x, "")
			}
		}
		return
	}
	for i, text := range floorTexts(subjects) {
		if i == 0 {
			p.blank()
		}
		p.wrapped("  ", text, faint)
	}
	for _, s := range subjects {
		var lines []string
		if st := s.sum.Steady; st != nil {
			lines = append(lines, "steady state: "+plain(st.Text))
		}
		for _, a := range s.sum.Attribution {
			lines = append(lines, attributionLine(a))
		}
		if len(lines) == 0 {
			continue
		}
		p.heading("Machine and broker use", s.of())
		for _, l := range lines {
			p.wrapped("  ", l, normal)
		}
	}
}

// terminalFloor writes what percentiles are to be held against: the noise floor,
// and what they come to per user and page.
func terminalFloor(p *printer, s *subject) {
	if s.measuredMetric() == "" {
		return
	}
	p.blank()
	p.wrapped("  ", floorText(&s.run.Header), faint)
	if line := peopleLine(s); line != "" {
		p.wrapped("  ", line, faint)
	}
}

// statusStyle is how a status looks.
func statusStyle(s result.Status) style {
	switch s {
	case result.Valid:
		return good
	case result.Suspect:
		return warning
	}
	return bad
}

// terminalVerdict writes the verdict, its reasons, the headline and the
// banners.
func terminalVerdict(p *printer, s *subject) {
	p.line(statusStyle(s.sum.Verdict.Status).paint(s.status(), p.colour) + "  " + strong.paint(s.label, p.colour))
	for _, l := range s.limits() {
		p.wrapped("  ", l, warning)
	}
	for _, r := range s.reasons() {
		word := reasonWord(r.Status)
		st := normal
		if r.Status == result.Valid {
			st = faint
		}
		p.wrapped("  "+word+strings.Repeat(" ", max(1, 10-lipgloss.Width(word))), reasonText(r), st)
	}
	p.joined("  ", headline(s), dot, normal)
	if when := s.run.Header.Started; !when.IsZero() {
		line := when.UTC().Format("2006-01-02 15:04:05 UTC")
		if id := plain(s.run.Header.ID); id != "" {
			line += " · run " + id
		}
		if t := trialText(s.run.Header.Trial); t != "" {
			p.line("  " + faint.paint(t, p.colour))
		}
		p.line("  " + faint.paint(line, p.colour))
	}
	for _, b := range s.banners {
		mark, st := "  ! ", strong
		if b.loud() {
			mark, st = "  !!! ", alarm
		}
		p.line(mark + st.paint(b.Head, p.colour))
		p.wrapped("      ", b.Text, normal)
	}
}

// dot separates facts that stand in one line.
const dot = " · "

// heading writes a section's title; of is the run it is about, empty when that
// is clear.
func (p *printer) heading(text, of string) {
	p.blank()
	text = strings.ToUpper(text)
	if of != "" {
		text += "  " + of
	}
	p.line(strong.paint(text, p.colour))
}

// of names the run in headings where there are several.
func (s *subject) of() string {
	if s.letter == "" {
		return ""
	}
	return s.label
}

// terminalTables writes the percentile tables that are wanted.
func terminalTables(p *printer, subjects []*subject, wanted func(family) bool) {
	for _, f := range tabled() {
		if f.Apart || !wanted(f) {
			continue
		}
		for _, x := range percentileTables(subjects, f, inTerminal) {
			p.table(x, x.Of)
		}
	}
}

// shorten cuts text to a width, with an ellipsis.
func shorten(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	r := []rune(text)
	for len(r) > 0 && lipgloss.Width(string(r)) > width-1 {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ") + "…"
}

// terminalMessages writes the rate and the accounts of a run.
func terminalMessages(p *printer, s *subject) {
	c := &s.sum.Counters
	p.heading("Messages", s.of())
	sends := s.sends()
	if sends {
		p.joined("  rate       ", pairs(rateLine(s)), dot, normal)
	}
	for _, l := range availabilityLine(s.sum.Availability) {
		p.wrapped("  available  ", l.Value+": "+l.Means, normal)
	}
	if t := throughputLines(s); t != nil {
		p.joined("  throughput ", pairs(t), dot, normal)
	}
	if sends {
		p.joined("  publish    ", sumOf(s.publishSide()), " ", normal)
	}
	if c.Expected > 0 {
		p.joined("  delivery   ", sumOf(s.deliverySide()), " ", normal)
	}
	var seen, none []string
	for _, e := range s.otherCounters() {
		if e.Value == 0 {
			none = append(none, e.Name)
			continue
		}
		seen = append(seen, e.Name+" "+count(e.Value))
	}
	if len(seen) > 0 {
		p.joined("  besides    ", seen, dot, warning)
	}
	if len(none) > 0 && s.letter == "" {
		p.wrapped("  none       ", strings.Join(none, ", "), faint)
	}
	if text := s.unbalanced(); text != "" {
		p.wrapped("  ", sentence(text), bad)
	}
	if f := fates(c, neverAcknowledges(&s.run.Header)); f != nil && !s.cut && (s.letter == "" || c.Missing > 0) {
		p.blank()
		x := &table{Head: columnHeads("lrr", "publish", "arrived", "missing"), Even: true, Fixed: true}
		for _, r := range f {
			out := x.add(r.Name, r.arrived("–"), count(r.Missing))
			if r.Missing > 0 && r.Name == "acked" {
				out.styled(2, bad).noted(strings.TrimPrefix(r.Means, "missing here: "))
			}
		}
		p.table(x, "")
	}
}

// sumOf writes an account as a sum: "expected 20 = received 17 + missing 3".
func sumOf(entries []entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		sign := "+ "
		switch i {
		case 0:
			sign = ""
		case 1:
			sign = "= "
		}
		out[i] = sign + e.Name + " " + count(e.Value)
	}
	return out
}

// pairs writes names and values.
func pairs(entries []entryText) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name + " " + e.Value
	}
	return out
}

// verdictSays reports whether a reason of the verdict repeats the text.
func (s *subject) verdictSays(text string) bool {
	return slices.ContainsFunc(s.sum.Verdict.Reasons, func(r result.Reason) bool { return r.Text == text })
}

// terminalSetting writes broker guarantees and settings: semantics, cold figures
// and the file.
func terminalSetting(p *printer, s *subject) {
	h := &s.run.Header
	lines := append(semanticsLines(&h.Semantics), deploymentLines(h.Deployment)...)
	if len(lines)+len(h.Semantics.Warnings)+len(h.Cold) > 0 {
		p.heading("Broker guarantees and settings", s.of())
		for _, e := range lines {
			p.wrapped("  "+e.Name+strings.Repeat(" ", max(1, 17-len(e.Name))), e.Value, normal)
		}
		for _, w := range h.Semantics.Warnings {
			if !s.verdictSays(w) {
				p.wrapped("  ! ", plain(w), warning)
			}
		}
		var cold []string
		for _, c := range h.Cold {
			cold = append(cold, plain(c.Name)+" "+duration(int64(c.Duration)))
		}
		p.joined("  cold             ", cold, dot, normal)
		if use := brokerUse(s.run); use != nil {
			p.joined("  broker processes ", use, dot, normal)
		}
	}
	if s.run.Path != "" {
		p.blank()
		p.line(faint.paint("  result  "+plain(s.run.Path), p.colour))
	}
}
