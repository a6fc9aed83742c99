package report

import (
	"io"

	"sixnines/internal/telemetry"
	"sixnines/result"
)

// OpenMetrics writes results as OpenMetrics text: the distributions, the counters,
// the verdict, and the published figures that are numbers. A run that is there twice is
// told once: a series has one value.
func OpenMetrics(w io.Writer, runs []*result.Run) error {
	prepared, err := subjects(runs)
	if err != nil {
		return err
	}
	seen := map[[2]string]bool{}
	var all []telemetry.Result
	for _, s := range prepared {
		h := &s.run.Header
		id := [2]string{h.ID, h.Workload}
		if seen[id] {
			continue
		}
		seen[id] = true
		all = append(all, telemetry.Result{Run: s.run, Summary: s.sum, Figures: s.published()})
	}
	return telemetry.OpenMetrics(w, all)
}

// published are the figures that are numbers and were measured.
func (s *subject) published() (all []telemetry.Figure) {
	var metrics []result.Metric
	for _, m := range result.Metrics() {
		metrics = append(metrics, m, succeededOf(m))
	}
	for _, m := range metrics {
		col := s.column(m)
		if col == nil || col.Dist.Total() == 0 {
			continue
		}
		for _, f := range col.Figures {
			if !f.ok() {
				continue
			}
			add := func(bound string, ns int64) {
				all = append(all, telemetry.Figure{Metric: string(m), Percentile: f.Percentile, Bound: bound, Nanosecond: ns, Mark: f.mark()})
			}
			add("value", f.Value)
			if f.interval() == "" {
				continue
			}
			add("low", f.Lo)
			if !f.Open && !f.OpenRefused {
				add("high", f.Hi)
			}
		}
	}
	return all
}
