package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// Number is a figure. It may lie behind every number: +∞ of a latency, 0 of a throughput. JSON has null
// where it is not finite.
type Number float64

// Beyond reports whether a figure of this name lies behind every number.
func (n Number) Beyond(name string) bool {
	return name == Throughput && n == 0 || name != Throughput && math.IsInf(float64(n), 1)
}

// MarshalJSON writes null for what is not finite.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsInf(v, 0) && !math.IsNaN(v) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// behind is the figure of this name that ranks behind every number.
func behind(name string) float64 {
	if name == Throughput {
		return 0
	}
	return math.Inf(1)
}

// unfit returns why no figure of a run shows anything; empty: they may.
func unfit(r *result.Run) string {
	switch s := r.Summary; {
	case s == nil || s.Interrupted || s.Aborted:
		return "ended early"
	case s.Verdict.Status == result.Invalid:
		return "INVALID"
	case s.Verdict.Status != result.Unstable:
		for _, x := range s.Verdict.Reasons {
			if x.Status == result.Suspect && x.Metric == "" && x.Percentile == "" {
				return "SUSPECT: " + x.Short()
			}
		}
	}
	return ""
}

// figure sets a figure of the group from all of its runs.
func (g *Group) figure(runs []*result.Run, m result.Metric, name string) {
	var values []float64
	var missing, failed string
	for _, r := range runs {
		v, word, ok := valueOf(r, m, name)
		switch {
		case !ok:
			missing = cmp.Or(missing, word)
		case word != "":
			failed = cmp.Or(failed, word)
		}
		if ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		g.Words[name] = missing
		return
	}
	v := Number(stats.Median(values))
	if g.Values[name] = v; v.Beyond(name) {
		g.Words[name] = failed
	}
}

// valueOf is a figure of a run, and a word for one that ranks behind every number. Where it is not ok the run
// shows nothing of the figure, and the word says why.
func valueOf(r *result.Run, m result.Metric, name string) (v float64, word string, ok bool) {
	if why := unfit(r); why != "" {
		return 0, why, false
	}
	s := r.Summary
	if s.Verdict.Status == result.Unstable {
		return behind(name), s.Verdict.String(), true
	}
	if name == Throughput {
		switch t := s.Throughput; {
		case t == nil, t.Needs > 0 && s.Counters.Sent < t.Needs:
			return 0, "too few messages", false
		case t.Needs > 0, t.PerSecond <= 0:
			return behind(name), fmt.Sprintf("%s of %s sent", spell.Count(t.Messages), spell.Count(s.Counters.Sent)), true
		default:
			return t.PerSecond, "", true
		}
	}
	f, supported := s.Histograms[m].At(result.Percentile(name))
	switch {
	case s.Verdict.Limit(m).Of(result.Percentile(name)) == result.Invalid:
		return 0, "INVALID", false
	case supported && f.Refused:
		return behind(name), "refused", true
	case supported && f.AtLeast:
		return behind(name), "≥ " + spell.Duration(f.Value), true
	case !supported, f.Value <= 0:
		return 0, "not measured", false
	}
	return float64(f.Value), "", true
}
