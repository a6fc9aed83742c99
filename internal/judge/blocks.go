package judge

import (
	"fmt"
	"math"
	"time"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

const (
	// leastBlocks is how many intervals a run must have for its stretches to be
	// told apart: in simulation the intervals of 30 cover no more than three
	// quarters where bursts are rare.
	leastBlocks = 60
	// longestPart is the part of the run above which one episode cannot be
	// told apart from its level: there is only one such episode.
	longestPart = 0.1
	// leastBeyond is how many independent messages must be beyond a percentile, or for
	// one below the median below it, for how much they depend on each other to be known.
	leastBeyond = 5
)

// blockCounts are the blocks of a metric in the form that statistics take.
type blockCounts []histograms.Block

func (b blockCounts) Len() int                 { return len(b) }
func (b blockCounts) Count(i int) int64        { return b[i].Count() }
func (b blockCounts) Above(i int, v int) int64 { return b[i].Above(v) }

// unresolvedReach and refusedReach are why an interval has no end.
const (
	unresolvedReach = "unresolved messages reach its interval"
	refusedReach    = "refused messages reach its interval"
)

// setBlocks gives a distribution the intervals by stretches of the run instead of by
// messages, or why there are none, see [blockCounts.interval].
func setBlocks(d *result.Distribution, m result.Metric, run *result.Run, in Inputs) {
	blocks, _ := run.Blocks(m)
	if blocks == nil {
		return
	}
	b, x := blockCounts(blocks), run.Metrics[m]
	o := newOrder(x)
	for _, name := range result.Percentiles() {
		v, ok := d.Percentiles[name]
		if !ok {
			continue
		}
		q := quantile{value: v, atLeast: d.AtLeast[name], refused: d.Refused[name]}
		w, na := b.interval(percentOf(name), q, x, o, d.Samples, in.End, run.Header.Slot)
		switch {
		case na != "":
			set(&d.BlocksNA, name, na)
		case w.openRefused:
			set(&d.BlocksNA, name, refusedReach)
		case w.open:
			set(&d.BlocksNA, name, unresolvedReach)
		default:
			set(&d.Blocks, name, [2]int64{w.low, w.high})
		}
	}
}

// blockInterval is the interval from stretches of the run of any percentile of a
// metric, whose figure is q, or why there is none.
func blockInterval(run *result.Run, m result.Metric, percent float64, samples int64, o *order, q quantile, end int64) (w quantile, na string) {
	blocks, _ := run.Blocks(m)
	if blocks == nil {
		return w, "the file keeps no intervals of this metric"
	}
	return blockCounts(blocks).interval(percent, q, run.Metrics[m], o, samples, end, run.Header.Slot)
}

// interval is that of the percentile whose figure is q, or why there is none. It is the
// exact one of as many independent messages as those of the run are worth: their number
// divided by [stats.VarianceFactor], the greatest of those at the figure and at both ends.
//
// At 95 % it covers, in simulation (TestIntervalsCover), 93 % and more where messages
// depend on each other for up to a tenth of the run and the events behind a tail are
// several; the exact one of all messages covers 97 where they are independent, and down
// to 20.
func (b blockCounts) interval(percent float64, q quantile, x *result.Merged, o *order, samples, end int64, slot time.Duration) (w quantile, na string) {
	switch {
	case q.refused:
		return w, "refused messages reach it"
	case q.atLeast:
		return w, "unresolved messages reach it"
	}
	p := stats.Fraction(percent)
	if _, na := b.chunk(p, q.value, 0, x.Slots, end, slot); na != "" {
		return w, na
	}
	factor, ends := 1.0, []int64{q.value}
	for round := range 3 {
		for _, v := range ends {
			f, memory := stats.VarianceFactor(b, histograms.BlockValueOf(v))
			if longest := len(b) / stats.LeastChunks; round == 0 && memory > longest {
				return w, resemble(float64(memory) * float64(end) / float64(len(b)))
			}
			factor = max(factor, f)
		}
		worth := int64(float64(samples) / factor)
		beyond := float64(worth) * min(p, 1-p)
		if w = o.quantile(worth, percent, 0); round == 0 && beyond < leastBeyond || w.support == stats.NotSupported {
			return w, fmt.Sprintf("messages depend on each other: %s count as about %s independent ones, of which %s beyond it (at least %d are needed): run longer", spell.Plural(samples, "message"), spell.Count(worth), lie(beyond), leastBeyond)
		}
		if !w.bounded {
			return w, refusedReach
		}
		w.low, w.high = min(w.low, q.value), max(w.high, q.value)
		if ends = []int64{w.low, w.high}; w.open || w.openRefused {
			ends = ends[:1]
		}
	}
	return w, ""
}

// resemble says that what neighbouring stretches have in common lasts too long, ns.
func resemble(lasts float64) string {
	return fmt.Sprintf("neighbouring stretches of up to %s resemble each other, and the run has fewer than %d of them: run longer", span(int64(lasts)), stats.LeastChunks)
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
		episode = float64(b.longestBurst(histograms.BlockValueOf(v), 1-p)) * length
		if n, noise := longestEpisode(slots, v); !noise && length > float64(slot) {
			episode = max(episode, float64(n)*float64(slot))
		}
		if episode > longestPart*float64(end) {
			return 0, fmt.Sprintf("one event lasted %s, more than a tenth of the run, which leaves too little to resample", span(int64(episode)))
		}
	}
	chunk, ok := stats.ChunkLength(len(b), int(math.Ceil(episode/length)), rho)
	if !ok {
		return 0, resemble(float64(chunk) * length)
	}
	return chunk, ""
}

// blockEdges are the outer edges of two values of the grid, which may be of the
// coarse part of blocks.
func blockEdges(coarse bool, lo, hi int) (low, high int64) {
	if coarse {
		lo = histograms.CoarseValue(lo)
	}
	if lo > 0 {
		low = histograms.BlockValue(lo-1) + 1
	}
	return low, histograms.BlockValue(hi)
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
