package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sixnines/internal/hunttest"
)

// sortedBlocks are blocks of values of a grid, each in order.
type sortedBlocks [][]int32

func (b sortedBlocks) Len() int          { return len(b) }
func (b sortedBlocks) Count(i int) int64 { return int64(len(b[i])) }
func (b sortedBlocks) Above(i, v int) int64 {
	k, _ := slices.BinarySearch(b[i], int32(v)+1)
	return int64(len(b[i]) - k)
}

// all are the values of all blocks, in order.
func (b sortedBlocks) all() []int32 {
	var counts [simulatedGrid]int
	n := 0
	for _, values := range b {
		n += len(values)
		for _, v := range values {
			counts[v]++
		}
	}
	all := make([]int32, 0, n)
	for v, k := range counts {
		for range k {
			all = append(all, int32(v))
		}
	}
	return all
}

const (
	simulatedGrid = 4000
	simulatedPer  = 200 // values in a block
)

// system is a source of blocks: normal values on the grid about a level that
// wanders from block to block with so much scatter and memory, and bursts in some
// of them.
type system struct{ memory, scatter, bursts float64 }

func (s system) blocks(rng *rand.Rand, n int) sortedBlocks {
	var all sortedBlocks
	level := rng.NormFloat64()
	for range n {
		level = s.memory*level + math.Sqrt(1-s.memory*s.memory)*rng.NormFloat64()
		burst := rng.Float64() < s.bursts
		b := make([]int32, simulatedPer)
		for k := range b {
			v := 5 + s.scatter*level + 0.4*rng.NormFloat64()
			if burst && rng.Float64() < 0.3 {
				v += 1.5
			}
			b[k] = int32(min(max(v*300, 0), simulatedGrid-1))
		}
		slices.Sort(b)
		all = append(all, b)
	}
	return all
}

// length is the chunk length as runs have it taken: by the blocks' shares above
// their quantile p.
func (b sortedBlocks) length(p float64) (int, bool) {
	all := b.all()
	at := int(all[int(p*float64(len(all)))])
	x := make([]float64, len(b))
	for i := range b {
		x[i] = float64(b.Above(i, at))
	}
	return ChunkLength(len(b), 1, Autocorrelation(x))
}

// interval is that of the quantile p which [VarianceFactor] gives: the exact one of as many
// independent values as those of the blocks are worth.
func (b sortedBlocks) interval(p float64) (lo, hi int32, ok bool) {
	all := b.all()
	n, factor := float64(len(all)), 1.0
	ends := []int32{all[int(p*n)]}
	for round := range 3 {
		for _, v := range ends {
			f, memory := VarianceFactor(b, int(v))
			if round == 0 && memory > len(b)/LeastChunks {
				return 0, 0, false
			}
			factor = max(factor, f)
		}
		worth := math.Floor(n / factor)
		l, u, ok := QuantileRanks(int64(worth), p, 0.95)
		if !ok || round == 0 && worth*min(p, 1-p) < 5 {
			return 0, 0, false
		}
		lo, hi = all[int(float64(l-1)/worth*n)], all[min(int(math.Ceil(float64(u)/worth*n)), len(all))-1]
		ends = []int32{lo, hi}
	}
	return lo, hi, true
}

// Nominal 95 %: what the intervals cover, by simulation, where messages are
// independent and where they are not; and how the exact binomial intervals do,
// which take them to be. At least is some three standard deviations below what
// longer simulations had (in the comment).
func TestIntervalsOfBlocksCover(t *testing.T) {
	trials := hunttest.Cases(t, 40, 400)
	slack := 3.5 * math.Sqrt(0.09/float64(trials))
	for _, tt := range []struct {
		name          string
		system        system
		n             int
		p             float64
		covers        float64 // in 400 runs, or more
		binomialBelow float64 // what the exact intervals do not reach
	}{
		{"independent", system{}, 120, 0.99, 0.970, 1.01},
		{"independent, far out", system{}, 120, 0.999, 0.960, 1.01},
		{"levels that wander", system{0, 0.2, 0}, 120, 0.99, 0.95, 0.75},
		{"levels that wander and remember", system{0.5, 0.2, 0}, 120, 0.99, 0.95, 0.65},
		{"levels that remember for long", system{0.8, 0.2, 0}, 300, 0.99, 0.94, 0.5},
		{"the middle of independent", system{}, 120, 0.5, 0.960, 1.01},
		{"the middle of levels that wander", system{0, 0.2, 0}, 120, 0.5, 0.95, 0.75},
		{"the middle of levels that wander and remember", system{0.5, 0.2, 0}, 120, 0.5, 0.95, 0.65},
		{"the middle of levels that remember for long", system{0.8, 0.2, 0}, 300, 0.5, 0.94, 0.5},
		{"p95 of levels that wander", system{0, 0.2, 0}, 120, 0.95, 0.95, 0.75},
		{"p95 of levels that remember for long", system{0.8, 0.2, 0}, 300, 0.95, 0.94, 0.5},
		{"p95 of bursts in every fifth block", system{0, 0, 0.2}, 120, 0.95, 0.95, 0.7},
		{"a burst in every fifth block", system{0, 0, 0.2}, 120, 0.99, 0.95, 0.7},
	} {
		rng := rand.New(rand.NewPCG(9, uint64(tt.n)))
		population := tt.system.blocks(rng, 3000).all()
		truth := population[int(tt.p*float64(len(population)))]
		hits, binomial, tried := 0, 0, 0
		var width, exact float64
		for range trials {
			b := tt.system.blocks(rng, tt.n)
			lo, hi, ok := b.interval(tt.p)
			if !ok {
				continue
			}
			tried++
			all := b.all()
			l, u, _ := QuantileRanks(int64(len(all)), tt.p, 0.95)
			if lo <= truth && truth <= hi {
				hits++
			}
			if all[l-1] <= truth && truth <= all[u-1] {
				binomial++
			}
			width, exact = width+float64(hi-lo), exact+float64(all[u-1]-all[l-1])
		}
		got, theirs := float64(hits)/float64(tried), float64(binomial)/float64(tried)
		t.Logf("%s: %.3f of %d covered, by the binomial %.3f; %.2f times as wide", tt.name, got, tried, theirs, width/exact)
		if tried < trials/2 || got < tt.covers-slack {
			t.Errorf("%s: %.3f of %d covered, want about %.3f", tt.name, got, tried, tt.covers)
		}
		if theirs > tt.binomialBelow {
			t.Errorf("%s: the binomial covers %.3f, this proves nothing", tt.name, theirs)
		}
		switch ratio := width / exact; {
		case tt.system == system{} && (ratio < 0.8 || ratio > 1.7):
			t.Errorf("%s: %.2f times as wide as the exact interval", tt.name, ratio)
		case tt.system != system{} && ratio < 1.3:
			t.Errorf("%s: no more than %.2f times as wide as if messages were independent", tt.name, ratio)
		}
	}
}

func TestChunkLength(t *testing.T) {
	for _, tt := range []struct {
		n, burst int
		rho      float64
		want     int
		ok       bool
	}{
		{60, 0, 0, 4, true}, {60, 6, 0, 6, true}, {60, 7, 0, 7, false}, {512, 0, -0.5, 8, true},
		{512, 0, 0.8, 25, true}, {60, 0, 0.99, 96, false}, {9, 0, 0, 2, false}, {1000, 0, 0.3, 10, true},
	} {
		if got, ok := ChunkLength(tt.n, tt.burst, tt.rho); got != tt.want || ok != tt.ok {
			t.Errorf("%+v: %d, %v", tt, got, ok)
		}
	}
}

func TestAutocorrelation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x := make([]float64, 5000)
	for i := 1; i < len(x); i++ {
		x[i] = 0.6*x[i-1] + rng.NormFloat64()
	}
	if got := Autocorrelation(x); math.Abs(got-0.6) > 0.04 {
		t.Errorf("%v of a series with 0.6", got)
	}
	for _, constant := range []float64{0, 0.1, 1.0 / 3} { // their mean is not always exact
		if got := Autocorrelation(slices.Repeat([]float64{constant}, 60)); got != 0 {
			t.Errorf("%v of a constant %v", got, constant)
		}
	}
	if got := Autocorrelation([]float64{1, -1, 1, -1}); math.Abs(got+0.75) > 1e-12 {
		t.Errorf("%v of one that alternates, want −3/4", got)
	}
}
