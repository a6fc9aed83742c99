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
	// leastBlocks is how many blocks a run must have for an interval by stretches of the
	// run: in simulation, 95 % intervals from 30 blocks cover no more than 75 % where
	// bursts are rare.
	leastBlocks = 60
	// longestPart is the part of the run above which an episode cannot be distinguished
	// from the run's level, because it occurs only once.
	longestPart = 0.1
	// leastBeyond is how many independent messages must be beyond a percentile (below it, if
	// it is below the median) for their dependence to be estimated.
	leastBeyond = 5
)

// blockCounts are the blocks of a metric in the form that statistics take.
type blockCounts []result.Block

func (b blockCounts) Len() int                 { return len(b) }
func (b blockCounts) Count(i int) int64        { return b[i].Count() }
func (b blockCounts) Above(i int, v int) int64 { return b[i].Above(histograms.BlockValue(v)) }

// sumOf returns the sum of blocks and does not change them.
func sumOf(blocks []result.Block) result.Block {
	switch n := len(blocks); n {
	case 0:
		return result.Block{}
	case 1:
		return blocks[0]
	default:
		return sumOf(blocks[:n/2]).Join(sumOf(blocks[n/2:]))
	}
}

// unresolvedReach and refusedReach say why an interval has no upper end.
const (
	unresolvedReach = "unresolved messages reach its interval"
	refusedReach    = "refused messages reach its interval"
)

// setBlocks sets the intervals of a distribution that come from stretches of the run instead of
// from single messages, or the reason why one is missing, see [blockCounts.interval].
func setBlocks(d *result.Distribution, m result.Metric, run *result.Run, in Inputs) {
	blocks, _ := run.Blocks(m)
	if blocks == nil {
		return
	}
	b, x := blockCounts(blocks), run.Metrics[m]
	o := newOrder(x)
	for name, f := range d.All() {
		q := quantile{value: f.Value, atLeast: f.AtLeast, refused: f.Refused}
		w, na := b.interval(percentOf(name), q, x, o, d.Samples, in.End, run.Header.Slot)
		switch {
		case na != "":
			f.BlocksNA = na
		case w.openRefused:
			f.BlocksNA = refusedReach
		case w.open:
			f.BlocksNA = unresolvedReach
		default:
			f.Blocks = w.bounds()
		}
		d.Figures[name] = f
	}
}

// blockInterval returns the interval, from stretches of the run, of any percentile of a metric
// whose figure is q. na says why it is missing.
func blockInterval(run *result.Run, m result.Metric, percent float64, samples int64, o *order, q quantile, end int64) (w quantile, na string) {
	blocks, _ := run.Blocks(m)
	if blocks == nil {
		return w, "the file keeps no intervals of this metric"
	}
	return blockCounts(blocks).interval(percent, q, run.Metrics[m], o, samples, end, run.Header.Slot)
}

// interval returns the interval of the percentile whose figure is q; na says why it is missing.
// It is the exact interval for the effective number of independent messages: samples divided
// by the largest [stats.VarianceFactor] at the figure and at both ends of the interval.
//
// In simulation (TestIntervalsCover) a 95 % interval covers at least 93 % where messages
// depend on each other for up to a tenth of the run and several events are behind the tail.
// The exact interval of all messages covers 97 % where they are independent, and as little as
// 20 % where they are not.
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
			return w, fmt.Sprintf("messages depend on each other: %s are worth about %s independent ones; %s beyond it (at least %d are needed): run longer", spell.Plural(samples, "message"), spell.Count(worth), lie(beyond), leastBeyond)
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

// resemble says that neighbouring stretches of the run are alike for too long; lasts is in ns.
func resemble(lasts float64) string {
	return fmt.Sprintf("neighbouring stretches of up to %s resemble each other, and the run has fewer than %d of them: run longer", span(int64(lasts)), stats.LeastChunks)
}

// chunk returns how many blocks must be taken together so that chunks are nearly independent
// in their number of values above v, the figure of the quantile p; na says why that is
// unknown. rho is the blocks' correlation. Slots show events that are shorter than a block;
// end and slot are in ns. Below p99, exceedances are no events, and only the correlation
// decides.
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

// blockEdges returns the outer edges, ns, of two values of the grid, which may be on the coarse
// grid of blocks.
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

// longestBurst returns the length of the longest sequence of blocks with more values above a
// value than chance gives: more than the expected number, which is share times the block's
// count, plus three standard deviations of a Poisson number, plus one.
func (b blockCounts) longestBurst(at int, share float64) (longest int) {
	n := 0
	for i := range b {
		count := float64(b.Count(i))
		if count == 0 {
			continue // an empty block neither extends a burst nor ends it
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
