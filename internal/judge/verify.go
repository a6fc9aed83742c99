package judge

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Problem is a difference between what a result says and what its records
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

// Verify computes the whole summary of a run again from its intervals and
// returns every figure that differs, in order of their names, nothing if all
// agree. A run that was cut short has no summary to compare with: that is a
// problem too, beside what can be checked of the rest. Reasons of the verdict
// are compared by what they find, not by their words, which versions may
// change.
func Verify(run *result.Run) []Problem {
	var found []Problem
	add := func(where, format string, a ...any) {
		found = append(found, Problem{where, fmt.Sprintf(format, a...)})
	}
	in := InputsOf(run)
	if run.Damaged != "" {
		add("file", "damaged at its end: %s", run.Damaged)
	}
	for _, m := range slices.Sorted(maps.Keys(run.Metrics)) {
		if text := extremes(run.Metrics[m]); text != "" {
			add("metrics."+string(m), "%s", text)
		}
	}
	found = append(found, contradictions(run)...)
	if run.Summary == nil {
		add("file", "cut short after %s of %s: there is no summary to compare with", wholeSeconds(in.End), spell.Period(run.Header.Window))
		return found
	}
	if ok, text := run.Counters.Conserved(); !ok {
		add("counters", "the message counts do not add up: %s", text)
	}
	differ := compareSummary(run, in)
	if in.stopsInvalidate = true; len(differ) > 0 && len(compareSummary(run, in)) == 0 {
		return found // written by an earlier version
	}
	return append(found, differ...)
}

// compareSummary returns what differs between a run's summary and what its records yield.
func compareSummary(run *result.Run, in Inputs) (found []Problem) {
	add := func(where, format string, a ...any) {
		found = append(found, Problem{where, fmt.Sprintf(format, a...)})
	}
	again := Summarise(run, in)
	// Parts that earlier versions did not have.
	if run.Summary.Availability == nil {
		again.Availability = nil
	}
	if run.Summary.Effective == nil {
		again.Effective = nil
		again.Verdict.Reasons = slices.DeleteFunc(again.Verdict.Reasons, func(r result.Reason) bool { return r.Code == codeOneSample })
	}
	got, want := flatten(run.Summary), flatten(again)
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
	return found
}

// extremes checks the exact extremes of a metric against its histogram.
func extremes(x *result.Merged) string {
	if count(x) == 0 {
		return ""
	}
	i := result.NewRankIndex(x.Hist)
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

// flatten names every figure of a summary by its path.
func flatten(s *result.Summary) map[string]any {
	out := map[string]any{}
	walk := walker(out)
	walk("counters", reflect.ValueOf(s.Counters))
	walk("rate", reflect.ValueOf(s.Rate))
	walk("histograms", reflect.ValueOf(s.Histograms))
	walk("availability", reflect.ValueOf(s.Availability))
	walk("steady", reflect.ValueOf(s.Steady))
	walk("effective", reflect.ValueOf(s.Effective))
	walk("until", reflect.ValueOf(s.Until))
	walk("kept", reflect.ValueOf(s.Kept))
	for i, a := range s.Attribution {
		where := fmt.Sprintf("attribution.%d.", i)
		out[where+"metric"], out[where+"messages"], out[where+"from"], out[where+"unexplained"] = a.Metric, a.Messages, a.From, a.Unexplained
		for n, c := range a.Causes {
			walk(fmt.Sprintf("%scauses.%d", where, n), reflect.ValueOf(c))
		}
	}
	for i, o := range s.Objectives {
		walk(fmt.Sprintf("objectives.%d", i), reflect.ValueOf(o))
	}
	// Words may change with versions, figures may not.
	maps.DeleteFunc(out, func(name string, _ any) bool {
		return strings.HasSuffix(name, ".text") || strings.HasSuffix(name, ".found")
	})
	for name, why := range out {
		if (strings.Contains(name, ".blocks_na.") || name == "until.independent") && why != "" {
			out[name] = notKnown
		}
	}
	out["end"], out["resolved"], out["interrupted"] = s.End, s.Resolved, s.Interrupted
	out["verdict.status"], out["verdict.valid_to"] = s.Verdict.Status, s.Verdict.ValidTo
	for _, l := range s.Verdict.Limits {
		out["verdict.limits."+string(l.Metric)] = l.From
		if l.InvalidFrom != "" {
			out["verdict.limits."+string(l.Metric)+".invalid_from"] = l.InvalidFrom
		}
	}
	for _, r := range s.Verdict.Reasons {
		parts := []string{"verdict.reasons", r.Code}
		if r.Metric != "" {
			parts = append(parts, string(r.Metric))
		}
		if r.Percentile != "" {
			parts = append(parts, r.Percentile)
		}
		out[strings.Join(parts, ".")] = r.Status
	}
	return out
}

// notKnown stands for why an interval is not known, in whatever words.
const notKnown = "n/a"

// walker returns a function that adds the leaves below a value. Names are those
// of the JSON form.
func walker(out map[string]any) func(name string, v reflect.Value) {
	var walk func(name string, v reflect.Value)
	walk = func(name string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(name, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
				walk(name+"."+tag, v.Field(i))
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

// same compares two figures. Floating-point ones may differ in the last digits,
// for processors differ in whether they fuse a multiplication and an addition.
func same(a, b any) bool {
	x, ok := a.(float64)
	y, alsoOK := b.(float64)
	if !ok || !alsoOK {
		return a == b
	}
	return x == y || math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
