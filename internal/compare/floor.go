package compare

import (
	"fmt"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// floorChange is the least ratio of two noise floors that is reported: floors
// themselves vary by some per cent.
const floorChange = 1.25

// floors compares the noise floors in the runs' headers, at p50 and p99, metric by metric. It
// stops at the first metric that differs, or whose floor only one set has.
func floors(sets [2][]run) []Difference {
	var out []Difference
	for _, m := range result.Metrics() {
		for _, p := range []result.Percentile{result.P50, result.P99} {
			var v [2]float64
			for i := range sets {
				v[i] = floorOf(sets[i], m, p)
			}
			if (v[0] > 0) != (v[1] > 0) {
				text := [2]string{"not known", "not known"}
				for i := range v {
					if v[i] > 0 {
						text[i] = "known"
					}
				}
				return []Difference{{What: "noise floor", A: text[0], B: text[1], Weight: Small, Why: "the noise floor of one set was not measured"}}
			}
			if v[0] > 0 && (v[0] > floorChange*v[1] || v[1] > floorChange*v[0]) {
				out = append(out, Difference{What: fmt.Sprintf("noise floor, %s p%s", m, p), A: spell.Nanoseconds(v[0]), B: spell.Nanoseconds(v[1]), Weight: Large, Why: whyFloor})
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// floorOf returns the median, ns, of the noise floors in the runs' headers; 0 if none has one.
func floorOf(runs []run, m result.Metric, p result.Percentile) float64 {
	var all []float64
	for _, r := range runs {
		if f := r.Header.Floor; f != nil && f.Percentiles[m][p] > 0 {
			all = append(all, float64(f.Percentiles[m][p]))
		}
	}
	if len(all) == 0 {
		return 0
	}
	return stats.Median(all)
}
