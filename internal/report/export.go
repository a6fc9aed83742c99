package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
// that were never resolved are in it at their lower bounds. Comments at its end say what it
// does not show, see [remarksFor].
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
	if err := histograms.WriteHgrm(w, histograms.Of(withCensored(x)), hgrmScale, hgrmTicks); err != nil {
		return err
	}
	for _, text := range remarksFor(subjectOf(run), metric) {
		if _, err := fmt.Fprintf(w, "# %s\n", text); err != nil {
			return fmt.Errorf("write the comments: %w", err)
		}
	}
	return nil
}

// remarksFor says what histograms of a run's metrics do not show, a line each: the verdict, and
// which messages are in none of them.
func remarksFor(s *subject, metrics ...result.Metric) []string {
	v := s.sum.Verdict
	out := []string{"the run is " + plain(v.String())}
	if v.Status == result.Unstable && slices.ContainsFunc(metrics, func(m result.Metric) bool { return m.IsResponse() && s.run.Metrics[m] != nil }) {
		out = append(out, "its response times depend on how long it was: none of their percentiles is a figure of the system")
	}
	for _, m := range metrics {
		if x := s.run.Metrics[m]; x != nil && x.Refused > 0 {
			out = append(out, plain(string(m))+": without "+plural(x.Refused, "refused message")+", slower than all values here")
		}
	}
	return out
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

// writeHlog writes a run, or one workload of it, as a histogram log, format 1.3: a row for
// each interval and metric, with the metric as its tag and values in nanoseconds.
// Unresolved messages have the tag METRIC.censored, with their lower bounds. Comments say
// what it does not show, see [remarksFor]. The run's file is streamed.
func writeHlog(w io.Writer, run *result.Run) error {
	if run.Path == "" {
		return errors.New("a histogram log needs the result file, and this result has none")
	}
	f, err := os.Open(run.Path)
	if err != nil {
		return fmt.Errorf("histogram log: %w", err)
	}
	defer f.Close() // read only: nothing to lose
	if err := hlog(w, f, subjectOf(run)); err != nil {
		return fmt.Errorf("histogram log of %s: %w", run.Path, err)
	}
	return nil
}

// hlog writes the intervals of the subject's workload from source, which has those of all
// workloads of the run.
func hlog(w io.Writer, source io.Reader, s *subject) error {
	workload := s.run.Header.Workload
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
		if h := record.Header; h != nil && h.Workload == workload {
			started = h.Started
			if err := errors.Join(log.WriteVersion(), log.WriteStartTime(started)); err != nil {
				return err
			}
			for _, text := range remarksFor(s, result.Metrics()...) {
				if err := log.WriteComment(" " + text); err != nil {
					return err
				}
			}
			if err := log.WriteLegend(); err != nil {
				return err
			}
		}
		if iv := record.Interval; iv != nil && iv.Workload == workload {
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
