package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sixnines/result"
)

// tailBrief is how many of the slowest messages a terminal shows.
const tailBrief = 5

// tailTables list the slowest messages, a section for each metric.
func tailTables(s *subject) []*table {
	var metrics []result.Metric
	for _, e := range s.run.Tail {
		metrics = appendNew(metrics, e.Metric)
	}
	var out []*table
	for _, m := range metrics {
		x := &table{Name: "The slowest messages: " + metricName(m), Folded: true, Brief: tailBrief, Rest: ": see the page, or --format csv-tail",
			Head:    columnHeads("rrrlllrrr", "latency", "due at", "own lag", "overlapped", "from", "to", "sent at", "done at", "sequence"),
			Caption: "Times are from the start of the window. Own lag is how late the generator itself sent the message. Overlapped lists what happened between due and done, the longest first; an overlap may be chance. --format csv-tail has all messages."}
		for _, e := range s.run.Tail {
			if e.Metric != m {
				continue
			}
			to := "acknowledgement"
			if e.Consumer >= 0 {
				to = "consumer " + strconv.Itoa(e.Consumer)
			}
			where := plain(e.Topic)
			if e.Partition >= 0 {
				where = joinNonEmpty("/", where, strconv.Itoa(int(e.Partition)))
			}
			value, own, sent := duration(e.Value), duration(e.Own), instant(e.Sent)
			if unresolved(e) {
				value, own, sent = "≥ "+value, "–", "–"
			}
			x.add(value, instant(e.Intended), own,
				foremost(metBy(s.run, e, sourceName)), "producer "+strconv.Itoa(e.Producer), joinNonEmpty(", ", to, where),
				sent, instant(e.Done), count(int64(e.Sequence)))
		}
		out = append(out, x)
	}
	return out
}

// unresolved reports whether a message was given up: its value is a lower bound, and
// nothing more is known about it.
func unresolved(e result.Exemplar) bool { return e.Sent == -1 }

// instant writes a moment of the window, in seconds to the microsecond.
func instant(ns int64) string {
	return strconv.FormatFloat(float64(ns)/1e9, 'f', 6, 64) + " s"
}

// foremost names the first two of a list and counts the others.
func foremost(list []string) string {
	const most = 2
	text := strings.Join(list[:min(len(list), most)], ", ")
	if n := len(list) - most; n > 0 {
		text += " +" + strconv.Itoa(n)
	}
	return text
}

// metBy lists what happened between the instants at which a message was due and done:
// events, then pauses by source with their total length, the longest first, then pauses
// seen by a counter, whose length is not known. source names the source of a pause.
func metBy(r *result.Run, e result.Exemplar, source func(string) string) []string {
	var out, counted []string
	for _, v := range r.Events {
		if v.At >= e.Intended && v.At <= e.Done {
			out = appendNew(out, plain(string(v.Kind)))
		}
	}
	met := map[string][]result.Pause{}
	for _, p := range r.Pauses {
		if start, end := max(p.Start, e.Intended), min(p.End, e.Done); end > start {
			name := source(string(p.Source))
			met[name] = append(met[name], result.Pause{Start: start, End: end, Source: p.Source})
		}
	}
	length := map[string]int64{}
	var sources []string
	for _, name := range slices.Sorted(maps.Keys(met)) {
		if met[name][0].Source.Properties().Counter {
			counted = append(counted, name)
			continue
		}
		length[name] = covered(met[name])
		sources = append(sources, name)
	}
	slices.SortStableFunc(sources, func(a, b string) int { return cmp.Compare(length[b], length[a]) })
	for _, name := range sources {
		out = append(out, name+" "+duration(length[name]))
	}
	return append(out, counted...)
}

// covered returns the time that pauses cover together, ns, counting overlaps once: the
// pauses of several meters may overlap.
func covered(pauses []result.Pause) int64 {
	slices.SortFunc(pauses, func(a, b result.Pause) int { return cmp.Compare(a.Start, b.Start) })
	var sum, end int64
	for i, p := range pauses {
		if i == 0 || p.Start > end {
			end = p.Start
		}
		if p.End > end {
			sum, end = sum+p.End-end, p.End
		}
	}
	return sum
}

// writeTailCSV writes the slowest messages of each metric, one a line, with the
// columns
//
//	run, metric, value_ns, producer, consumer, topic, partition, sequence, intended_ns, sent_ns, done_ns, own_ns, mark, met
//
// Instants count from the start of the measured window. consumer is empty for
// an acknowledgement, partition where the driver does not tell. met lists what
// happened between intended and done, joined by "; ". Of a message that was never
// resolved the mark is at-least, done_ns is when it was given up, and sent_ns and
// own_ns are empty; else there is no mark.
func writeTailCSV(w io.Writer, runs []*result.Run) error {
	prepared, err := subjects(runs)
	if err != nil {
		return err
	}
	c := csv.NewWriter(w)
	// Errors are kept by the writer until Error.
	_ = c.Write([]string{"run", "metric", "value_ns", "producer", "consumer", "topic", "partition", "sequence", "intended_ns", "sent_ns", "done_ns", "own_ns", "mark", "met"})
	known := func(n int64) string {
		if n < 0 {
			return ""
		}
		return integer(n)
	}
	for _, s := range prepared {
		for _, e := range s.run.Tail {
			sent, own, mark := integer(e.Sent), integer(e.Own), ""
			if unresolved(e) {
				sent, own, mark = "", "", "at-least"
			}
			_ = c.Write([]string{s.label, plain(string(e.Metric)), integer(e.Value), strconv.Itoa(e.Producer), known(int64(e.Consumer)), plain(e.Topic),
				known(int64(e.Partition)), strconv.FormatUint(e.Sequence, 10), integer(e.Intended), sent, integer(e.Done), own, mark,
				strings.Join(metBy(s.run, e, plain), "; ")})
		}
	}
	c.Flush()
	return c.Error()
}
