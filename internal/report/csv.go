package report

import (
	"encoding/csv"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"sixnines/result"
)

// writeCSV writes the published figures in long form, one a line, with the columns
//
//	run, metric, percentile, value_ns, lo_ns, hi_ns, count, mark, block_lo_ns, block_hi_ns, floor_ratio, verdict
//
// metric is METRIC; or METRIC.succeeded, without the messages that were refused; or
// METRIC.corrected, a service time with HdrHistogram's correction for an expected
// interval, which is not measured. percentile is "50" to "99.9999", or min, max, mean,
// stddev. lo_ns and hi_ns hold the 95 % interval, without hi_ns if refused messages reach
// it. count is the number of values in the metric's histogram. mark qualifies the figure:
// unsupported, unstable or refused (without a value; refused messages reach the last),
// at-least, few, few-events, near-floor, sequential (the interval holds whenever the run
// ended), invalid, suspect; several are joined by "+". mean and stddev are of all resolved
// messages, so they are marked as the maximum is, at-least if messages were refused or
// unresolved, and withheld as unstable where percentiles are.
// block_lo_ns and block_hi_ns hold the interval from resampled stretches of the
// run, floor_ratio how many times the machine's noise floor the value is. verdict is the
// run's: VALID, SUSPECT, UNSTABLE or INVALID.
func writeCSV(w io.Writer, runs []*result.Run) error {
	prepared, err := subjects(runs)
	if err != nil {
		return err
	}
	c := csv.NewWriter(w)
	fields := figureFields()
	head := []string{"run", "metric", "percentile"}
	for _, x := range fields {
		head = append(head, x.name)
	}
	_ = c.Write(append(head, "verdict")) // an error is kept by the writer until Error
	for _, s := range prepared {
		for _, col := range s.measuredFigures(true) {
			row := func(percentile result.Percentile, of func(figureField) string) {
				out := []string{s.label, string(col.Metric), string(percentile)}
				for _, x := range fields {
					out = append(out, of(x))
				}
				_ = c.Write(append(out, string(s.sum.Verdict.Status)))
			}
			moment := func(name result.Percentile, value string, of figure) {
				if of.Unstable {
					value = ""
				}
				if col.Dist.Count > 0 {
					known := map[string]string{"value_ns": value, "count": integer(col.Dist.Count), "mark": of.mark()}
					row(name, func(x figureField) string { return known[x.name] })
				}
			}
			fastest := col.Figures[0]
			moment("min", integer(col.Dist.Min), figure{Suspect: fastest.Suspect, Invalid: fastest.Invalid})
			for _, f := range col.Figures {
				row(f.Percentile, func(x figureField) string { return x.text(f) })
			}
			slowest := col.at(result.Maximum)
			all := figure{Suspect: slowest.Suspect, Invalid: slowest.Invalid, Unstable: s.sum.Verdict.Status == result.Unstable && col.Of.IsResponse()}
			all.AtLeast = col.Dist.Censored+col.Dist.Refusals > 0
			moment("mean", decimal(col.Dist.Mean), all)
			moment("stddev", decimal(col.Dist.StdDev), all)
		}
	}
	c.Flush()
	return c.Error()
}

// writeTimeCSV writes what happened over time in long form, one value a line, with
// the columns
//
//	run, phase, start_ns, end_ns, series, value
//
// for every interval. Instants count from the start of the measured window.
// The series are METRIC.count, METRIC.min_ns, .p50_ns, .p90_ns, .p99_ns,
// .p99.9_ns and .max_ns of each metric, scheduled, sent, acked, received, in_flight, backlog,
// and vitals.NAME. Percentiles are those of the interval's own histogram; n/a where
// it has too few messages for one.
func writeTimeCSV(w io.Writer, runs []*result.Run) error {
	prepared, err := subjects(runs)
	if err != nil {
		return err
	}
	c := csv.NewWriter(w)
	_ = c.Write([]string{"run", "phase", "start_ns", "end_ns", "series", "value"}) // kept until Error
	for _, s := range prepared {
		for i := range s.run.Series {
			p := &s.run.Series[i]
			s.values(p, func(series string, v float64, known bool) {
				text := decimal(v)
				if !known {
					text = "n/a"
				}
				_ = c.Write([]string{s.label, plain(p.Phase), integer(p.Start), integer(p.End), series, text})
			})
		}
	}
	c.Flush()
	return c.Error()
}

// values calls add for each value of an interval, by the name of its series. A percentile that its
// messages do not support is not known. Counts and ns are exact up to 2⁵³.
func (s *subject) values(p *result.Point, add func(series string, v float64, known bool)) {
	for _, c := range []struct {
		name string
		n    int64
	}{{"scheduled", p.Counters.Scheduled}, {"sent", p.Counters.Sent}, {"acked", p.Counters.Acked}, {"received", p.Counters.Received},
		{"in_flight", p.InFlight}, {"backlog", p.Backlog}} {
		add(c.name, float64(c.n), true)
	}
	messages := messagesOf(s.run)
	for _, m := range result.Metrics() {
		v, ok := p.Metrics[m]
		if !ok {
			continue
		}
		add(string(m)+".count", float64(v.Count), true)
		if v.Count == 0 {
			continue
		}
		v = supported(v, messages(m))
		for _, f := range []struct {
			name string
			ns   int64
		}{{"min", v.Min}, {"p50", v.P50}, {"p90", v.P90}, {"p99", v.P99}, {"p99.9", v.P999}, {"max", v.Max}} {
			add(string(m)+"."+f.name+"_ns", float64(f.ns), f.ns != unsupported)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(p.Vitals)) {
		add("vitals."+plain(string(k)), p.Vitals[k], true)
	}
}

func integer(v int64) string { return strconv.FormatInt(v, 10) }

// decimal writes a number that need not be whole; the empty string for NaN and infinities.
func decimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
