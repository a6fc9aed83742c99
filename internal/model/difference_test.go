package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"sixnines/result"
)

// difference returns the first difference between a part of a run, whose clients were closed at
// an instant, and the model; it is empty if they agree.
func difference(run *result.Run, o *Outcome, closed int64) string {
	if o.Blocks && o.Waited {
		return "" // what was sent while clients were being closed is undefined
	}
	if d := differentMoments(run, o, closed); d != "" {
		return d
	}
	for _, compare := range []func(*result.Run, *Outcome) string{differentCounters, differentLatencies, differentRate, differentThroughput, differentCosts, differentVerdict, differentObjectives} {
		if d := compare(run, o); d != "" {
			return d
		}
	}
	return ""
}

// patience is how long after everything came, or after the drain limit, clients may be
// told to leave.
const patience = 60_000_000

// longPatience is the same where a send may be blocked: it is waited for.
const longPatience = 1_200_000_000

func differentMoments(run *result.Run, o *Outcome, closed int64) string {
	from := o.Resolved
	most := patience + 3*o.Work
	if o.Blocks {
		most = longPatience
	}
	came := connected(run)
	switch {
	case o.Late && came == 0 && o.Filled < closed-looksEach:
		return fmt.Sprintf("consumers did not connect, and must at %d", o.Filled)
	case came > 0 && (!o.Late || came < o.Filled || came > o.Filled+looksEach):
		return fmt.Sprintf("consumers connected at %d, and must at %d", came, o.Filled)
	case run.Summary.End != o.End:
		return fmt.Sprintf("the window ends at %d, and must end at %d", run.Summary.End, o.End)
	case o.Kept && (run.ReadBack == nil || run.ReadBack.Outcome != result.ReadBackDone):
		return fmt.Sprintf("what the broker keeps must be read, and %+v", run.ReadBack)
	case closed < from || closed > max(from, o.Thawed)+most:
		return fmt.Sprintf("clients were told to leave at %d, and must be at %d (resolved at %d)", closed, from, o.Resolved)
	}
	return ""
}

// looksEach is how often it is looked whether consumers that come late may connect.
const looksEach = 2_000_000

// connected returns when consumers that come late were connected, 0 if they were not.
func connected(run *result.Run) int64 {
	for _, e := range run.Events {
		if e.Kind == result.EventConsumers && e.Workload == run.Header.Workload {
			return e.At
		}
	}
	return 0
}

// counted are the counters that the model counts.
func counted() []string {
	return []string{"scheduled", "not_sent", "taken", "rejected", "sent", "acked", "nacked", "unknown", "expected", "received", "corrupted", "corrupted_copies",
		"missing", "lost_acked", "undelivered", "missing_nacked", "missing_unknown", "ended_received", "duplicated", "redelivered", "reordered", "censored",
		"late", "foreign", "violations", "dropped", "negative", "out_of_range"}
}

func differentCounters(run *result.Run, o *Outcome) string {
	text, err := json.Marshal(run.Summary.Counters)
	if err != nil {
		return err.Error()
	}
	var got map[string]int64
	if err := json.Unmarshal(text, &got); err != nil {
		return err.Error()
	}
	for _, name := range counted() {
		if got[name] != o.Counters[name] {
			return fmt.Sprintf("%s is %d and must be %d", name, got[name], o.Counters[name])
		}
	}
	for name, can := range o.Within {
		if got[name] < can[0] || got[name] > can[1] {
			return fmt.Sprintf("%s is %d and must be from %d to %d", name, got[name], can[0], can[1])
		}
	}
	return ""
}

func differentLatencies(run *result.Run, o *Outcome) string {
	for _, name := range slices.Sorted(maps.Keys(o.Latencies)) {
		x := o.Latencies[name]
		d := run.Summary.Histograms[result.Metric(name)]
		if d == nil && x.total() == 0 {
			continue // all that was due was never sent
		}
		if d == nil {
			return fmt.Sprintf("%s is missing, and must have %d values", name, x.total())
		}
		if diff := differentLatency(d, x, o); diff != "" {
			return name + ": " + diff
		}
	}
	for m, d := range run.Summary.Histograms {
		if o.Latencies[string(m)] == nil {
			return fmt.Sprintf("%s has %d values, and must not be there", m, d.Total())
		}
	}
	return ""
}

// about reports whether a figure can be that of a value: the edge of its bucket.
func (o *Outcome) about(figure, v int64) bool {
	return float64(figure) >= float64(v)/o.Bucket-1 && float64(figure) <= float64(v)*o.Bucket+1
}

func differentLatency(d *result.Distribution, x *Latency, o *Outcome) string {
	switch {
	case d.Count != int64(len(x.Values)):
		return fmt.Sprintf("%d values, and must be %d", d.Count, len(x.Values))
	case d.Censored != int64(len(x.Bounds)):
		return fmt.Sprintf("%d unresolved, and must be %d", d.Censored, len(x.Bounds))
	case d.Refusals != x.Refused:
		return fmt.Sprintf("%d refused, and must be %d", d.Refusals, x.Refused)
	case d.Samples != x.Samples:
		return fmt.Sprintf("%d samples, and must be %d", d.Samples, x.Samples)
	}
	if n := len(x.Values); n > 0 {
		sum := 0.0
		for _, v := range x.Values {
			sum += float64(v)
		}
		switch {
		case d.Min != x.Values[0]:
			return fmt.Sprintf("the least value is %d, and must be %d", d.Min, x.Values[0])
		case len(x.Bounds) == 0 && d.Max != x.Values[n-1]:
			return fmt.Sprintf("the largest value is %d, and must be %d", d.Max, x.Values[n-1])
		case math.Abs(d.Mean-sum/float64(n)) > sum/float64(n)*(o.Bucket-1)+1:
			return fmt.Sprintf("the mean is %g, and must be %g", d.Mean, sum/float64(n))
		}
	}
	if n := len(x.Bounds); n > 0 && (!d.MaxAtLeast || !o.about(d.Max, x.all[len(x.all)-1])) {
		return fmt.Sprintf("the largest value is %d (a bound: %v), and must be at least %d", d.Max, d.MaxAtLeast, x.all[len(x.all)-1])
	}
	for _, p := range percentiles() {
		if diff := differentPercentile(d, x, o, p); diff != "" {
			return "p" + p + diff
		}
	}
	return ""
}

func differentPercentile(d *result.Distribution, x *Latency, o *Outcome, p string) string {
	f, there := d.At(result.Percentile(p))
	want, got := x.percentile(p), Figure{Value: f.Value, AtLeast: f.AtLeast, Refused: f.Refused, Needs: f.Needs}
	if there != (want.Needs == 0) || got.Needs != want.Needs {
		return fmt.Sprintf(" is %+v, and must be %+v", got, want)
	}
	if want.Needs > 0 {
		return ""
	}
	below := x.below(p)
	want.Value = max(want.Value, below) // no percentile is less than a lower one
	if got.AtLeast != want.AtLeast || got.Refused != want.Refused || !o.about(got.Value, want.Value) {
		return fmt.Sprintf(" is %+v, and must be %+v", got, want)
	}
	low, high, ok := x.span(p)
	ok = ok && !low.Refused
	in := f.Interval
	if (in != nil) != ok {
		return fmt.Sprintf(" has the interval %v, and must have one: %v", in, ok)
	}
	if ok {
		low.Value, high.Value = min(low.Value, want.Value), max(high.Value, want.Value)
		if !o.about(in.Low, low.Value) || !o.about(in.High, high.Value) || in.Open != high.AtLeast || in.OpenRefused != high.Refused {
			return fmt.Sprintf(" lies in %+v, and must lie in %+v to %+v", in, low, high)
		}
	}
	return ""
}

// differentThroughput holds the rates of a load without a schedule against what came through.
func differentThroughput(run *result.Run, o *Outcome) string {
	t := run.Summary.Throughput
	if (t != nil) != o.FlatOut {
		return fmt.Sprintf("there is a throughput: %v, and must be: %v", t != nil, o.FlatOut)
	}
	if t == nil {
		return ""
	}
	if want := o.Through; t.Messages != want.Messages || int64(t.Elapsed) != want.Elapsed || t.Received != want.Received {
		return fmt.Sprintf("%d messages (%d received) came through in %d ns, and must be %+v", t.Messages, t.Received, t.Elapsed, want)
	}
	if want := float64(t.Messages) / t.Elapsed.Seconds(); math.Abs(t.PerSecond-want) > 1e-9*want {
		return fmt.Sprintf("the throughput is %g/s, and must be %g/s", t.PerSecond, want)
	}
	return ""
}

func differentRate(run *result.Run, o *Outcome) string {
	if !o.Paced {
		return ""
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }
	switch r := run.Summary.Rate; {
	case !near(r.Asked, o.Rate.Asked):
		return fmt.Sprintf("asked for %g/s, and must be %g/s", r.Asked, o.Rate.Asked)
	case !near(r.Due, o.Rate.Due):
		return fmt.Sprintf("due %g/s, and must be %g/s", r.Due, o.Rate.Due)
	case !near(r.WorstSecond, o.Rate.Worst) && !near(r.WorstSecond, o.Rate.WorstBefore):
		return fmt.Sprintf("in the worst second %g of what was due was sent, and must be %g", r.WorstSecond, o.Rate.Worst)
	case !near(r.Sent, o.Rate.Sent) && !(run.Summary.Interrupted && r.Sent > o.Rate.Sent && o.Blocks):
		return fmt.Sprintf("sent %g/s, and must be %g/s", r.Sent, o.Rate.Sent)
	}
	return ""
}

func differentObjectives(run *result.Run, o *Outcome) string {
	if len(run.Summary.Objectives) != len(o.Objectives) {
		return fmt.Sprintf("%d objectives, and must be %d", len(run.Summary.Objectives), len(o.Objectives))
	}
	for i, got := range run.Summary.Objectives {
		want := o.Objectives[i]
		if want.Of.IsTime() || want.Of.Stretch != "" {
			want.Outcomes, want.Overloaded = o.costOutcomes(run, want.Of), nil
			if want.Of.IsMetric() {
				want.Overloaded = []string{meaningless}
			}
		}
		if run.Summary.Verdict.Status == result.Unstable && want.Overloaded != nil {
			want.Outcomes = want.Overloaded
		}
		if v := run.Summary.Verdict; v.Status == result.Suspect || len(v.Limits) > 0 { // then less is shown
			want.Outcomes = append(slices.Clone(want.Outcomes), undecided)
		}
		if got.Text != want.Objective || !slices.Contains(want.Outcomes, got.Outcome) {
			return fmt.Sprintf("%q is %s (%s), and must be %v", got.Text, got.Outcome, got.Found, want.Outcomes)
		}
	}
	return ""
}

func differentVerdict(run *result.Run, o *Outcome) string {
	v := run.Summary.Verdict
	if len(o.Statuses) > 0 && !slices.Contains(o.Statuses, string(v.Status)) {
		return fmt.Sprintf("the verdict is %s, and must be %v: %v", v.Status, o.Statuses, v.Reasons)
	}
	for _, r := range v.Reasons {
		if r.Code == result.ReasonOwnLag && !o.Paced && o.OwnLag { // of a closed loop all lag is own
			continue
		}
		if r.Status != result.Valid && !slices.Contains([]result.ReasonCode{result.ReasonBacklog, result.ReasonSteady, result.ReasonWarmUp, result.ReasonNotSent}, r.Code) {
			return fmt.Sprintf("the verdict has a reason that is none in virtual time: %+v", r)
		}
	}
	return ""
}
