package histograms

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"sort"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/loglinear"
)

// hdrMaxCounts bounds the counts array that a decoded histogram may ask for:
// 32 MiB of counters. It admits nanoseconds up to four hours at five
// significant digits and every range at four or fewer.
const hdrMaxCounts = 1 << 22

// hdrMaxEncoded bounds the base64 text of one histogram, in bytes. The largest
// honest one, with hdrMaxCounts distinct counters, stays below it.
const hdrMaxEncoded = 32 << 20

// RankIndex answers questions about the order statistics of one histogram. It
// holds the non-empty buckets with their cumulative counts, takes one pass over
// the counts to make, and O(log buckets) to ask. It is a snapshot: immutable,
// safe for concurrent use, and blind to what is recorded later.
type RankIndex struct {
	low, high, cumulative []int64 // one entry for each non-empty bucket, ascending
}

// NewRankIndex prepares the index. The histogram must not be recorded into
// meanwhile.
func NewRankIndex(h *hdrhistogram.Histogram) *RankIndex {
	x := new(RankIndex)
	Visit(h, x.put)
	return x
}

// Visit calls visit with each bucket of h that has values, see [RankIndex.Buckets].
func Visit(h *hdrhistogram.Histogram, visit func(low, high, count int64)) {
	g := hdrGeometryOf(h)
	for i, n := range h.Export().Counts {
		if n > 0 {
			low, high := g.edges(i)
			visit(low, high, n)
		}
	}
}

// Counted is a histogram of whatever type, such as package result's.
type Counted interface {
	// Buckets calls visit with each bucket that has values, in ascending order, see RankIndex.Buckets.
	Buckets(visit func(low, high, n int64))
}

// RanksOf is [NewRankIndex] for histograms of other types.
func RanksOf(h Counted) *RankIndex { return RanksIn(h.Buckets) }

// RanksIn returns the index of the buckets that buckets visits, see [Counted].
func RanksIn(buckets func(visit func(low, high, n int64))) *RankIndex {
	x := new(RankIndex)
	buckets(x.put)
	return x
}

// put adds a bucket above all others.
func (x *RankIndex) put(low, high, n int64) {
	x.low, x.high, x.cumulative = append(x.low, low), append(x.high, high), append(x.cumulative, x.Count()+n)
}

// newRankIndex makes the index of n buckets, which are to be added in ascending order.
func newRankIndex(filled int) *RankIndex {
	edges := make([]int64, 3*filled)
	return &RankIndex{
		low:        edges[:0:filled],
		high:       edges[filled : filled : 2*filled],
		cumulative: edges[2*filled : 2*filled : 3*filled],
	}
}

// add adds counter i of a histogram.
func (x *RankIndex) add(g hdrGeometry, i int, count int64) {
	low, high := g.edges(i)
	x.put(low, high, count)
}

// Buckets calls visit with the edges, both inclusive, and the count of each bucket
// that is not empty, in ascending order.
func (x *RankIndex) Buckets(visit func(low, high, count int64)) {
	var before int64
	for i, upTo := range x.cumulative {
		visit(x.low[i], x.high[i], upTo-before)
		before = upTo
	}
}

// Count returns the number of values.
func (x *RankIndex) Count() int64 {
	if len(x.cumulative) == 0 {
		return 0
	}
	return x.cumulative[len(x.cumulative)-1]
}

// ValueAtRank returns the edges, both inclusive, of the bucket that holds the
// value of the given rank; rank 1 is the smallest value, rank Count the
// largest, and ranks beyond are clamped to these. An interval whose ends are
// order statistics l < u is, on a histogram, the low edge at l to the high edge
// at u. An empty histogram answers 0, 0.
func (x *RankIndex) ValueAtRank(rank int64) (lowEdge, highEdge int64) {
	if len(x.cumulative) == 0 {
		return 0, 0
	}
	rank = min(max(rank, 1), x.Count())
	i := sort.Search(len(x.cumulative), func(i int) bool { return x.cumulative[i] >= rank })
	return x.low[i], x.high[i]
}

// Above returns how many values lie in buckets whose upper edge is above v.
func (x *RankIndex) Above(v int64) int64 {
	i := sort.Search(len(x.high), func(i int) bool { return x.high[i] > v })
	if i == 0 {
		return x.Count()
	}
	return x.Count() - x.cumulative[i-1]
}

// Percentile returns the percentile by nearest rank: the value of rank
// ceil(percent/100 · n), as the upper edge of its bucket, so that at least that
// share of the values is at or below it. percent is the decimal number a person
// writes, 99.9, and is taken as exactly that decimal. It is clamped to [0, 100];
// 0 means the smallest value, 100 the largest. An empty index has percentile 0.
//
// This differs from hdrhistogram-go's ValueAtPercentile, which rounds the rank
// to the nearest integer and so may answer with the value below.
func (x *RankIndex) Percentile(percent float64) int64 {
	_, high := x.ValueAtRank(hdrRank(x.Count(), percent))
	return high
}

// CountAbove returns how many values lie in buckets wholly above v: the
// exceedances of v, if v is the upper edge of a bucket as [RankIndex.Percentile] returns.
func (x *RankIndex) CountAbove(v int64) int64 {
	i := sort.Search(len(x.low), func(i int) bool { return x.low[i] > v })
	if i == 0 {
		return x.Count()
	}
	return x.Count() - x.cumulative[i-1]
}

// CountFrom returns how many values lie in buckets whose upper edge is v or more: all but
// those that are certainly below v.
func (x *RankIndex) CountFrom(v int64) int64 {
	i := sort.Search(len(x.high), func(i int) bool { return x.high[i] >= v })
	if i == 0 {
		return x.Count()
	}
	return x.Count() - x.cumulative[i-1]
}

// Min returns the lower edge of the lowest bucket in use, 0 for an empty histogram.
func (x *RankIndex) Min() int64 {
	if len(x.low) == 0 {
		return 0
	}
	return x.low[0]
}

// Max returns the upper edge of the highest bucket in use, 0 for an empty histogram.
func (x *RankIndex) Max() int64 {
	if len(x.high) == 0 {
		return 0
	}
	return x.high[len(x.high)-1]
}

// Mean returns the mean with every value taken at the middle of its bucket, to
// the last bit as Java's getMean; 0 for an empty histogram.
func (x *RankIndex) Mean() float64 {
	if len(x.low) == 0 {
		return 0
	}
	var sum float64
	var before int64
	for i, c := range x.cumulative {
		// The conversion keeps the compiler from fusing the multiplication
		// and the addition, which Java never does.
		sum += float64(x.middle(i) * float64(c-before))
		before = c
	}
	return sum / float64(x.Count())
}

// StdDev returns the standard deviation (of the population) with every value
// taken at the middle of its bucket, to the last bit as Java's getStdDeviation;
// 0 for an empty histogram.
func (x *RankIndex) StdDev() float64 {
	if len(x.low) == 0 {
		return 0
	}
	mean := x.Mean()
	var sum float64
	var before int64
	for i, c := range x.cumulative {
		d := x.middle(i) - mean
		sum += float64(float64(d*d) * float64(c-before))
		before = c
	}
	return math.Sqrt(sum / float64(x.Count()))
}

// middle is Java's medianEquivalentValue of bucket i.
func (x *RankIndex) middle(i int) float64 {
	return float64(x.low[i] + (x.high[i]-x.low[i]+1)>>1)
}

// hdrRank is the nearest rank ceil(percent/100 · n), at least 1 and at most n,
// computed on the decimal digits of percent: 99.9 of 1000 values is rank 999,
// although the nearest float64 to 99.9 is a little more than it. Java takes one
// ulp off the percentile for the same end, which holds up to some 1e13 values;
// this holds for all. (internal/stats has the same rule as Rank; this package
// may not import it.)
func hdrRank(n int64, percent float64) int64 {
	switch {
	case n <= 0:
		return 0
	case !(percent < 100): // NaN too: the maximum never understates
		return n
	case percent <= 0:
		return 1
	}
	share, ok := new(big.Rat).SetString(strconv.FormatFloat(percent, 'g', -1, 64))
	if !ok {
		return n
	}
	share.Mul(share, big.NewRat(n, 100))
	rank, rest := new(big.Int).QuoRem(share.Num(), share.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		rank.Add(rank, big.NewInt(1))
	}
	return min(max(rank.Int64(), 1), n)
}

// Decode reads what [Encode] and the HdrHistogram libraries
// of other languages write. It is fit for hostile input: it never panics, and
// refuses text over 32 MiB and histograms whose counters would take more than
// 32 MiB before it allocates them.
func Decode(s string) (*hdrhistogram.Histogram, error) {
	c, err := new(Decoder).Decode(s)
	if err != nil {
		return nil, err
	}
	return c.histogram(), nil
}

// hdrGeometry is the layout of a histogram's counters. Each bucket is twice as
// wide as the one before and has the same number of equal sub-buckets. All
// buckets but the first use only the upper half of their sub-buckets: the
// bucket below covers the lower half.
type hdrGeometry struct {
	unit, half uint // log2 of the width of the narrowest sub-bucket, and of half their number
	buckets    int64
}

// hdrNewGeometry computes the layout as Java's constructor does. A lowest value
// below 1, which early Go versions wrote, counts as 1.
func hdrNewGeometry(lowest, highest, digits int64) (hdrGeometry, error) {
	if digits < 0 || digits > 5 {
		return hdrGeometry{}, fmt.Errorf("%d significant digits, want 0 to 5", digits)
	}
	single := uint64(2) // the largest value that needs a resolution of one unit
	for range digits {
		single *= 10
	}
	g := hdrGeometry{
		unit:    uint(bits.Len64(uint64(max(lowest, 1))) - 1),
		half:    uint(bits.Len64(single-1)) - 1,
		buckets: 1,
	}
	if g.unit+g.half > 61 {
		return hdrGeometry{}, fmt.Errorf("lowest value %d is too large for %d significant digits", lowest, digits)
	}
	if top := g.unit + g.half + 1; highest >= 1<<top {
		g.buckets += int64(bits.Len64(uint64(highest))) - int64(top)
	}
	return g, nil
}

// hdrGeometryOf returns the layout of an existing histogram.
func hdrGeometryOf(h *hdrhistogram.Histogram) hdrGeometry {
	g, err := hdrNewGeometry(h.LowestTrackableValue(), h.HighestTrackableValue(), h.SignificantFigures())
	if err != nil {
		panic("histograms: the library made a histogram it forbids: " + err.Error())
	}
	return g
}

// counts returns the number of counters.
func (g hdrGeometry) counts() int64 { return (g.buckets + 1) << g.half }

// subBuckets returns the number of sub-buckets of a bucket.
func (g hdrGeometry) subBuckets() int64 { return 2 << g.half }

// edges returns the least and the greatest value that counter i counts.
func (g hdrGeometry) edges(i int) (low, high int64) {
	grid := loglinear.Grid(g.half)
	return grid.Floor(i) << g.unit, grid.Floor(i+1)<<g.unit - 1
}

// hdrFixed writes v with the given number of decimals as Java's %.nf does: the
// shortest decimal that identifies v, rounded half up. Go rounds the exact
// binary value, so 0.0045 to three decimals is 0.004 in Go and 0.005 in Java.
// (Before Java 19 the decimal was not always the shortest, 2e23 for one; the
// difference is beyond the sixteenth digit.)
func hdrFixed(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', -1, 64), "e")
	exp, _ := strconv.Atoi(exponent)
	digits := strings.Replace(mantissa, ".", "", 1)
	whole := max(exp+1, 0)  // digits of the whole part
	zeros := max(-exp-1, 0) // between the point and the first digit

	// The leading 0 takes a carry. No more zeros are needed than it takes to
	// see that the digits come too late to matter.
	out := append([]byte("0"), strings.Repeat("0", min(zeros, decimals+1))...)
	out = append(out, digits...)
	keep := 1 + whole + decimals
	if keep < len(out) {
		up := out[keep] >= '5'
		out = out[:keep]
		for i := keep - 1; up && i >= 0; i-- {
			if up = out[i] == '9'; up {
				out[i] = '0'
			} else {
				out[i]++
			}
		}
	}
	for len(out) < keep {
		out = append(out, '0')
	}
	text := strings.TrimLeft(string(out[:1+whole]), "0")
	if text == "" {
		text = "0"
	}
	if math.Signbit(v) {
		text = "-" + text
	}
	if decimals > 0 {
		text += "." + string(out[1+whole:])
	}
	return text
}
