package telemetry

import (
	"math"
	"sort"
	"time"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// schema is the resolution of native histograms: each bucket's upper edge is
// 2^(2^-schema) times the one before, which is 2.2 % more. In the result file,
// from which figures are computed, it is 0.1 %.
const schema = 5

// perOctave is the number of buckets in which a value doubles.
const perOctave = 1 << schema

// Keys of native buckets: bucket k holds seconds in (2^((k-1)/perOctave),
// 2^(k/perOctave)].
const (
	lowestKey  = -30 * perOctave    // of values just above zeroUpTo
	highestKey = 17 * perOctave     // 36 h; slower values are counted there
	overflow   = 1024*perOctave + 1 // beyond the largest float64
	zeroUpTo   = 1.0 / (1 << 30)    // seconds, a little less than 1 ns: recorded as zero
)

// bounds returns the upper edges of the classic buckets, in ns, ascending: six a decade, from
// 1 µs to 100 s.
func bounds() []int64 {
	var all []int64
	for decade := int64(time.Microsecond); decade < int64(100*time.Second); decade *= 10 {
		for _, tenths := range []int64{10, 15, 20, 30, 50, 70} {
			all = append(all, decade/10*tenths)
		}
	}
	return append(all, int64(100*time.Second))
}

// histogram counts the values of a metric in two kinds of buckets. A value of the
// recorder's bucket counts as its upper edge, so that no bucket here claims that a
// value was faster than it may have been.
type histogram struct {
	native  []int64 // by key, from lowestKey
	classic []int64 // by bounds, not cumulative; the last element counts values beyond them
	upTo    []int64 // bounds
	zero    int64
	count   int64
	sum     float64 // ns, each value as the middle of its bucket
	// beyond counts messages without a value: never resolved, or refused. They are in no
	// other count.
	beyond int64
}

func newHistogram() *histogram {
	upTo := bounds()
	return &histogram{native: make([]int64, highestKey-lowestKey+1), classic: make([]int64, len(upTo)+1), upTo: upTo}
}

// add counts n values between low and high, ns.
func (h *histogram) add(low, high, n int64) {
	h.count += n
	h.sum += float64(n) * (float64(low) + float64(high)) / 2
	h.classic[sort.Search(len(h.upTo), func(i int) bool { return h.upTo[i] >= high })] += n
	if high <= 0 {
		h.zero += n
		return
	}
	h.native[keyOf(high)-lowestKey] += n
}

// keyOf returns the native bucket of a value above 0 ns.
func keyOf(ns int64) int {
	return min(max(int(math.Ceil(math.Log2(seconds(float64(ns)))*perOctave)), lowestKey), highestKey)
}

// merged returns the histogram of a metric of a whole run. Messages that were never
// resolved are in the sum with their lower bounds.
func merged(x *result.Merged) *histogram {
	h := newHistogram()
	histograms.RanksOf(x.Hist).Buckets(h.add)
	h.beyond = x.Refused
	if x.Censored != nil {
		histograms.RanksOf(x.Censored).Buckets(func(low, high, n int64) {
			h.beyond += n
			h.sum += float64(n) * (float64(low) + float64(high)) / 2
		})
	}
	return h
}

// seconds converts ns to seconds, the unit of monitoring systems.
func seconds(ns float64) float64 { return ns / 1e9 }
