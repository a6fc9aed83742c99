package report

import (
	"io"

	"sixnines/internal/telemetry"
	"sixnines/result"
)

// writeOpenMetrics writes results as OpenMetrics text: the distributions, the counters,
// the verdict, and the published figures that are numbers. A run that occurs twice is
// written once, since a series may have only one value.
func writeOpenMetrics(w io.Writer, runs []*result.Run) error {
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
	for _, col := range s.measuredFigures(false) {
		for _, f := range col.Figures {
			for _, x := range figureFields() {
				if x.bound == "" || !f.ok() || x.exact != nil && !x.exact(f) {
					continue
				}
				if ns, ok := x.ns(f); ok {
					all = append(all, telemetry.Figure{Metric: string(col.Metric), Percentile: f.Percentile, Bound: x.bound, Nanosecond: ns, Mark: f.mark()})
				}
			}
		}
	}
	return all
}
