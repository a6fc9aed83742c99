// Package telemetry exports runs to monitoring systems, in families named after the
// metrics and counters of the result file.
//
// Its output is for monitoring. Its buckets are twenty times as wide as those of the
// result file, which has the authoritative figures.
package telemetry

import (
	"fmt"
	"io"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"sixnines/result"
)

// Figure is a published figure: a percentile that the sample supports.
type Figure struct {
	Metric     string
	Percentile result.Percentile // or [result.Maximum]
	Bound      string            // "value", or "low" and "high" of its 95 % interval
	Nanosecond int64             // the value, ns
	Mark       string            // the qualification as in the CSV; empty: none
}

// Result is a run that is over, or one of its workloads.
type Result struct {
	Run     *result.Run
	Summary *result.Summary
	Figures []Figure
}

// figures shows the figures of results.
type figures []Result

// Describe implements prometheus.Collector.
func (figures) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (all figures) Collect(to chan<- prometheus.Metric) {
	for _, r := range all {
		for _, f := range r.Figures {
			to <- prometheus.MustNewConstMetric(family("percentile_seconds",
				"The published percentiles and maxima with their 95 % intervals. What the sample does not support is absent.", "metric", "percentile", "bound", "mark"),
				prometheus.GaugeValue, seconds(float64(f.Nanosecond)), r.Run.Header.ID, r.Run.Header.Workload, f.Metric, string(f.Percentile), f.Bound, f.Mark)
		}
	}
}

// OpenMetrics writes results as OpenMetrics 1.0 text, without time stamps. Two results for
// the same workload of the same run are an error.
func OpenMetrics(w io.Writer, results []Result) error {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector{func() (string, []*load) {
		var all []*load
		for _, r := range results {
			all = append(all, finished(r.Run, r.Summary))
		}
		return "", all
	}}, figures(results))
	families, err := registry.Gather()
	if err != nil {
		return fmt.Errorf("gather the metrics: %w", err)
	}
	e := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeOpenMetrics))
	for _, f := range families {
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	if c, ok := e.(expfmt.Closer); ok {
		return c.Close()
	}
	return nil
}
