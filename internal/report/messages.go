package report

import (
	"slices"
	"strings"

	"sixnines/result"
)

// messageTables shows the fate of a run's messages on a page.
func messageTables(s *subject) part {
	c := &s.sum.Counters
	out := part{Class: "run", Title: "Messages", Of: s.of()}
	add := func(x *table) {
		x.Class, x.Titled = "counters", true
		out.Blocks = append(out.Blocks, x)
	}
	rates := &table{Name: "Rate", Head: textCells("figure", "value", "what this means")}
	for _, l := range slices.Concat(rateLine(s), availabilityLine(s.sum.Availability), throughputLines(s), stoppedLine(s), backlogLines(s), readBackLines(s)) {
		rates.add(l.Name, l.Value, l.Means)
	}
	add(rates)
	add(countersTable("Publish side", "The first is the sum of the others.", s.publishSide()))
	if c.Expected > 0 {
		add(countersTable("Delivery side", "The first is the sum of the others.", s.deliverySide()))
	}
	if all := s.connectionSide(); all != nil {
		x := countersTable("Connections that come and go", "The first is the sum of the others.", all)
		x.Head = textCells("counter", "connections", "what this means")
		x.add("lost", count(s.sum.Connections.Lost), "losses of open connections since the window's start, as the client reported them")
		add(x)
	}
	add(countersTable("Besides", "Counted separately; every message is counted.", s.otherCounters()))
	for _, x := range lostTables(s) {
		add(x)
	}
	if all := s.sum.Left; len(all) > 0 {
		x := &table{Name: "Left at the broker", About: "The run made these and could not remove them.", Head: textCells("what", "name", "why")}
		for _, l := range all {
			x.add(plain(l.What), plain(l.Name), plain(l.Why)).Class = "bad"
		}
		add(x)
	}
	if x := copyTable(s); x != nil {
		add(x)
	}
	if problem := s.unbalanced(); problem != "" {
		out.Blocks = append(out.Blocks, text{Class: "callout bad", Text: sentence(problem)})
	}
	if all := fates(c, neverAcknowledges(&s.run.Header)); all != nil && !s.cut {
		x := &table{Name: "Acknowledgements and arrivals", About: "Only an acknowledged message that is missing violates a guarantee.",
			Head: textCells("publish", "arrived", "missing", "what this means")}
		for _, f := range all {
			r := x.add(f.Name, f.arrived("not known"), count(f.Missing), f.Means)
			if f.Broken != "" && f.Missing > 0 {
				r.Class = "bad"
			}
		}
		add(x)
	}
	return out
}

// countersTable is an account for the page.
func countersTable(name, about string, entries []entry) *table {
	x := &table{Name: name, About: about, Head: textCells("counter", "messages", "what this means")}
	for _, e := range entries {
		r := x.add(e.Name, count(e.Value), e.Means)
		switch {
		case e.Value == 0:
			r.Class = "zero"
		case e.is(alarming):
			r.Class = "bad"
		}
	}
	return x
}

// messageLines shows the same in a terminal, in one or two lines each.
func messageLines(s *subject) document {
	var out document
	if s.sends() {
		out.list("  rate       ", pairs(rateLine(s)), normal)
	}
	for _, l := range availabilityLine(s.sum.Availability) {
		out.say("  available  ", l.Value+": "+l.Means, normal)
	}
	for _, l := range readBackLines(s) {
		out.say("  kept       ", l.Name+" "+l.Value+": "+l.Means, normal)
	}
	if x := copyTable(s); x != nil {
		x.Gather = true
		out.add(gap{}, x, gap{})
	}
	out.list("  throughput ", pairs(append(throughputLines(s), stoppedLine(s)...)), normal)
	if s.sends() {
		out.add(sumOf("  publish    ", s.publishSide()))
	}
	c := &s.sum.Counters
	if c.Expected > 0 {
		out.add(sumOf("  delivery   ", s.deliverySide()))
	}
	if all := s.connectionSide(); all != nil {
		out.add(sumOf("  connections ", all))
	}
	var seen, zero []string
	for _, e := range s.otherCounters() {
		if e.Value == 0 {
			zero = append(zero, e.Name)
			continue
		}
		seen = append(seen, e.Name+" "+count(e.Value))
	}
	out.list("  besides    ", seen, warning)
	if len(zero) > 0 && s.letter == "" {
		out.say("  none       ", strings.Join(zero, ", "), faint)
	}
	for _, l := range s.sum.Left {
		out.say("  left behind  ", plain(l.What+" "+l.Name+": "+l.Why), bad)
	}
	if problem := s.unbalanced(); problem != "" {
		out.say("  ", sentence(problem), bad)
	}
	if f := fates(c, neverAcknowledges(&s.run.Header)); f != nil && !s.cut && (s.letter == "" || c.Missing > 0) {
		x := &table{Head: columnHeads("lrr", "publish", "arrived", "missing"), Even: true, Fixed: true}
		for _, r := range f {
			out := x.add(r.Name, r.arrived("–"), count(r.Missing))
			if r.Missing > 0 && r.Broken != "" {
				out.styled(2, bad).noted(r.Broken)
			}
		}
		out.add(gap{}, x)
	}
	return append(document{part{Title: "Messages", Of: s.of(), Blocks: out}}, backlogBlocks(s)...)
}

// sumOf writes an account as a sum: "expected 20 = received 17 + missing 3".
func sumOf(margin string, entries []entry) facts {
	out := facts{Separator: " ", setting: setting{margin, normal}}
	for i, e := range entries {
		sign := "+ "
		switch i {
		case 0:
			sign = ""
		case 1:
			sign = "= "
		}
		out.List = append(out.List, sign+e.Name+" "+count(e.Value))
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

// setupLines shows in a terminal the setup behind a run's figures: the broker's guarantees and
// settings, setup times, and the file.
func setupLines(s *subject) document {
	h := &s.run.Header
	var out, setup document
	for _, e := range slices.Concat(semanticsLines(h), deploymentLines(h.Deployment), pathLines(h.Network)) {
		setup.say("  "+e.Name+strings.Repeat(" ", max(1, 17-len(e.Name))), e.Value, normal)
	}
	for _, w := range h.Semantics.Warnings {
		if !slices.ContainsFunc(s.sum.Verdict.Reasons, func(r result.Reason) bool { return r.Text == w }) {
			setup.say("  ! ", plain(w), warning)
		}
	}
	var cold []string
	for _, c := range h.SetupTimes {
		cold = append(cold, plain(c.Name)+" "+duration(int64(c.Duration)))
	}
	if len(cold) > 0 {
		setup.list("  cold             ", cold, normal)
	}
	if len(setup) > 0 {
		setup.list("  broker processes ", brokerUse(s.run), normal)
		out.add(part{Title: "Broker guarantees and settings", Of: s.of(), Blocks: setup})
	}
	if s.run.Path != "" {
		out.add(gap{})
		out.say("  result  ", plain(s.run.Path), faint)
	}
	return out
}
