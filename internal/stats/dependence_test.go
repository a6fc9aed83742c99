package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The variance that follows from the effective size is that which the shares
// beyond the quantile have over many runs: of independent values, of levels that
// remember, and of a queue at nine tenths of its server's rate.
func TestEffectiveSizeIsTheVariance(t *testing.T) {
	const runs, blocks, p = 200, 120, 0.9
	queue := func(rng *rand.Rand) (all sortedBlocks) {
		wait := 0.0
		for range blocks {
			b := make([]int32, simulatedPer)
			for k := range b {
				wait = max(0, wait+0.9*rng.ExpFloat64()-rng.ExpFloat64())
				b[k] = int32(min(wait*50, simulatedGrid-1))
			}
			slices.Sort(b)
			all = append(all, b)
		}
		return all
	}
	for name, tt := range map[string]struct {
		of   func(rng *rand.Rand) sortedBlocks
		most float64 // size, as a share of the values
	}{
		"independent": {func(rng *rand.Rand) sortedBlocks { return system{0, 0, 0}.blocks(rng, blocks) }, 1},
		"levels that remember": {func(rng *rand.Rand) sortedBlocks {
			return system{0.8, 0.5, 0}.blocks(rng, blocks)
		}, 0.05},
		"a queue": {queue, 0.05},
	} {
		rng := rand.New(rand.NewPCG(11, 3))
		var samples []sortedBlocks
		var everything sortedBlocks
		for range runs {
			b := tt.of(rng)
			samples = append(samples, b)
			everything = append(everything, b...)
		}
		all := everything.all()
		v := int(all[int(p*float64(len(all)))])
		q, variance, claimed, n := 0.0, 0.0, 0.0, float64(blocks*simulatedPer)
		shares := make([]float64, runs)
		for i, b := range samples {
			for k := range b {
				shares[i] += float64(b.Above(k, v)) / n
			}
			q += shares[i] / runs
		}
		for i, b := range samples {
			size, ok := EffectiveSize(b, v)
			if !ok || size <= 0 || size > n {
				t.Fatalf("%s: %g, %v", name, size, ok)
			}
			claimed += q * (1 - q) / size / runs
			variance += (shares[i] - q) * (shares[i] - q) / (runs - 1)
		}
		t.Logf("%s: of %.0f values worth %.0f, said to be worth %.0f", name, n, q*(1-q)/variance, q*(1-q)/claimed)
		if ratio := claimed / variance; ratio < 0.6 || ratio > 1.6 {
			t.Errorf("%s: the variance is %g, said to be %g", name, variance, claimed)
		}
		if share := q * (1 - q) / claimed / n; share > tt.most || tt.most == 1 && share < 0.6 {
			t.Errorf("%s: worth %g of its number", name, share)
		}
	}
}

func TestNoEffectiveSize(t *testing.T) {
	b := system{0, 0, 0}.blocks(rand.New(rand.NewPCG(1, 1)), 2*LeastChunks)
	for name, tt := range map[string]struct {
		b Blocks
		v int
	}{"few": {b[1:], 1500}, "all above": {b, -1}, "none above": {b, math.MaxInt32}, "empty": {make(sortedBlocks, 30), 5}} {
		if size, ok := EffectiveSize(tt.b, tt.v); ok {
			t.Errorf("%s: %g", name, size)
		}
	}
	if size, ok := EffectiveSize(b, 1500); !ok || size < 1000 {
		t.Errorf("%g, %v", size, ok)
	}
}
