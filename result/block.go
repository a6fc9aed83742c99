package result

import (
	"math"
	"slices"
	"sort"
	"strings"

	"sixnines/internal/loglinear"
)

// maxBlocks bounds the blocks of a run: when there would be more, each two become
// one. So a run of a week has as many as one of nine minutes, and takes a few
// megabytes for them.
const maxBlocks = 512

// Block is what one metric had in one stretch of the measured window: in an
// interval or, in long runs, in 2, 4, 8, … of them. What was resolved after the
// window belongs to the last. It is a histogram for resampling, coarser than the
// interval's: see [BlockValues].
type Block struct {
	count   int64
	buckets []uint16 // in order, those with values
	counts  []uint32 // of each
	above   []int64  // from each on; computed when it is first asked for
}

// BlockValues is how many values of a block's grid there are. Value v of the grid
// stands for those in (BlockValue(v−1), BlockValue(v)]: 1/256 of an octave, or
// 0.3 %, for the slowest tenth of an interval; of the others only 64 in an octave
// are used, of 1 % each.
const BlockValues = (63 - blockBits + 1) << blockBits

const (
	blockBits = 8
	bodyBits  = 6 // of what is not in the slowest tenth
)

// BlockValue returns the largest ns that value v of the grid stands for.
func BlockValue(v int) int64 {
	return loglinear.Grid(blockBits).Ceiling(v)
}

// blockValueOf returns the value of the grid that stands for ns.
func blockValueOf(ns int64) int {
	return loglinear.Grid(blockBits).Index(max(ns, 0))
}

// CoarseValue returns the least value of the grid that v of a block may stand
// for: v itself, or the first of those that are one in what is not in the slowest
// tenth.
func CoarseValue(v int) int {
	const low = 1<<(blockBits-bodyBits) - 1
	if v >= 1<<blockBits && v&low == low {
		return v &^ low
	}
	return v
}

// Count returns how many values the block has.
func (b *Block) Count() int64 { return b.count }

// Above returns how many of them are above value v of the grid. It is not safe
// for concurrent use.
func (b *Block) Above(v int) int64 {
	if b.above == nil {
		b.above = make([]int64, len(b.buckets)+1)
		for i := len(b.counts) - 1; i >= 0; i-- {
			b.above[i] = b.above[i+1] + int64(b.counts[i])
		}
	}
	return b.above[sort.Search(len(b.buckets), func(i int) bool { return int(b.buckets[i]) > v })]
}

// Quantile returns the q-quantile of the block by nearest rank, 0 < q ≤ 1, ns; 0
// if it has no values.
func (b *Block) Quantile(q float64) int64 {
	rank := int64(math.Ceil(q * float64(b.count)))
	for i, n := range b.counts {
		if rank -= int64(n); rank <= 0 {
			return BlockValue(int(b.buckets[i]))
		}
	}
	return 0
}

// JoinBlocks returns blocks as one. They are not changed.
func JoinBlocks(blocks []Block) Block {
	switch n := len(blocks); n {
	case 0:
		return Block{}
	case 1:
		return blocks[0]
	default:
		return join(JoinBlocks(blocks[:n/2]), JoinBlocks(blocks[n/2:]))
	}
}

// blockOf makes a block of an interval's values, fine with the whole grid also
// for those that are not among the slowest.
func blockOf(x *RankIndex, fine bool) Block {
	body := x.Count() - x.Count()/10
	if fine {
		body = 0
	}
	b := Block{count: x.Count()}
	var before int64
	for i, upTo := range x.cumulative {
		v := blockValueOf(x.high[i])
		if upTo <= body && v >= 1<<blockBits {
			v |= 1<<(blockBits-bodyBits) - 1 // up to the next of the 64: never better than it was
		}
		b.put(uint16(v), upTo-before)
		before = upTo
	}
	return b
}

// With returns the block with n values of ns more.
func (b Block) With(ns, n int64) Block {
	more := Block{count: n}
	more.put(uint16(blockValueOf(ns)), n)
	return join(b, more)
}

// put adds values at the end or in the last bucket.
func (b *Block) put(v uint16, n int64) {
	last := len(b.buckets) - 1
	if last >= 0 && v <= b.buckets[last] {
		b.counts[last] = saturated(int64(b.counts[last]) + n)
		return
	}
	b.buckets, b.counts = append(b.buckets, v), append(b.counts, saturated(n))
}

func saturated(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// join returns both blocks as one.
func join(a, b Block) Block {
	if a.count == 0 {
		return b
	}
	if b.count == 0 {
		return a
	}
	sum := Block{count: a.count + b.count,
		buckets: make([]uint16, 0, len(a.buckets)+len(b.buckets)), counts: make([]uint32, 0, len(a.buckets)+len(b.buckets))}
	for i, k := 0, 0; i < len(a.buckets) || k < len(b.buckets); {
		if k == len(b.buckets) || i < len(a.buckets) && a.buckets[i] <= b.buckets[k] {
			sum.put(a.buckets[i], int64(a.counts[i]))
			i++
			continue
		}
		sum.put(b.buckets[k], int64(b.counts[k]))
		k++
	}
	sum.buckets, sum.counts = slices.Clip(sum.buckets), slices.Clip(sum.counts)
	return sum
}

// blocked reports whether a metric's blocks are kept: those that objectives may be about.
func (m Metric) blocked() bool {
	switch m {
	case PublishService, DeliveryService, RoundTripService, LagOwn, LagBlocked:
		return true
	}
	return m.IsResponse()
}

// addBlocks puts an interval's values into their blocks.
func (r *Run) addBlocks(phase string, shares map[Metric]values) {
	if r.perBlock == 0 {
		r.perBlock = 1
	}
	if phase == PhaseMeasure {
		r.measured++
	}
	if r.measured == 0 {
		return
	}
	if (r.measured-1)/r.perBlock == maxBlocks {
		r.perBlock *= 2
		for _, x := range r.Metrics {
			for i := 0; i < len(x.blocks); i += 2 {
				b := x.blocks[i]
				if i+1 < len(x.blocks) {
					b = join(b, x.blocks[i+1])
				}
				x.blocks[i/2] = b
			}
			half := (len(x.blocks) + 1) / 2
			clear(x.blocks[half:])
			x.blocks = x.blocks[:half]
		}
	}
	at := (r.measured - 1) / r.perBlock
	for m, v := range shares {
		if !m.blocked() {
			continue
		}
		x := r.Metrics[m]
		for len(x.blocks) <= at {
			x.blocks = append(x.blocks, Block{})
		}
		// What is waited for has to be known better than to a sixteenth.
		waited, _, _ := strings.Cut(r.Header.Until, " ")
		x.blocks[at] = join(x.blocks[at], blockOf(v.index, string(m) == waited))
	}
}

// Blocks returns a metric's blocks in order of time, all of the same number of
// intervals but the last, which may have fewer; and that number. It is nil for
// metrics of which they are not kept: all but response and service times, and the lags of
// the schedule.
func (r *Run) Blocks(m Metric) (blocks []Block, intervals int) {
	x := r.Metrics[m]
	if x == nil || !m.blocked() || r.measured == 0 {
		return nil, 0
	}
	n := (r.measured-1)/r.perBlock + 1
	return append(slices.Clip(x.blocks), make([]Block, n-len(x.blocks))...), r.perBlock
}
