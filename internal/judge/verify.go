package judge

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/result"
)

// Problem is a difference between a figure of a result and what its records
// yield.
type Problem struct {
	// Where names the figure as it is found in the summary, such as
	// "histograms.delivery.response.percentiles.99.9", or the part of the file.
	Where string `json:"where"`
	// Text says what is wrong, with both values.
	Text string `json:"text"`
}

// String returns "where: text".
func (p Problem) String() string { return p.Where + ": " + p.Text }

// Verify computes the whole summary of a run again from its records and returns every
// figure that differs, in order of their names. It also returns contradictions in the
// records, differences between the header and the scenario in it, and changes that the seal
// shows. The result is empty if all agree. A run that was cut short has no summary to
// compare with, which is a problem too; the rest is still checked. [Unverified] lists the
// fields that cannot be checked.
//
// Sentences are compared only if tool, the version that reads the run, also wrote it,
// because versions may word their findings differently.
func Verify(run *result.Run, tool result.Tool) []Problem {
	var found []Problem
	add := func(where, format string, a ...any) {
		found = append(found, Problem{where, fmt.Sprintf(format, a...)})
	}
	in, words := InputsOf(run), run.Header.Tool == tool
	if run.Damaged != "" {
		add("file", "damaged at its end: %s", run.Damaged)
	}
	for _, m := range slices.Sorted(maps.Keys(run.Metrics)) {
		if text := extremes(run.Metrics[m]); text != "" {
			add("metrics."+string(m), "%s", text)
		}
	}
	found = append(found, contradictions(run, words)...)
	found = append(found, readBack(run)...)
	if run.Closing != nil {
		found = append(found, declared(run)...)
		found = append(found, timeline(run, words)...)
		found = append(found, slowest(run)...)
		found = append(found, ownBands(run)...)
	} else {
		found = append(found, believed(run)...)
	}
	if run.Summary == nil {
		add("file", "cut short after %s of %s: there is no summary to compare with", wholeSeconds(in.End), spell.Period(run.Header.Window))
		return found
	}
	if ok, text := run.Counters.Conserved(); !ok {
		add("counters", "the message counts do not add up: %s", text)
	}
	differ := compareSummary(run, in, words)
	if in.stopsInvalidate = true; len(differ) > 0 && run.Closing == nil && len(compareSummary(run, in, words)) == 0 {
		differ = nil // written by an earlier version
	}
	return slices.Concat(found, differ, sealed(run))
}

// believed checks figures that only the summary of an earlier version has, and no record, as
// far as they follow from other figures.
func believed(run *result.Run) (found []Problem) {
	add := func(where, format string, a ...any) {
		found = append(found, Problem{where, fmt.Sprintf(format, a...)})
	}
	var end, last int64
	for _, p := range run.Series {
		if last = max(last, p.End); p.Phase == result.PhaseMeasure {
			end = p.End
		}
	}
	s := run.Summary
	switch text := string(run.Header.Scenario); {
	case s == nil:
		return nil
	case run.Header.Sealed && text != "" && text != "null": // versions that seal also write a closing record
		add("intervals.closing", "the file has a summary, and its last interval does not say how the run ended")
	}
	if run.Header.Mode == result.ModeOpen && !s.Aborted && end > 0 && s.End != end {
		add("end", "the summary says %d, the intervals of the window end at %d", s.End, end)
	}
	if s.Resolved > last {
		add("resolved", "the summary says %d, and the last interval ends at %d", s.Resolved, last)
	}
	t := s.Throughput
	if t == nil {
		return found
	}
	if want := float64(t.Messages) / t.Elapsed.Seconds(); !same(t.PerSecond, want) {
		add("throughput.per_second", "the summary says %v, its messages and its time yield %v", t.PerSecond, want)
	}
	if t.Messages > run.Counters.Sent || run.Header.ConsumersFrom == "" && run.Header.Mode == result.ModeFlatOut && t.Received != run.Counters.Received {
		add("throughput", "%s and %s, and by the intervals %s sent and %s received", spell.Plural(t.Messages, "message"),
			spell.Plural(t.Received, "delivery"), spell.Count(run.Counters.Sent), spell.Count(run.Counters.Received))
	}
	return found
}

// compareSummary returns the differences between a run's summary and what its records yield;
// with words, also in its sentences.
func compareSummary(run *result.Run, in Inputs, words bool) (found []Problem) {
	add := func(where, format string, a ...any) {
		found = append(found, Problem{where, fmt.Sprintf(format, a...)})
	}
	again := Summarise(run, in)
	again.Workload = run.Header.Workload
	// Earlier versions did not have these parts.
	if run.Closing == nil && run.Summary.Availability == nil {
		again.Availability = nil
	}
	if !words && run.Summary.Costs == nil {
		again.Costs, again.Outside, again.ClosedLoop = nil, nil, nil
	}
	if run.Closing == nil && run.Summary.EffectiveSampleSize == nil {
		again.EffectiveSampleSize = nil
		again.Verdict.Reasons = slices.DeleteFunc(again.Verdict.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonOneSample })
	}
	if run.Closing == nil && !slices.ContainsFunc(run.Summary.Verdict.Limits, func(l result.Limit) bool { return l.Codes != nil }) {
		for i := range again.Verdict.Limits {
			again.Verdict.Limits[i].Codes, again.Verdict.Limits[i].InvalidCodes = nil, nil
		}
	}
	got, want := flatten(run.Summary, words), flatten(again, words)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch v, ok := got[name]; {
		case !ok:
			add(name, "not in the summary; the intervals yield %v", want[name])
		case !same(v, want[name]):
			add(name, "the summary says %v, the intervals yield %v", v, want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			add(name, "the summary says %v, the intervals yield none", got[name])
		}
	}
	if len(found) == 0 && !slices.EqualFunc(run.Summary.Verdict.Reasons, again.Verdict.Reasons, sameReason) {
		add("verdict.reasons", "they are in another order than the intervals yield")
	}
	return found
}

func sameReason(a, b result.Reason) bool { return reasonName(a) == reasonName(b) }

// extremes checks the exact extremes of a metric against its histogram.
func extremes(x *result.Merged) string {
	if count(x) == 0 {
		return ""
	}
	i := histograms.RanksOf(x.Hist)
	firstLow, firstHigh := i.ValueAtRank(1)
	lastLow, lastHigh := i.ValueAtRank(i.Count())
	switch {
	case x.Min > x.Max:
		return fmt.Sprintf("the minimum %d exceeds the maximum %d", x.Min, x.Max)
	case x.Min < firstLow || x.Min > firstHigh:
		return fmt.Sprintf("the minimum %d is not in the histogram's lowest bucket, %d to %d", x.Min, firstLow, firstHigh)
	case x.Max < lastLow || x.Max > lastHigh:
		return fmt.Sprintf("the maximum %d is not in the histogram's highest bucket, %d to %d", x.Max, lastLow, lastHigh)
	}
	return ""
}

// sentences lists the fields of a summary that are sentences, by the ends of their names.
func sentences() []string {
	return []string{".text", ".found", ".brief", ".why", ".try"}
}

// flatten returns every figure of a summary by its path; with words, its sentences too.
func flatten(s *result.Summary, words bool) map[string]any {
	out := map[string]any{}
	c := *s
	c.Seal = nil // compared with the lines of the file
	c.Type = ""
	c.Verdict.Reasons = nil
	walker(out)("", reflect.ValueOf(&c))
	for i := range s.Verdict.Reasons {
		r := &s.Verdict.Reasons[i]
		name := "verdict.reasons." + reasonName(*r)
		if _, again := out[name]; again {
			name += fmt.Sprintf(".%d", i)
		}
		if out[name] = r.Status; words {
			out[name+".text"], out[name+".brief"] = r.Text, r.Brief
			out[name+".found"], out[name+".means"], out[name+".try"] = r.Found, r.Means, r.Try
			out[name+".share"] = r.Share // earlier versions had none
		}
	}
	if words {
		return out
	}
	// Words may change with versions, figures may not.
	maps.DeleteFunc(out, func(name string, _ any) bool {
		return slices.ContainsFunc(sentences(), func(end string) bool { return strings.HasSuffix("."+name, end) })
	})
	for name, why := range out {
		if (strings.Contains(name, ".blocks_na.") || name == "until.independent") && why != "" {
			out[name] = notKnown
		}
	}
	return out
}

// reasonName names a reason by its code, metric and percentile.
func reasonName(r result.Reason) string {
	parts := []string{string(r.Code)}
	if r.Metric != "" {
		parts = append(parts, string(r.Metric))
	}
	if r.Percentile != "" {
		parts = append(parts, string(r.Percentile))
	}
	return strings.Join(parts, ".")
}

// notKnown replaces the words that say why an interval is unknown.
const notKnown = "n/a"

// walker returns a function that adds the leaves below a value. Names are those
// of the JSON form.
func walker(out map[string]any) func(name string, v reflect.Value) {
	var walk func(name string, v reflect.Value)
	walk = func(name string, v reflect.Value) {
		if x, ok := v.Interface().(*result.Distribution); ok && x != nil {
			v = reflect.ValueOf(x.JSONForm())
		}
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(name, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
				if name != "" {
					tag = name + "." + tag
				}
				walk(tag, v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(fmt.Sprintf("%s.%d", name, i), v.Index(i))
			}
		case reflect.Map:
			for _, k := range v.MapKeys() {
				walk(name+"."+k.String(), v.MapIndex(k))
			}
		default:
			out[name] = v.Interface()
		}
	}
	return walk
}

// same compares two figures. Floating-point ones may differ by 1e-9 of their size, because
// processors differ in whether they fuse a multiplication and an addition.
func same(a, b any) bool {
	x, ok := a.(float64)
	y, alsoOK := b.(float64)
	if !ok || !alsoOK {
		return a == b
	}
	return x == y || math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
