package judge

import (
	"fmt"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// contradictions are what is impossible in a run's records, whatever was measured:
// intervals that do not follow each other, pauses that end before they begin,
// instants of a message that do not make up its latency. No published figure
// need be computed from them; pictures, tables and causes are.
func contradictions(run *result.Run) (found []Problem) {
	add := func(where, format string, a ...any) {
		found = append(found, Problem{where, fmt.Sprintf(format, a...)})
	}
	var end int64
	for i, p := range run.Series {
		switch {
		case p.Phase == result.PhaseClosing: // has no length
			continue
		case p.Start != end:
			add(fmt.Sprintf("intervals.%d", i), "it begins at %d, and what was before it ended at %d", p.Start, end)
		case p.End < p.Start:
			add(fmt.Sprintf("intervals.%d", i), "it ends at %d, before it begins at %d", p.End, p.Start)
		}
		end = p.End
	}
	for i, p := range run.Pauses {
		if p.End < p.Start {
			add(fmt.Sprintf("pauses.%d", i), "it ends at %d, before it begins at %d", p.End, p.Start)
		}
	}
	for i := range run.Tail {
		if text := impossible(&run.Tail[i]); text != "" {
			add(fmt.Sprintf("tail.%d", i), "%s", text)
		}
	}
	if c := &run.Counters; c.Taken > 0 && run.Summary != nil { // else older, or cut short
		for _, k := range []struct {
			metric result.Metric
			count  int64
			name   string
		}{{result.DeliveryService, c.Received, "received"}, {result.PublishService, c.Acked, "acknowledged"}} {
			if x := run.Metrics[k.metric]; x != nil && count(x) != k.count {
				add("metrics."+string(k.metric), "%d values of %s", count(x), spell.Plural(k.count, "message")+" "+k.name)
			}
		}
	}
	for m, x := range run.Metrics {
		for _, b := range x.Own {
			if b.Majority < 0 || b.Majority > b.Count {
				add(fmt.Sprintf("metrics.%s.own.%d", m, b.Band), "of %d messages %d were late mostly by the generator", b.Count, b.Majority)
			}
		}
	}
	return found
}

// impossible says what in the instants of a message is impossible; empty: nothing.
func impossible(x *result.Exemplar) string {
	from := x.Intended
	if strings.HasSuffix(string(x.Metric), ".service") {
		from = x.Sent
	}
	switch resolved := x.Sent != -1; {
	case resolved && x.Sent < x.Intended:
		return fmt.Sprintf("sent at %d, before it was due at %d", x.Sent, x.Intended)
	case resolved && (x.Own < 0 || x.Own > x.Sent-x.Intended):
		return fmt.Sprintf("the generator was %d late by itself, of %d in all", x.Own, x.Sent-x.Intended)
	case x.Done-from != x.Value:
		return fmt.Sprintf("from %d to %d is not its latency of %d", from, x.Done, x.Value)
	}
	return ""
}
