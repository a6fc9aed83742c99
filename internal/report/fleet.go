package report

import (
	"cmp"
	"fmt"
	"slices"

	"sixnines/result"
)

// agentsTable has what each agent of a fleet recorded itself; nil for a run of one process.
func agentsTable(s *subject) *table {
	f := s.run.Header.Fleet
	if f == nil {
		return nil
	}
	m := s.measuredMetric()
	x := &table{Name: "Agents", Head: columnHeads("lllrrrrl", "agent", "machine", "segment", "sent", "p50", "p99", "max", "its own verdict"), Even: true, Spill: true,
		Caption: "What each agent recorded itself: " + metricName(m) + " of the messages that were answered, and the verdict of its own result. The percentiles of the whole run are of all agents' messages together."}
	if slices.ContainsFunc(f.Agents, func(a result.Agent) bool { return a.Clock != nil }) {
		x.Caption += " How wrong other agents' clocks make its latencies is no part of its verdict: the whole says that."
	}
	if p := f.Probe; p != nil {
		x.Caption += " Agent " + p.Name + " had no part in the load: it ran the probe beside it."
	}
	services := slices.ContainsFunc(f.Agents, func(a result.Agent) bool { return a.Service != nil })
	if services {
		x.Head = append(x.Head, columnHeads("l", "time service")...)
	}
	for _, a := range f.Agents {
		verdict := plain(string(a.Status))
		if a.Lost {
			verdict = "lost: its result has no end"
		}
		p50, p99, most := "–", "–", "–"
		if l, known := a.Latencies[m]; known {
			p50, p99, most = duration(l.P50), duration(l.P99), duration(l.Max)
		}
		row := []string{plain(a.Name), cmp.Or(plain(a.Host), "–"), segmentText(&a.Segment), count(a.Sent), p50, p99, most, verdict}
		if services {
			row = append(row, serviceText(a.Service))
		}
		x.add(row...)
	}
	return x
}

// serviceText says what the kernel of an agent's machine knew of a time service.
func serviceText(s *result.TimeService) string {
	switch {
	case s == nil:
		return "not known"
	case !s.Synchronised:
		return "not synchronised"
	}
	return fmt.Sprintf("offset %s, error at most %s, %+.1f ppm", duration(s.Offset), duration(s.MostError), s.Frequency)
}

// segmentText names a segment, from 1.
func segmentText(g *result.Segment) string {
	if g.Role != "" {
		return fmt.Sprintf("%s %d of %d", g.Role, g.Part+1, g.Parts)
	}
	return fmt.Sprintf("%d of %d", g.Index+1, g.Of)
}

// fleetText says in a few words that a result is of several processes, or of one among several; empty: it
// is of one process.
func fleetText(h *result.Header) string {
	switch {
	case h.Fleet != nil:
		text := plural(int64(len(h.Fleet.Agents)), "agent")
		if p := h.Fleet.Probe; p != nil {
			text += ", and a probe on " + p.Name
		}
		return text
	case h.Segment != nil:
		return "segment " + segmentText(h.Segment)
	}
	return ""
}
