package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/result"
)

// contradictions returns what is impossible in a run's records, whatever was measured:
// intervals that do not follow each other, pauses that end before they begin, instants of
// a message that do not add up to its latency. Published figures may not depend on these
// records, but charts, tables and causes do. same says that the version that reads the run
// also wrote it.
func contradictions(run *result.Run, same bool) (found []Problem) {
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
	ahead := clocksAhead(run)
	for i := range run.Tail {
		if text := impossible(&run.Tail[i], ahead); text != "" {
			add(fmt.Sprintf("tail.%d", i), "%s", text)
		}
	}
	if c := &run.Counters; c.Taken > 0 && run.Summary != nil { // else an older version's file, or cut short
		twice := int64(0)
		if run.Closing != nil {
			twice = run.Closing.Twice
		}
		for _, k := range []struct {
			metric result.Metric
			count  int64
			name   string
		}{{result.DeliveryService, c.Received + twice, "received"}, {result.PublishService, c.Acked, "acknowledged"}} {
			if x := run.Metrics[k.metric]; x != nil && count(x) != k.count {
				add("metrics."+string(k.metric), "%d values of %s", count(x), spell.Plural(k.count, "message")+" "+k.name)
			}
		}
	}
	if c := run.Connections; c != nil && run.Summary != nil && !run.Header.Fleet.Incomplete() {
		for _, m := range result.Metrics() {
			if x := run.Metrics[m]; m.OfOpening() && x != nil && total(x) != c.Begun {
				add("metrics."+string(m), "%d values, refusals and lower bounds of %s", total(x), spell.Plural(c.Begun, "connection"))
			}
		}
	}
	for m, x := range run.Metrics {
		var unanswered int64
		for _, p := range x.UnansweredAt {
			unanswered += p[1]
		}
		if unanswered != censored(x) && (unanswered > 0 || same && run.Closing != nil && m.IsResponse()) {
			add("metrics."+string(m)+".unanswered", "%d by when they were due, and %d were given up", unanswered, censored(x))
		}
		for _, b := range x.Own {
			if b.Majority < 0 || b.Majority > b.Count {
				add(fmt.Sprintf("metrics.%s.own.%d", m, b.Band), "of %d messages %d were late mostly by the generator", b.Count, b.Majority)
			}
		}
	}
	return found
}

// clocksAhead returns how much later, ns, than it was received a message may have been sent, by clocks that differ.
func clocksAhead(run *result.Run) int64 {
	if run.Header.Fleet == nil {
		if run.Header.Clock.Shifted {
			return math.MaxInt64
		}
		return 0
	}
	proved, _, _, known := run.Header.Fleet.OneWay()
	if !known {
		return math.MaxInt64
	}
	return proved
}

// bucketed is the factor by which a sum of exact values may exceed the sum of their buckets'
// values.
const bucketed = 1.01

// ownBands compares the generator's part in a metric, band by band, with its histogram.
func ownBands(run *result.Run) (found []Problem) {
	for _, m := range slices.Sorted(maps.Keys(run.Metrics)) {
		x := run.Metrics[m]
		if len(x.Own) == 0 || count(x) == 0 {
			continue
		}
		counts := make([]int64, histograms.Bands)
		histograms.RanksOf(x.Hist).Buckets(func(_, high, n int64) { counts[histograms.BandOf(high)] += n })
		for _, b := range x.Own {
			add := func(format string, a ...any) {
				found = append(found, Problem{fmt.Sprintf("metrics.%s.own.%d", m, b.Band), fmt.Sprintf(format, a...)})
			}
			low, high := float64(b.Count)*float64(histograms.BandFloor(b.Band)), float64(b.Count)*float64(histograms.BandFloor(min(b.Band+1, histograms.Bands-1)))
			switch sum := float64(b.Total); {
			case b.Count != counts[b.Band]:
				add("it has %s, and the histogram %s there", spell.Plural(b.Count, "message"), spell.Count(counts[b.Band]))
			case b.Own < 0 || b.Received < 0 || float64(b.Own)+float64(b.Received) > bucketed*sum+float64(b.Count):
				add("the generator's part is %d and %d of %d", b.Own, b.Received, b.Total)
			case b.Unknown < 0 || b.Unknown > b.Count:
				add("the receive lag of %d of %s is not known", b.Unknown, spell.Plural(b.Count, "message"))
			case sum < low/bucketed || sum > high*bucketed:
				add("%d values make %d, and each is %d to %d", b.Count, b.Total, histograms.BandFloor(b.Band), histograms.BandFloor(b.Band+1))
			}
		}
	}
	return found
}

// slowest returns what is impossible in the metrics of single intervals, and where the slowest
// messages contradict the histograms and the slots. Messages that were never resolved are in
// neither of these.
func slowest(run *result.Run) (found []Problem) {
	add := func(i int, format string, a ...any) {
		found = append(found, Problem{fmt.Sprintf("tail.%d", i), fmt.Sprintf(format, a...)})
	}
	for _, o := range run.Oddities {
		found = append(found, Problem{fmt.Sprintf("intervals.%d.metrics.%s", o.Interval, o.Metric), o.Text})
	}
	before := map[result.Metric]*result.Exemplar{}
	unresolved := map[result.Metric]bool{}
	for i := range run.Tail {
		unresolved[run.Tail[i].Metric] = unresolved[run.Tail[i].Metric] || run.Tail[i].Sent == -1
	}
	for i := range run.Tail {
		t := &run.Tail[i]
		x, last := run.Metrics[t.Metric], before[t.Metric]
		before[t.Metric] = t
		switch {
		case count(x) == 0 && t.Sent != -1:
			add(i, "there is no value of %q", t.Metric)
			continue
		case last != nil && t.Value > last.Value:
			add(i, "%d is slower than %d before it, and the slowest come first", t.Value, last.Value)
		case t.Sent != -1 && t.Value > x.Max:
			add(i, "%d is beyond the maximum of %d", t.Value, x.Max)
		case last == nil && !unresolved[t.Metric] && t.Value != x.Max && !run.Header.Fleet.Incomplete(): // a lost agent does not say which were its slowest
			add(i, "it is the slowest with %d, and the maximum is %d", t.Value, x.Max)
		}
		if slot := run.Header.Slot; t.Sent != -1 && t.Metric.IsResponse() && slot > 0 && t.Intended >= 0 {
			n, largest := t.Intended/int64(slot), int64(0) // slots after the last stored one are 0
			if n < int64(len(x.Slots)) {
				largest = x.Slots[n]
			}
			if largest < t.Value {
				add(i, "it was due at %d, in slot %d, of which the largest value is less than %d", t.Intended, n, t.Value)
			}
		}
	}
	for m, x := range run.Metrics {
		var largest int64
		for _, v := range x.Slots {
			if v != result.Refused {
				largest = max(largest, v)
			}
		}
		if len(x.Slots) > 0 && count(x) > 0 && largest != x.Max && !refusedSlots(x) {
			found = append(found, Problem{"metrics." + string(m) + ".slots", fmt.Sprintf("their largest value is %d, and the maximum %d", largest, x.Max)})
		}
	}
	return found
}

// refusedSlots reports whether refused messages hide values of slots.
func refusedSlots(x *result.Merged) bool { return slices.Contains(x.Slots, result.Refused) }

// impossible says which instants of a message contradict each other; it is empty if none do. ahead is that of clocksAhead.
func impossible(x *result.Exemplar, ahead int64) string {
	from := x.Intended
	if strings.HasSuffix(string(x.Metric), ".service") {
		from = x.Sent
	}
	switch resolved := x.Sent != -1; {
	case resolved && x.Sent < x.Intended:
		return fmt.Sprintf("sent at %d, before it was due at %d", x.Sent, x.Intended)
	case resolved && (x.Own < 0 || x.Own > x.Sent-x.Intended):
		return fmt.Sprintf("the generator was %d late by itself, of %d in all", x.Own, x.Sent-x.Intended)
	case resolved && x.Sent-x.Done > ahead:
		return fmt.Sprintf("sent at %d, after it was done at %d", x.Sent, x.Done)
	case x.Done-from != x.Value:
		return fmt.Sprintf("from %d to %d is not its latency of %d", from, x.Done, x.Value)
	}
	return ""
}
