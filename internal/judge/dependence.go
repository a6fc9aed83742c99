package judge

import (
	"fmt"
	"math"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

const (
	// fewestBeyond is how many independent messages must be beyond a percentile for
	// it to be more than about one sample of the system. With that many, the p99 of an
	// exponential tail is known to ±14 % (95 %).
	fewestBeyond = 10
	// manyBeyond is how many messages must be beyond it to distinguish a lack of
	// independent messages from a lack of messages.
	manyBeyond = 3 * fewestBeyond
)

// effective returns how many independent messages would give the primary metric's p50
// and p99 the same precision. It is nil where that is unknown: the run has too few
// intervals, refused or unresolved messages reach p99, or no p99 is published.
func effective(run *result.Run, s *result.Summary) *result.EffectiveSampleSize {
	if s.Steady == nil {
		return nil
	}
	m := s.Steady.Metric
	d := s.Histograms[m]
	p50, ok50 := d.At("50")
	p99, ok99 := d.At("99")
	blocks, _ := run.Blocks(m)
	if blocks == nil || !ok50 || !ok99 || p99.AtLeast || p99.Refused {
		return nil
	}
	x := &result.EffectiveSampleSize{Metric: m}
	for _, f := range []struct {
		value int64
		size  *float64
	}{{p50.Value, &x.P50}, {p99.Value, &x.P99}} {
		size, ok := stats.EffectiveSize(blockCounts(blocks), histograms.BlockValueOf(f.value))
		if !ok {
			return nil
		}
		*f.size = math.Min(size, float64(d.Samples))
	}
	return x
}

// dependence: successive messages are alike for so long, as near a broker's capacity,
// that the run is hardly more than one sample of the system at its load, however many
// messages it has. Its intervals by messages are then too narrow, and another run gives
// other figures. This is a note, because the figures did occur. It is left out where the
// run is disturbed or its backlog grows, which says the same.
func dependence(e *evidence) []result.Reason {
	x := e.summary.EffectiveSampleSize
	if x == nil || e.run.Header.Mode == result.ModeFlatOut || len(e.acts) > 0 || e.disturbed() || len(backlogGrows(e)) > 0 {
		return nil
	}
	d := e.summary.Histograms[x.Metric]
	beyond := x.P99 * 0.01
	if stats.Exceedances(d.Samples, 0.99) < manyBeyond || beyond >= fewestBeyond {
		return nil
	}
	percentile, what := result.P99, "p99 and the percentiles above it are"
	if x.P50*0.5 < fewestBeyond {
		percentile, what = result.P50, "the percentiles are"
	}
	return []result.Reason{{Status: result.Valid, Code: result.ReasonOneSample, Metric: x.Metric, Percentile: percentile,
		Found: fmt.Sprintf("%s: slow messages come in bursts: for p99 the run's %s are worth about %s independent ones; %s beyond it (at least %d are needed)",
			x.Metric, spell.Plural(d.Samples, timed(x.Metric)), spell.Count(int64(math.Round(x.P99))), lie(beyond), fewestBeyond),
		Means: what + " hardly more than one sample of the system at this load, and the interval by messages is too narrow",
		Try:   fmt.Sprintf("run %s times as long (--duration), or repeat the run (--repeat 10)", spell.Count(int64(math.Ceil(fewestBeyond/beyond))))}}
}

// lie writes how many messages lie beyond a value.
func lie(n float64) string {
	if n < 0.95 {
		return "less than one lies"
	}
	if n < 1.5 {
		return "1 lies"
	}
	return spell.Count(int64(math.Round(n))) + " lie"
}
