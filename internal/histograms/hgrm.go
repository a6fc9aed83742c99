package histograms

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// hgrmMaxTicks bounds the rows per halving: beyond it two rows differ by less
// than a histogram can tell apart, and Java's tick arithmetic nears overflow.
const hgrmMaxTicks = 1000

// WriteHgrm writes the percentile distribution of a histogram as HdrHistogram's
// Java tools do (AbstractHistogram.outputPercentileDistribution), byte for
// byte, for the plotters that read .hgrm files.
//
// Every value is divided by unitScale: 1e6 turns nanoseconds into milliseconds.
// ticksPerHalf is the number of rows for each halving of the distance to 100 %,
// 1 to 1000; Java's default is 5. The percentiles in the rows are levels that
// have been reached, not ranks, so they are as fine as the sample allows and no
// statement about what it supports. An empty histogram has no rows.
//
// The histogram must not be recorded into meanwhile.
func WriteHgrm(w io.Writer, h *hdrhistogram.Histogram, unitScale float64, ticksPerHalf int) error {
	if !(unitScale > 0) || math.IsInf(unitScale, 0) {
		return fmt.Errorf("write hgrm: unit scale %v, want a positive number", unitScale)
	}
	if ticksPerHalf < 1 || ticksPerHalf > hgrmMaxTicks {
		return fmt.Errorf("write hgrm: %d ticks per half distance, want 1 to %d", ticksPerHalf, hgrmMaxTicks)
	}
	x := NewRankIndex(h)
	g := hdrGeometryOf(h)
	decimals := int(h.SignificantFigures())
	scaled := func(v float64) string { return hdrFixed(v/unitScale, decimals) }

	// A bufio.Writer keeps its first error until Flush.
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	hgrmLevels(x, ticksPerHalf, func(value int64, percent float64, count int64) {
		level := percent / 100
		fmt.Fprintf(b, "%12s %s %10d", scaled(float64(value)), hdrFixed(level, 12), count)
		if percent != 100 {
			fmt.Fprintf(b, " %14s", hdrFixed(1/(1-level), 2))
		}
		b.WriteByte('\n')
	})
	fmt.Fprintf(b, "#[Mean    = %12s, StdDeviation   = %12s]\n", scaled(x.Mean()), scaled(x.StdDev()))
	fmt.Fprintf(b, "#[Max     = %12s, Total count    = %12d]\n", scaled(float64(x.Max())), x.Count())
	fmt.Fprintf(b, "#[Buckets = %12d, SubBuckets     = %12d]\n", g.buckets, g.subBuckets())
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write hgrm: %w", err)
	}
	return nil
}

// hgrmLevels calls row for each percentile level, in ascending order, with the
// value that reaches it and the number of values up to that one. The levels
// begin at 0 and halve their step with each halving of the distance to 100; a
// last row says 100. The floating-point steps are those of Java's
// PercentileIterator, in the same order, or the twelfth decimal differs.
func hgrmLevels(x *RankIndex, ticksPerHalf int, row func(value int64, percent float64, count int64)) {
	total := x.Count()
	level := 0.0
	for i, count := range x.cumulative {
		reached := 100 * float64(count) / float64(total)
		// More than one level may lie in one bucket, but the last bucket
		// gets a single row before the one that says 100.
		for reached >= level && level < 100 {
			row(x.high[i], level, count)
			if count == total {
				break
			}
			halvings := int(math.Log(100/(100-level))/math.Ln2) + 1
			next := level + 100/math.Ldexp(float64(ticksPerHalf), halvings)
			if next == level {
				// Above some 1e15 values the levels come as close to 100
				// as a float64 can. Java repeats this row for ever.
				next = 100
			}
			level = next
		}
	}
	if total > 0 {
		row(x.Max(), 100, total)
	}
}
