package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// counts are how many values there are of each of the grid.
type counts [simulatedGrid]int64

// at returns the value of a rank.
func (c *counts) at(rank int64) int {
	for v, n := range c {
		if rank -= n; rank <= 0 {
			return v
		}
	}
	return simulatedGrid - 1
}

// stopped is a simulated run that ended because its interval was narrow enough.
type stopped struct {
	blocks int // of the run
	lo, hi int
	narrow bool // or else all blocks were looked at
}

// untilNarrow looks at a run on a geometric grid, from 60 blocks on, and stops
// when neither end of the interval is farther from the figure than width.
func untilNarrow(b sortedBlocks, p float64, width int, interval func(b sortedBlocks, c *counts, n int64) (lo, hi int, ok bool)) stopped {
	var c counts
	n, at := int64(0), 0
	for look := 60; ; look = min(len(b), look+max(1, look/10)) {
		for ; at < look; at++ {
			for _, v := range b[at] {
				c[v]++
			}
			n += int64(len(b[at]))
		}
		lo, hi, ok := interval(b[:look], &c, n)
		figure := c.at(int64(math.Ceil(p * float64(n))))
		if narrow := ok && hi-figure <= width && figure-lo <= width; narrow || look == len(b) {
			return stopped{look, lo, hi, narrow}
		}
	}
}

// A run that ends when its interval is narrow: how often its last interval contains the quantile,
// nominally 95 %, with independent and with dependent messages; and how often the interval for a
// fixed n contains it if that one ends the run. At least is the documented 93 % less three standard
// deviations.
func TestSequentialIntervalsCoverWhereTheyStop(t *testing.T) {
	trials := 120
	if testing.Short() {
		trials = 30
	}
	slack := 3 * math.Sqrt(0.93*0.07/float64(trials))
	for _, tt := range []struct {
		name         string
		system       system
		p            float64
		width        int // of 300 for what is one unit of the system
		naivelyBelow float64
	}{
		{"independent", system{}, 0.99, 7, 1.01},
		{"independent, the median", system{}, 0.5, 2, 1.01},
		{"levels that wander", system{0, 0.2, 0}, 0.99, 40, 0.8},
		{"levels that wander and remember", system{0.5, 0.2, 0}, 0.99, 60, 0.6},
		{"levels that remember for long", system{0.8, 0.2, 0}, 0.99, 90, 0.5},
		{"the median of levels that remember", system{0.5, 0.2, 0}, 0.5, 40, 0.4},
		{"a burst in every fifth block", system{0, 0, 0.2}, 0.99, 60, 0.8},
	} {
		rng := rand.New(rand.NewPCG(10, uint64(tt.width)))
		population := tt.system.blocks(rng, 20_000).all()
		truth := int(population[int(tt.p*float64(len(population)))])
		covered, naively, narrow, length := 0, 0, 0, 0
		for range trials {
			b := tt.system.blocks(rng, 512)
			s := untilNarrow(b, tt.p, tt.width, func(b sortedBlocks, c *counts, n int64) (int, int, bool) {
				l, u, exact := SequentialRanks(n, tt.p, 0.95)
				chunk, ok := b.length(tt.p)
				if !exact || !ok {
					return 0, simulatedGrid, false
				}
				lo, hi, ok := SequentialBlocks(b, tt.p, 0.95, chunk, simulatedGrid, 0, float64(len(b))/60)
				if !ok {
					return 0, simulatedGrid, false
				}
				return min(lo, c.at(l)), max(hi, c.at(u)), true
			})
			if s.lo <= truth && truth <= s.hi {
				covered++
			}
			if s.narrow {
				narrow++
			}
			length += s.blocks
			s = untilNarrow(b, tt.p, tt.width, func(_ sortedBlocks, c *counts, n int64) (int, int, bool) {
				l, u, ok := QuantileRanks(n, tt.p, 0.95)
				return c.at(l), c.at(u), ok
			})
			if s.lo <= truth && truth <= s.hi {
				naively++
			}
		}
		got, theirs := float64(covered)/float64(trials), float64(naively)/float64(trials)
		t.Logf("%s: %.3f of %d covered, by the interval for one n %.3f; %d narrow enough, after %d blocks in the mean", tt.name, got, trials, theirs, narrow, length/trials)
		if got < 0.93-slack {
			t.Errorf("%s: %.3f covered", tt.name, got)
		}
		if theirs > tt.naivelyBelow {
			t.Errorf("%s: %.3f covered by the interval for one n, this proves nothing", tt.name, theirs)
		}
		if narrow < trials/2 {
			t.Errorf("%s: %d of %d runs ended: this proves little", tt.name, narrow, trials)
		}
	}
}

func TestSequentialBlocks(t *testing.T) {
	b := system{0.3, 0.2, 0}.blocks(rand.New(rand.NewPCG(10, 3)), 120)
	interval := func(conf float64, chunk int, extra int64, age float64) (int, int, bool) {
		return SequentialBlocks(b, 0.99, conf, chunk, simulatedGrid, extra, age)
	}
	lo, hi, ok := interval(0.95, 5, 0, 2)
	if !ok || lo >= hi {
		t.Fatalf("%d to %d, %v", lo, hi, ok)
	}
	if l, h, ok := interval(0.8, 5, 0, 2); !ok || l < lo || h > hi || h-l >= hi-lo {
		t.Errorf("%d to %d at 80 %%, %d to %d at 95 %%", l, h, lo, hi)
	}
	if l, h, ok := SequentialBlocks(b, 0.9, 0.95, 5, simulatedGrid, 0, 2); !ok || l > lo || h > hi {
		t.Errorf("p90 %d to %d, p99 %d to %d", l, h, lo, hi)
	}
	if _, h, ok := interval(0.95, 5, 20, 2); !ok || h <= hi {
		t.Errorf("upper end %d with what never came, %d without", h, hi)
	}
	for name, refused := range map[string]bool{
		"too few stretches":               third(interval(0.95, 13, 0, 2)),
		"looked at before the first look": third(interval(0.95, 5, 0, 0.9)),
		"half of it never came, at once":  third(interval(0.95, 5, 120, 2)),
		"nothing counted":                 third(SequentialBlocks(make(sortedBlocks, 120), 0.99, 0.95, 5, simulatedGrid, 0, 2)),
		"10 stretches show too little":    third(interval(0.95, 12, 0, 1)),
	} {
		if refused {
			t.Errorf("%s: an interval", name)
		}
	}
}

func third(_, _ int, ok bool) bool { return ok }

// A level that only rises has no stable quantile: the interval stays as wide as the rise, however
// long the run, or is missing.
func TestSequentialBlocksOfADrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 4))
	var b sortedBlocks
	for i := range 512 {
		block := system{}.blocks(rng, 1)[0]
		for k := range block {
			block[k] += int32(i) // 300 of 1,780 at p99 in 300 blocks
		}
		b = append(b, block)
	}
	for _, n := range []int{60, 120, 240, 512} {
		chunk, ok := b[:n].length(0.99)
		if !ok {
			continue
		}
		if lo, hi, ok := SequentialBlocks(b[:n], 0.99, 0.95, chunk, simulatedGrid, 0, float64(n)/60); ok && hi-lo < n/3 {
			t.Errorf("after a rise by %d: %d to %d", n, lo, hi)
		}
	}
}
