package judge

import (
	"fmt"
	"hash/fnv"
	"math"
	"sort"
	"strconv"
	"time"

	"sixnines/internal/stats"
	"sixnines/result"
)

const (
	// leastBlocks is how many intervals a run must have for its stretches to be
	// resampled: in simulation the intervals of 30 cover no more than three
	// quarters where bursts are rare.
	leastBlocks = 60
	// longestPart is the part of the run above which one episode cannot be
	// resampled: there is only one such episode.
	longestPart = 0.1
)

// blockCounts are the blocks of a metric in the form that the bootstrap takes.
type blockCounts []result.Block

func (b blockCounts) Len() int                 { return len(b) }
func (b blockCounts) Count(i int) int64        { return b[i].Count() }
func (b blockCounts) Above(i int, v int) int64 { return b[i].Above(v) }

// unresolvedReach and refusedReach are why an interval has no end.
const (
	unresolvedReach = "unresolved messages reach its interval"
	refusedReach    = "refused messages reach its interval"
)

// setBlocks gives a distribution the intervals of its tails by resampling
// stretches of the run instead of messages, or why there are none. A stretch is
// at least as long as the longest episode beyond the percentile, and as long as
// neighbouring blocks are alike ([stats.ChunkLength]). The same run yields the
// same intervals: the seed is its ID, the metric and the percentile.
//
// At 95 % they cover, in simulation (TestBlockQuantileCovers), 92 to 98 % of the
// time where messages are independent, about 90 where levels wander from second
// to second, and less in short runs with rare bursts; the exact binomial
// intervals cover 97, and down to 20 %.
func setBlocks(d *result.Distribution, m result.Metric, run *result.Run, in Inputs) {
	blocks, _ := run.Blocks(m)
	if blocks == nil {
		return
	}
	b, x := blockCounts(blocks), run.Metrics[m]
	rho := math.NaN()
	for _, name := range result.Percentiles() {
		v, ok := d.Percentiles[name]
		if !ok || percentOf(name) < episodesFrom {
			continue
		}
		if math.IsNaN(rho) { // of the lowest of these percentiles: it has the most values
			rho = stats.Autocorrelation(b.shares(blockValue(v)))
		}
		q := quantile{value: v, atLeast: d.AtLeast[name], refused: d.Refused[name], open: d.Open[name], openRefused: d.OpenRefused[name]}
		low, high, na := b.interval(percentOf(name), q, rho, x, in.End, run.Header.Slot, seedOf(run.Header.ID, m, name))
		if na != "" {
			set(&d.BlocksNA, name, na)
			continue
		}
		set(&d.Blocks, name, [2]int64{max(min(low, v), d.Min), max(min(high, d.Max), v)})
	}
}

// blockInterval is the interval from stretches of the run of any percentile of a
// metric, whose figure is q, or why there is none.
func blockInterval(run *result.Run, m result.Metric, percent float64, samples int64, o *order, q quantile, end int64) (low, high int64, na string) {
	blocks, _ := run.Blocks(m)
	if blocks == nil {
		return 0, 0, "the file keeps no intervals of this metric"
	}
	b, at := blockCounts(blocks), q.value
	if percent > episodesFrom {
		at = o.quantile(samples, episodesFrom, 0).value
	}
	rho := stats.Autocorrelation(b.shares(blockValue(at)))
	return b.interval(percent, q, rho, run.Metrics[m], end, run.Header.Slot, seedOf(run.Header.ID, m, strconv.FormatFloat(percent, 'f', -1, 64)))
}

// interval is that of the percentile whose figure is q, or why there is none.
func (b blockCounts) interval(percent float64, q quantile, rho float64, x *result.Merged, end int64, slot time.Duration, seed uint64) (low, high int64, na string) {
	if q.refused {
		return 0, 0, "refused messages reach it"
	}
	if q.atLeast {
		return 0, 0, "unresolved messages reach it"
	}
	if q.openRefused {
		return 0, 0, refusedReach
	}
	if q.open { // not even the exact interval has an end
		return 0, 0, unresolvedReach
	}
	p := stats.Fraction(percent)
	chunk, na := b.chunk(p, q.value, rho, x.Slots, end, slot)
	if na != "" {
		return 0, 0, na
	}
	lo, hi, ok := stats.BlockQuantile(b, p, confidence, chunk, result.BlockValues, censored(x)+refused(x), seed)
	if !ok && refused(x) > 0 {
		return 0, 0, refusedReach
	}
	if !ok {
		return 0, 0, unresolvedReach
	}
	low, high = blockEdges(percent < episodesFrom, lo, hi)
	return low, high, ""
}

// chunk is how many blocks belong together as far as values above v are concerned,
// the figure of the quantile p, or why that cannot be said. Slots and their length
// show events that are shorter than a block. Below p99 exceedances are no
// events, and only what neighbouring blocks have in common decides.
func (b blockCounts) chunk(p float64, v int64, rho float64, slots []int64, end int64, slot time.Duration) (blocks int, na string) {
	if len(b) < leastBlocks {
		return 0, fmt.Sprintf("the run has %d intervals and needs at least %d: run longer, or set record.interval lower", len(b), leastBlocks)
	}
	length := float64(end) / float64(len(b)) // of a block, ns
	episode := length
	if p >= stats.Fraction(episodesFrom) {
		episode = float64(b.longestBurst(blockValue(v), 1-p)) * length
		if n, noise := longestEpisode(slots, v); !noise {
			episode = max(episode, float64(n)*float64(slot))
		}
		if episode > longestPart*float64(end) {
			return 0, fmt.Sprintf("one event lasted %s, more than a tenth of the run, which leaves too little to resample", span(int64(episode)))
		}
	}
	chunk, ok := stats.ChunkLength(len(b), int(math.Ceil(episode/length)), rho)
	if !ok {
		return 0, fmt.Sprintf("neighbouring stretches of up to %s resemble each other, and the run has fewer than %d of them: run longer", span(int64(float64(chunk)*length)), stats.LeastChunks)
	}
	return chunk, ""
}

// blockEdges are the outer edges of two values of the grid, which may be of the
// coarse part of blocks.
func blockEdges(coarse bool, lo, hi int) (low, high int64) {
	if coarse {
		lo = result.CoarseValue(lo)
	}
	if lo > 0 {
		low = result.BlockValue(lo-1) + 1
	}
	return low, result.BlockValue(hi)
}

// blockValue is the value of the grid that stands for ns.
func blockValue(ns int64) int {
	return sort.Search(result.BlockValues-1, func(v int) bool { return result.BlockValue(v) >= ns })
}

// shares are the parts of the blocks' values that lie above a value.
func (b blockCounts) shares(at int) []float64 {
	x := make([]float64, len(b))
	for i := range b {
		if n := b.Count(i); n > 0 {
			x[i] = float64(b.Above(i, at)) / float64(n)
		}
	}
	return x
}

// longestBurst is the length of the longest run of blocks that have more values
// above a value than a share of so much gives by chance: beyond three standard
// deviations of a Poisson number, and one.
func (b blockCounts) longestBurst(at int, share float64) (longest int) {
	n := 0
	for i := range b {
		count := float64(b.Count(i))
		if count == 0 {
			continue // no part of a burst, and no end of one
		}
		expected := count * share
		if float64(b.Above(i, at)) > expected+3*math.Sqrt(expected)+1 {
			n++
		} else {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// longestEpisode is the number of slots from the first to the last of the
// longest event behind the values above v, see [episodes]. noise says that
// exceedances are everywhere and no events.
func longestEpisode(slots []int64, v int64) (longest int, noise bool) {
	above, filled, from := 0, 0, -1
	for i, s := range slots {
		if s == 0 {
			continue
		}
		filled++
		if s <= v {
			from = -1
			continue
		}
		above++
		if from < 0 {
			from = i
		}
		longest = max(longest, i-from+1)
	}
	return longest, above > filled/2 && filled > 1
}

// seedOf makes a seed of a run's ID, a metric and a percentile.
func seedOf(id string, m result.Metric, percentile string) uint64 {
	h := fnv.New64a()
	for _, s := range []string{id, string(m), percentile} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return h.Sum64()
}
