package report

import (
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/judge"
	"sixnines/result"
)

// costHead names the actions of a cost by their numbers and kinds.
func costHead(s *subject, c *result.Cost) string {
	all := s.stretches()
	var names []string
	for _, n := range c.Actions {
		if i := slices.IndexFunc(all, func(x judge.Stretch) bool { return x.Number == n }); i >= 0 {
			names = append(names, strconv.Itoa(n)+" "+actionHead(&all[i]))
		}
	}
	return strings.Join(names, ", ")
}

// recoveredText says when the former latency was back.
func recoveredText(c *result.Cost) string {
	switch {
	case c.Recovered != nil:
		return judge.Range(*c.Recovered)
	case c.Effect == result.ImpactSeen:
		return "not within " + duration(c.NotRecovered)
	}
	return "n/a"
}

// costLine says in one line what actions cost.
func costLine(s *subject, c *result.Cost) string {
	var parts []string
	if len(c.Actions) > 1 {
		parts = append(parts, "of "+plural(len(c.Actions), "action")+" together")
	}
	switch c.Effect {
	case result.ImpactNone:
		text := "no effect on latency seen"
		if c.Unavailable.Most > 0 {
			text += ", unavailable " + judge.Range(*c.Unavailable)
		}
		parts = append(parts, text)
	case result.ImpactSeen:
		parts = append(parts, "unavailable "+judge.Range(*c.Unavailable))
		if c.Recovered != nil {
			parts = append(parts, "p99 as before after "+recoveredText(c))
		} else {
			parts = append(parts, "p99 not as before within "+duration(c.NotRecovered))
		}
	default:
		parts = append(parts, "effect on latency not known")
	}
	for _, x := range costCounts(c) {
		if x.n > 0 {
			parts = append(parts, count(x.n)+" "+x.name)
		}
	}
	if r := c.Reconnects; r != nil {
		parts = append(parts, plural(r.Lost, "connection")+" lost, "+count(r.Made)+" made again")
	}
	return strings.Join(parts, " · ")
}

// costCount is a number of messages with what became of them.
type costCount struct {
	name string
	n    int64
}

// costCounts are the messages that an action cost something.
func costCounts(c *result.Cost) []costCount {
	all := []costCount{{"refused", c.Refused}}
	if c.Unanswered != nil {
		all = append(all, costCount{"never answered", *c.Unanswered})
	}
	if l := c.LostAcked; l != nil {
		// Not all that this one lost: a later one may have lost them.
		name := "acknowledged since the former action and lost"
		if l.FromLog {
			name = "acknowledged since the former action and gone from the log"
		}
		if l.Oldest > 0 {
			name += " (up to " + duration(l.Oldest) + " before this one)"
		}
		all = append(all, costCount{name, l.Count})
	}
	return append(all, costCount{"duplicated", c.Duplicated}, costCount{"redelivered", c.Redelivered}, costCount{"reordered", c.Reordered})
}

// unexplainedWords says what happened to messages that no action explains; empty: nothing.
func unexplainedWords(u *result.Unexplained) string {
	if u == nil {
		return ""
	}
	var parts []string
	for _, x := range []costCount{{"refused", u.Refused}, {"never answered", u.Unanswered}, {"lost although acknowledged", u.LostAcked},
		{"duplicated", u.Duplicated}, {"redelivered", u.Redelivered}, {"reordered", u.Reordered}} {
		if x.n > 0 {
			parts = append(parts, count(x.n)+" "+x.name)
		}
	}
	return strings.Join(parts, ", ")
}

// costTables are what the actions of a run cost, and the latencies before, during and after them;
// nil if none happened.
func costTables(s *subject) []*table {
	if len(s.sum.Costs) == 0 {
		return nil
	}
	x := &table{Name: "What actions cost", Head: columnHeads("lrrrrrl", "action", "noticed after", "unavailable", "p99 as before after", "backlog", "gone after", "messages and connections"), Even: true, Spill: true,
		Caption: "Noticed: when the first message was due that was late, refused or never answered. Unavailable: the longest time for which what was due had no answer. " +
			"As before: three parts of the window in a row have no more messages beyond the former p99 than before, and chance. Two figures are what is known: from, to. Actions whose effects overlap have one row. Messages are counted as far as the kind of action can do that to them."}
	for i := range s.sum.Costs {
		c := &s.sum.Costs[i]
		noticed, unavailable, backlog, gone := "n/a", "n/a", "–", "–"
		if c.Detected != nil {
			noticed = judge.Range(*c.Detected)
		}
		if c.Unavailable != nil {
			unavailable = judge.Range(*c.Unavailable)
		}
		back := recoveredText(c)
		if c.Effect == result.ImpactNone {
			if noticed, back = "no effect seen", "–"; c.Unavailable.Most == 0 {
				unavailable = "–"
			}
		}
		if b := c.Backlog; b != nil {
			if backlog, gone = count(b.Peak), "not gone"; b.Gone > 0 {
				gone = duration(b.Gone - c.From)
			}
		}
		var rest []string
		for _, n := range costCounts(c) {
			if n.n > 0 {
				rest = append(rest, count(n.n)+" "+n.name)
			}
		}
		if r := c.Reconnects; r != nil {
			text := plural(r.Lost, "connection") + " lost, " + count(r.Made) + " made again"
			if r.Made > 0 {
				text += " in " + duration(r.Mean) + " on average, " + duration(r.Longest) + " at most"
			}
			rest = append(rest, text)
		}
		if len(rest) == 0 {
			rest = []string{"no message"}
		}
		r := x.add(costHead(s, c), noticed, unavailable, back, backlog, gone, strings.Join(rest, ", "))
		if c.Why != "" {
			r.noted("not known: " + plain(c.Why))
		}
		if c.Again > 0 {
			r.noted("late again later in " + plural(c.Again, "part") + " of the window of " + duration(c.Former.Cell))
		}
	}
	if u := unexplainedWords(s.sum.Unexplained); u != "" {
		x.add("no action explains", "–", "–", "–", "–", "–", u)
	}
	return append([]*table{x}, periodsTable(s))
}

// periodsTable has the latencies before, during and after the effects of actions, those outside of
// them, and what a closed loop would have told; nil if the load has none.
func periodsTable(s *subject) *table {
	m := s.sum.Costs[0].Metric
	if m == "" || s.sum.Histograms[m] == nil {
		return nil
	}
	names := []result.Percentile{result.P50, result.P99, result.P999, result.Maximum}
	head := []string{"when due", "from", "to", "messages"}
	for _, p := range names {
		head = append(head, rowName(p))
	}
	x := &table{Name: "Before, during and after actions", Head: columnHeads("lrrrrrrr", head...), Even: true, Spill: true,
		Caption: metricName(m) + " by when messages were due. During: from an action until the former p99 is back. " +
			"A closed loop of as many producers would have sent nothing while it waited: it has what was due outside, and one message of each producer that waited as long as the outage."}
	verdict := result.Verdict{Status: result.Valid} // reasons are about the whole run
	if s.sum.Verdict.Status == result.Unstable {
		verdict.Status = result.Unstable
	}
	add := func(name, from, to string, d *result.Distribution) {
		if d == nil {
			return
		}
		cells := []string{name, from, to, count(d.Samples)}
		for _, p := range names {
			cells = append(cells, newFigure(m, p, d, verdict).text())
		}
		x.add(cells...)
	}
	add("whole run", "–", "–", s.sum.Histograms[m])
	add("outside of effects", "–", "–", s.sum.Outside[m])
	add("a closed loop would say", "–", "–", s.sum.ClosedLoop)
	for i := range s.sum.Costs {
		c := &s.sum.Costs[i]
		for _, p := range []struct {
			word string
			*result.Period
		}{{"before ", c.Before}, {"during ", c.During}, {"after ", c.After}} {
			if p.Period != nil {
				add(p.word+costHead(s, c), duration(p.From), duration(p.To), p.Latency)
			}
		}
	}
	return x
}
