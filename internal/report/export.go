package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// Scale and ticks of .hgrm files: HdrHistogram's plotter takes values in
// milliseconds, and its Java tools write five rows for each halving of the
// distance to 100 %.
const (
	hgrmScale = 1e6
	hgrmTicks = 5
)

// writeHgrm writes the percentile distribution of a metric as HdrHistogram's tools
// do, in milliseconds, for the plotters that read .hgrm files. An empty metric
// means the first that the run has, in the order of [result.Metrics]. Messages
// that were never resolved are in it at their lower bounds.
func writeHgrm(w io.Writer, run *result.Run, metric result.Metric) error {
	if metric == "" {
		for _, m := range result.Metrics() {
			if x := run.Metrics[m]; x != nil && x.Hist != nil {
				metric = m
				break
			}
		}
	}
	x := run.Metrics[metric]
	if x == nil || x.Hist == nil {
		return fmt.Errorf("the result has no distribution %q; it has %s", metric, strings.Join(metricsOf(run), ", "))
	}
	return histograms.WriteHgrm(w, histograms.Of(withCensored(x)), hgrmScale, hgrmTicks)
}

// metricsOf lists the metrics of a run.
func metricsOf(run *result.Run) []string {
	out := []string{}
	for _, m := range result.Metrics() {
		if run.Metrics[m] != nil {
			out = append(out, string(m))
		}
	}
	if len(out) == 0 {
		return []string{"none"}
	}
	return out
}

// writeHlog writes the result file at path as a histogram log, format 1.3: a row for
// each interval and metric, with the metric as its tag and values in nanoseconds.
// Unresolved messages have the tag METRIC.censored, with their lower bounds. The file
// is streamed: memory does not grow with the run.
func writeHlog(w io.Writer, path string) error {
	if path == "" {
		return errors.New("a histogram log needs the result file, and this result has none")
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("histogram log: %w", err)
	}
	defer f.Close() // read only: nothing to lose
	if err := hlog(w, f); err != nil {
		return fmt.Errorf("histogram log of %s: %w", path, err)
	}
	return nil
}

func hlog(w io.Writer, source io.Reader) error {
	log := histograms.NewHlogWriter(w)
	reader := result.NewReader(source)
	var started time.Time
	for {
		record, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h := record.Header; h != nil {
			started = h.Started
			if err := errors.Join(log.WriteVersion(), log.WriteStartTime(started), log.WriteLegend()); err != nil {
				return err
			}
		}
		if iv := record.Interval; iv != nil {
			if err := hlogRows(log, iv, started); err != nil {
				return fmt.Errorf("line %d: %w", reader.Line(), err)
			}
		}
	}
}

// hlogRows writes one interval.
func hlogRows(log *histograms.HlogWriter, iv *result.Interval, started time.Time) error {
	for _, m := range result.Metrics() {
		x := iv.Metrics[m]
		if x == nil {
			continue
		}
		for _, part := range []struct{ tag, encoded string }{{string(m), x.Hist}, {string(m) + ".censored", x.Censored}} {
			if part.encoded == "" {
				continue
			}
			h, err := histograms.Decode(part.encoded)
			if err != nil {
				return fmt.Errorf("%s: %w", part.tag, err)
			}
			row := histograms.HlogInterval{Tag: part.tag, Start: started.Add(time.Duration(iv.Start)),
				Length: time.Duration(max(iv.End-iv.Start, 0)), Histogram: h, Encoded: part.encoded}
			if err := log.WriteInterval(row); err != nil {
				return err
			}
		}
	}
	return nil
}
