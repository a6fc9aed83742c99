package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"sixnines/result"
)

// pageRun is what the page says of one run outside the shared tables.
type pageRun struct {
	Label        string
	Status       string
	StatusClass  string
	Limits       []string // where suspect parts begin
	Headline     []string
	Reasons      []pageReason
	Unblemished  bool // no reason and no banner speaks against it
	Banners      []pageBanner
	Latency      string // of which the first cards tell
	Cards        []pageRow
	Keys         []pageRow // the same, aligned with those of other runs
	Rate         []pageRow
	Accounts     []pageAccount
	Conservation string
	Fates        []pageFate
	Objectives   []sheet // one, or none
	Findings     []sheet // what was concluded: before the accounts
	Sheets       []sheet
}

type pageReason struct{ Word, Class, Text, Code string }

type pageBanner struct {
	Head, Text string
	Loud       bool
}

type pageRow struct {
	Name, Value, Means, Class string
	Key                       string // of a card: the column it has beside other runs' cards
}

type pageAccount struct {
	Name, About string
	Rows        []pageRow
}

type pageFate struct{ Name, Arrived, Missing, Means, Class string }

// sheet is a table or text of details that can be folded away.
type sheet struct {
	Name     string
	Caption  string
	Open     bool
	Heads    []string
	Rows     []sheetRow
	Warnings []string
	Text     string
	After    []string
	Command  string
	Align    string // as of a section; empty: all are words
	Mark     int    // the column that shows a row's class
}

// CellClass is the classes of a cell of a row, counted without the row's name.
func (s sheet) CellClass(i int, r sheetRow) string {
	class := ""
	switch {
	case s.Number(i + 1):
		class = "number"
	case s.Align != "" && i+1 >= len(s.Align):
		class = "remark"
	}
	if i+1 == s.Mark {
		class = words(" ", class, r.Class)
	}
	return class
}

// Number reports whether a column is flush right, for the template.
func (s sheet) Number(i int) bool { return i < len(s.Align) && s.Align[i] == 'r' }

type sheetRow struct {
	Name  string
	Cells []string
	Class string
	Group bool
}

func newPageRun(s *subject, opt Options) pageRun {
	c := &s.sum.Counters
	r := pageRun{Label: s.label, Status: s.status(), Limits: s.limits(), Headline: headline(s)}
	r.StatusClass = statusClass(s.sum.Verdict.Status)
	if when := s.run.Header.Started; !when.IsZero() {
		r.Headline = append(r.Headline, when.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if id := plain(s.run.Header.ID); id != "" {
		r.Headline = append(r.Headline, "run "+id)
	}
	if t := trialText(s.run.Header.Trial); t != "" {
		r.Headline = append(r.Headline, t)
	}
	for _, reason := range s.reasons() {
		class := statusClass(reason.Status)
		if reason.Status == result.Valid {
			class = "remark"
		}
		r.Reasons = append(r.Reasons, pageReason{reasonWord(reason.Status), class, reasonText(reason), plain(reason.Code)})
	}
	r.Unblemished = s.sum.Verdict.Status == result.Valid && len(r.Limits) == 0
	for _, b := range s.banners {
		r.Unblemished = r.Unblemished && !b.loud()
		r.Banners = append(r.Banners, pageBanner{b.Head, b.Text, b.loud()})
	}
	r.Cards = cards(s)
	if m := s.measuredMetric(); m != "" {
		r.Latency = metricName(m)
	}
	r.Rate = textRows(slices.Concat(rateLine(s), availabilityLine(s.sum.Availability), throughputLines(s), keptLines(s)))
	r.Accounts = []pageAccount{{"Publish side", "The first is the sum of the others.", counterRows(publishSide(c, neverAcknowledges(&s.run.Header)))}}
	if c.Expected > 0 {
		r.Accounts = append(r.Accounts, pageAccount{"Delivery side", "The first is the sum of the others.", counterRows(deliverySide(c))})
	}
	r.Accounts = append(r.Accounts, pageAccount{"Besides", "Counted separately; no message is dropped from the counts.", counterRows(otherCounters(c))})
	if ok, problem := c.Conserved(); !ok {
		r.Conservation = "The message counts do not add up: " + problem + "."
	}
	for _, f := range fates(c, neverAcknowledges(&s.run.Header)) {
		row := pageFate{Name: f.Name, Arrived: "not known", Missing: count(f.Missing), Means: f.Means}
		if f.Arrived >= 0 {
			row.Arrived = count(f.Arrived)
		}
		if f.Name == "acked" && f.Missing > 0 {
			row.Class = "bad"
		}
		r.Fates = append(r.Fates, row)
	}
	if x := objectivesSection(s); x != nil {
		r.Objectives = []sheet{x.sheet()}
	}
	for _, x := range findings(s) {
		if x.Column && s.letter == "" {
			continue
		}
		r.Findings = append(r.Findings, x.sheet())
	}
	r.Sheets = sheets(s, opt)
	return r
}

// statusClass is a status as the style sheet knows it.
func statusClass(s result.Status) string {
	switch s {
	case result.Valid:
		return "valid"
	case result.Suspect:
		return "suspect"
	}
	return "bad"
}

// cards are the few figures that most readers come for.
func cards(s *subject) []pageRow {
	var out []pageRow
	for _, f := range s.tables {
		if f.Key == "lag" || f.Apart {
			continue
		}
		c := f.Columns[0]
		for i, p := range rows() {
			if p != "50" && p != "99" && p != "99.9" && p != maximum {
				continue
			}
			fig := c.Figures[i]
			means := ""
			if notes := fig.notes(); len(notes) > 0 {
				means = notes[0]
			}
			class := ""
			value := fig.text()
			if fig.Needs > 0 {
				value, means = "n/a", "needs "+count(fig.Needs)+" messages"
			}
			out = append(out, pageRow{Name: metricName(c.Metric) + " " + rowName(p), Value: value, Means: means, Class: class, Key: rowName(p)})
		}
		break
	}
	if t := s.sum.Throughput; t != nil {
		out = append(out, pageRow{Key: "rate", Name: "throughput", Value: rate(t.PerSecond), Means: count(t.Messages) + " messages"})
	} else {
		means := ""
		if kept, ok := s.sum.Rate.Kept(); ok {
			means = exactShare(kept) + " of due"
		}
		out = append(out, pageRow{Key: "rate", Name: "sent", Value: rate(s.sum.Rate.Sent), Means: means})
	}
	if c := &s.sum.Counters; c.Expected > 0 {
		missing := pageRow{Key: "missing", Name: "missing", Value: count(c.Missing), Means: "of " + count(c.Expected) + " expected"}
		switch {
		case c.LostAcked > 0:
			missing.Class, missing.Means = "bad", count(c.LostAcked)+" of them acknowledged and lost"
		case c.Undelivered > 0:
			missing.Class, missing.Means = "bad", count(c.Undelivered)+" of them acknowledged and not yet delivered"
		}
		out = append(out, missing)
	}
	return out
}

func textRows(lines []entryText) []pageRow {
	out := make([]pageRow, len(lines))
	for i, l := range lines {
		out[i] = pageRow{Name: l.Name, Value: l.Value, Means: l.Means}
	}
	return out
}

func counterRows(entries []entry) []pageRow {
	out := make([]pageRow, len(entries))
	for i, e := range entries {
		out[i] = pageRow{Name: e.Name, Value: count(e.Value), Means: e.Means}
		switch {
		case e.Value == 0:
			out[i].Class = "zero"
		case e.Bad:
			out[i].Class = "bad"
		}
	}
	return out
}

// sheets are the details of a run: what its numbers stand on.
func sheets(s *subject, opt Options) []sheet {
	h := &s.run.Header
	var out []sheet
	semantics := sheet{Name: "Semantics", Caption: "Broker guarantees and settings, as in effect", Open: true, Heads: []string{"property", "value", "what this means"}}
	for _, l := range semanticsLines(&h.Semantics) {
		semantics.Rows = append(semantics.Rows, sheetRow{Name: l.Name, Cells: []string{l.Value, l.Means}})
	}
	for _, w := range h.Semantics.Warnings {
		semantics.Warnings = append(semantics.Warnings, plain(w))
	}
	for _, l := range deploymentLines(h.Deployment) {
		semantics.Rows = append(semantics.Rows, sheetRow{Name: l.Name, Cells: []string{l.Value, l.Means}})
	}
	semantics.Rows = append(semantics.Rows, mapRows("setting", h.Semantics.Settings)...)
	semantics.Rows = append(semantics.Rows, mapRows("broker", h.Broker)...)
	if len(semantics.Rows)+len(semantics.Warnings) > 0 {
		out = append(out, semantics)
	}

	if len(h.Cold) > 0 {
		cold := sheet{Name: "Cold figures", Caption: "Measured once, before the load; not part of the distributions", Open: true, Heads: []string{"what", "took"}}
		for _, c := range h.Cold {
			cold.Rows = append(cold.Rows, sheetRow{Name: plain(c.Name), Cells: []string{duration(int64(c.Duration))}})
		}
		out = append(out, cold)
	}
	if rows := vitalRows(s.run); len(rows) > 0 {
		out = append(out, sheet{Name: "Vitals of the generator", Caption: "The generator, and the broker if it was started for the run, over the intervals of the measured window",
			Heads: []string{"vital", "min", "median", "max", "what this means"}, Rows: rows})
	}
	if len(s.run.Events)+len(s.run.Pauses) > 0 {
		out = append(out, happenings(s.run))
	}
	out = append(out, fingerprint(h))
	if text := scenarioText(h.Scenario); text != "" {
		repeat := sheet{Name: "Scenario, and how to repeat it", Text: text,
			After:   []string{"This is the normalised scenario with its seed. Save it as scenario.yaml (JSON is YAML) and run:"},
			Command: "sixnines run scenario.yaml"}
		if c := plain(opt.Command); c != "" {
			repeat.After, repeat.Command = []string{"This is the normalised scenario. The command was:"}, c
		}
		out = append(out, repeat)
	}
	return out
}

// mapRows lists a map by name.
func mapRows(kind string, m map[string]string) []sheetRow {
	var out []sheetRow
	for _, k := range sortedKeys(m) {
		out = append(out, sheetRow{Name: plain(k), Cells: []string{plain(m[k]), kind}})
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// happenings lists events and pauses; pauses beyond the fifty longest are
// counted only.
func happenings(r *result.Run) sheet {
	const most = 50
	s := sheet{Name: "Events and pauses", Caption: "Instants from the start of the measured window", Heads: []string{"what", "when", "detail"}}
	for _, e := range r.Events[:min(len(r.Events), most)] {
		detail := plain(e.Detail)
		if e.Count > 1 {
			detail = strings.TrimSpace(detail + " (" + count(e.Count) + " times)")
		}
		s.Rows = append(s.Rows, sheetRow{Name: plain(e.Kind), Cells: []string{duration(e.At), detail}})
	}
	if n := len(r.Events) - most; n > 0 {
		s.After = append(s.After, "And "+plural(int64(n), "more event")+".")
	}
	pauses := slices.Clone(r.Pauses)
	slices.SortStableFunc(pauses, func(a, b result.Pause) int { return int(min(max(b.End-b.Start-a.End+a.Start, -1), 1)) })
	if n := len(pauses) - most; n > 0 {
		s.After = append(s.After, "And "+plural(int64(n), "shorter pause")+".")
		pauses = pauses[:most]
	}
	for _, p := range pauses {
		s.Rows = append(s.Rows, sheetRow{Name: "pause: " + sourceName(p.Source), Cells: []string{duration(p.Start), pauseText(p)}})
	}
	return s
}

// machineRows lists the facts of a machine by their sections.
func machineRows(all []result.Fact) []sheetRow {
	var rows []sheetRow
	section := ""
	for _, f := range all {
		if name := plain(f.Section); name != section {
			section = name
			rows = append(rows, sheetRow{Name: section, Cells: []string{"", ""}, Group: true})
		}
		rows = append(rows, sheetRow{Name: plain(f.Name), Cells: []string{plain(f.Value), plain(f.Note)}})
	}
	return rows
}

// fingerprint lists the machine, the clock and the program.
func fingerprint(h *result.Header) sheet {
	s := sheet{Name: "Fingerprint", Caption: "The machine, the clock and the program", Heads: []string{"fact", "value", "note"}}
	s.Rows = machineRows(h.Machine)
	add := func(name, value, note string) {
		if value = plain(value); value != "" {
			s.Rows = append(s.Rows, sheetRow{Name: name, Cells: []string{value, note}})
		}
	}
	s.Rows = append(s.Rows, sheetRow{Name: "clock", Cells: []string{"", ""}, Group: true})
	add("source", h.Clock.Source, "")
	add("domain", h.Clock.Domain, "processes with the same domain share the clock")
	add("bracket", duration(int64(h.Clock.Bracket)), "uncertainty of its mapping into the process")
	add("cost of a reading", durationFloat(h.Clock.ReadNs), "measured")
	s.Rows = append(s.Rows, sheetRow{Name: "program", Cells: []string{"", ""}, Group: true})
	add("name", h.Tool.Name+" "+h.Tool.Version, "")
	add("revision", h.Tool.Revision, "")
	add("compiler", h.Tool.Go, "")
	add("raw file", h.Raw, "forty bytes a message: verify recomputes every figure from it")
	return s
}

// scenarioText is the scenario as readers see it: indented, or as it is if it
// is not JSON.
func scenarioText(raw json.RawMessage) string {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return plain(string(raw))
	}
	return b.String()
}
