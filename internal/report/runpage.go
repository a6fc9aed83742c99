package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"sixnines/result"
)

// HTML writes a self-contained page, see writePage. Several runs are overlaid in the charts
// (the first eight) and stand side by side in the tables.
func HTML(w io.Writer, runs []*result.Run, opt Options) error {
	prepared, err := subjects(runs)
	if err != nil {
		return err
	}
	drawn := append([]*chart{}, charts(prepared)...)
	return writePage(w, runsTitle(prepared), "latency report",
		"This print has the first charts and no details: the page has them, with every table.", drawn, runsDocument(prepared, drawn, opt, onPage),
		"Response time counts from the instant a message was due, so a stall of the broker delays every message that was due during it. Service time counts from the instant it was sent, as in most tools. Histograms are merged; no percentile here is an average of percentiles.",
		credits(toolOf(prepared[0].run)))
}

// credits names the programs that made a page with live charts.
func credits(tool string) string {
	return "Written by " + tool + ". Charts by uPlot 1.6.32, © 2022 Leon Sorokin, MIT licence. This file loads nothing from the network."
}

// toolOf is what wrote a result, for people.
func toolOf(r *result.Run) string {
	if tool := strings.TrimSpace(plain(r.Header.Tool.Name + " " + r.Header.Tool.Version)); tool != "" {
		return tool
	}
	return "sixnines"
}

// manyRuns is the number of runs from which on their reasons are folded away.
const manyRuns = 4

// runsTitle is the title of a page of runs.
func runsTitle(prepared []*subject) string {
	names := make([]string, len(prepared))
	for i, s := range prepared {
		names[i] = s.title
	}
	title := strings.Join(names, " · ")
	if distinct := slices.Compact(slices.Clone(names)); len(names) > 1 && len(distinct) == 1 {
		title = count(int64(len(names))) + " results: " + names[0]
	} else if len(names) >= manyRuns {
		title = count(int64(len(names))) + " results: " + names[0] + " to " + names[len(names)-1]
	}
	if name := prepared[0].shared; name != "" {
		title = name + ": " + title
	}
	return shorten(title, 120)
}

// percentileLegend explains the tables of percentiles.
type percentileLegend struct{}

// statusClass is a status as the style sheet knows it.
func statusClass(s result.Status) string { return statusStyle(s).class() }

// card is one of the few figures that most readers look for.
type card struct {
	Key  string // the column that it has beside other runs' cards
	Name string
	cell
}

// keyFigures are the cards of a run that is alone, and a table of those of several.
func keyFigures(prepared []*subject) block {
	if len(prepared) == 1 {
		return deck(cardsOf(prepared[0]))
	}
	x := &table{Name: "Key figures", Titled: true, Class: "figures keys", Head: textCells("result", "verdict", "latency")}
	var keys []string
	for _, s := range prepared {
		for _, c := range cardsOf(s) {
			keys = appendNew(keys, c.Key)
		}
	}
	x.Head = append(x.Head, textCells(keys...)...)
	for _, s := range prepared {
		latency := ""
		if m := s.measuredMetric(); m != "" {
			latency = metricName(m)
		}
		r := x.add(append([]string{s.label, s.status(), latency}, make([]string, len(keys))...)...)
		r.Cells[1].Class = statusClass(s.sum.Verdict.Status)
		for _, c := range cardsOf(s) {
			r.Cells[3+slices.Index(keys, c.Key)] = c.cell
		}
	}
	return x
}

// deck is cards side by side.
type deck []card

// cardsOf returns the few figures that most readers look for.
func cardsOf(s *subject) []card {
	var out []card
	add := func(key, name, text string, s style, means string) {
		out = append(out, card{key, name, cell{Text: text, Style: s, Notes: cellNotes("note", means)}})
	}
	if m := s.measuredMetric(); m != "" {
		c := s.column(m)
		for _, p := range []result.Percentile{result.P50, result.P99, result.P999, result.Maximum} {
			f := c.at(p)
			value, means := f.text(), ""
			if remarks := f.notes(); len(remarks) > 0 {
				means = remarks[0]
			}
			if f.Needs > 0 {
				value, means = "n/a", "needs "+count(f.Needs)+" messages"
			}
			add(rowName(p), metricName(m)+" "+rowName(p), value, normal, means)
		}
	}
	if t := s.sum.Throughput; t != nil && t.Needs > 0 {
		add("rate", "throughput", "n/a", normal, "needs "+count(t.Needs)+" messages")
	} else if t != nil {
		add("rate", "throughput", rate(t.PerSecond), normal, count(t.Messages)+" messages")
	} else {
		means := ""
		if kept, ok := s.sum.Rate.SentShare(); ok {
			means = exactShare(kept) + " of due"
		}
		add("rate", "sent", rate(s.sum.Rate.Sent), normal, means)
	}
	least, _ := s.sum.LostAcked()
	switch c := &s.sum.Counters; {
	case least > c.LostAcked:
		add("lost", "lost", count(least), bad, "acknowledged, and no longer at the broker when it was read back")
	case c.Expected == 0:
	case c.LostAcked > 0:
		add("missing", "missing", count(c.Missing), bad, count(c.LostAcked)+" of them acknowledged and lost")
	case c.Undelivered > 0:
		add("missing", "missing", count(c.Missing), bad, count(c.Undelivered)+" of them acknowledged but not yet delivered")
	default:
		add("missing", "missing", count(c.Missing), normal, "of "+count(c.Expected)+" expected")
	}
	return out
}

// standing returns the delivery guarantees and settings behind a run's figures.
func standing(s *subject, opt Options) document {
	h := &s.run.Header
	var out document
	add := func(name string, open bool, blocks ...block) {
		out = append(out, folded{Title: name, Of: s.of(), Open: open, Blocks: blocks})
	}
	sheet := func(caption string, names ...string) *table {
		return &table{Class: "sheet", Caption: caption, Head: textCells(names...)}
	}
	semantics := sheet("Broker guarantees and settings, as in effect", "property", "value", "what this means")
	for _, l := range slices.Concat(semanticsLines(h), deploymentLines(h.Deployment), pathLines(h.Network)) {
		semantics.add(l.Name, l.Value, l.Means)
	}
	for _, m := range []struct {
		kind   string
		values map[string]string
	}{{"setting", h.Semantics.Settings}, {"broker", h.Broker}} {
		for _, k := range slices.Sorted(maps.Keys(m.values)) {
			semantics.add(plain(k), plain(m.values[k]), m.kind)
		}
	}
	var warnings document
	for _, w := range h.Semantics.Warnings {
		warnings = append(warnings, text{Class: "callout", Text: plain(w)})
	}
	if len(semantics.Rows)+len(warnings) > 0 {
		add("Semantics", true, append(warnings, semantics)...)
	}
	if len(h.SetupTimes) > 0 {
		cold := sheet("Measured once, before the load; not part of the distributions", "what", "took")
		for _, c := range h.SetupTimes {
			cold.add(plain(c.Name), duration(int64(c.Duration)))
		}
		add("Cold figures", true, cold)
	}
	if all := vitalRows(s.run); len(all) > 0 {
		x := sheet("The generator, and the broker if it was started for the run, over the intervals of the measured window", "vital", "min", "median", "max", "what this means")
		x.Rows = all
		add("Vitals of the generator", false, x)
	}
	if len(s.run.Events)+len(s.run.Pauses) > 0 {
		x := sheet("Instants from the start of the measured window", "what", "when", "detail")
		happenings(x, s.run)
		add("Events and pauses", false, x)
	}
	x := sheet("The machine, the clock and the program", "fact", "value", "note")
	fingerprint(x, h)
	add("Fingerprint", false, x)
	if rules := rulesOf(h, s.sum); len(rules.Rows) > 0 {
		add("Rules of benchmarking that this load does not keep", false, rules)
	}
	if scenario := scenarioText(h.Scenario); scenario != "" {
		how, command := "This is the normalised scenario with its seed. Save it as scenario.yaml (JSON is YAML) and run:", "sixnines run scenario.yaml"
		if c := plain(opt.Command); c != "" {
			how, command = "This is the normalised scenario. The command was:", c
		}
		add("Scenario, and how to repeat it", false, code(scenario), text{Text: how}, code(command))
	}
	return out
}

// happenings lists events and pauses; pauses beyond the fifty longest are
// counted only.
func happenings(x *table, r *result.Run) {
	const most = 50
	for _, e := range r.Events[:min(len(r.Events), most)] {
		what := plain(string(e.Kind))
		if n := e.Happened(); n > 1 {
			what += " (" + count(n) + " times)"
		}
		x.add(what, duration(e.At), eventWords(&e))
	}
	if n := len(r.Events) - most; n > 0 {
		x.After = append(x.After, "And "+plural(int64(n), "more event")+".")
	}
	pauses := slices.Clone(r.Pauses)
	slices.SortStableFunc(pauses, func(a, b result.Pause) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	if n := len(pauses) - most; n > 0 {
		x.After = append(x.After, "And "+plural(int64(n), "shorter pause")+".")
		pauses = pauses[:most]
	}
	for _, p := range pauses {
		x.add("pause: "+sourceName(string(p.Source)), duration(p.Start), pauseText(p))
	}
}

// machine adds the facts of a machine by their sections.
func (x *table) machine(all []result.Fact) {
	section := ""
	for _, f := range all {
		if name := plain(f.Section); name != section {
			section = name
			x.add(section, "", "").Class = "group"
		}
		x.add(plain(f.Name), plain(f.Value), plain(f.Note))
	}
}

// fingerprint lists the machine, the clock and the program.
func fingerprint(x *table, h *result.Header) {
	x.machine(h.Machine)
	add := func(name, value, note string) {
		if value = plain(value); value != "" {
			x.add(name, value, note)
		}
	}
	x.add("clock", "", "").Class = "group"
	add("source", h.Clock.Source, "")
	add("domain", h.Clock.Domain, "processes with the same domain share the clock")
	add("bracket", duration(int64(h.Clock.Bracket)), "uncertainty of its mapping into the process")
	add("cost of a reading", durationFloat(h.Clock.ReadNs), "measured")
	x.add("program", "", "").Class = "group"
	add("name", h.Tool.Name+" "+h.Tool.Version, "")
	add("revision", h.Tool.Revision, "")
	add("compiler", h.Tool.Go, "")
	add("raw file", h.Raw, "40 bytes per event of a message: verify recomputes every figure from it")
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
