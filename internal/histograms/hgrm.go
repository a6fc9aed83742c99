package histograms

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

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

// HgrmRow is one row of a .hgrm file.
type HgrmRow struct {
	Value    float64 // in the file's unit, most often milliseconds
	Quantile float64 // 0 to 1
	Count    int64   // values up to and including Value
}

// hgrmMaxLine and hgrmMaxRows bound what a file may make a reader allocate.
const (
	hgrmMaxLine = 4096
	hgrmMaxRows = 1 << 20
)

// ReadHgrm reads the rows of a .hgrm file, written by any HdrHistogram library,
// to be overlaid on others. It skips the heading, blank lines, comments and the
// footer, accepts the last row without its fourth field or with inf in it, and
// refuses rows that do not ascend. Errors name the line.
func ReadHgrm(r io.Reader) ([]HgrmRow, error) {
	var rows []HgrmRow
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 512), hgrmMaxLine)
	n := 0
	for s.Scan() {
		n++
		f := strings.Fields(strings.TrimPrefix(s.Text(), "\ufeff"))
		if len(f) == 0 || f[0][0] == '#' || f[0] == "Value" {
			continue
		}
		row, err := hgrmParseRow(f)
		if err != nil {
			return nil, fmt.Errorf("read hgrm: line %d: %w", n, err)
		}
		if len(rows) > 0 {
			last := rows[len(rows)-1]
			if row.Value < last.Value || row.Quantile < last.Quantile || row.Count < last.Count {
				return nil, fmt.Errorf("read hgrm: line %d: value, percentile or count is below that of the row before", n)
			}
		}
		if len(rows) == hgrmMaxRows {
			return nil, fmt.Errorf("read hgrm: line %d: more than %d rows", n, hgrmMaxRows)
		}
		rows = append(rows, row)
	}
	if err := s.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("longer than %d bytes", hgrmMaxLine)
		}
		return nil, fmt.Errorf("read hgrm: line %d: %w", n+1, err)
	}
	return rows, nil
}

func hgrmParseRow(f []string) (HgrmRow, error) {
	if len(f) != 3 && len(f) != 4 {
		return HgrmRow{}, fmt.Errorf("%d fields, want value, percentile, count and 1/(1-percentile)", len(f))
	}
	value, err := strconv.ParseFloat(f[0], 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return HgrmRow{}, fmt.Errorf("value %q is not a number", f[0])
	}
	quantile, err := strconv.ParseFloat(f[1], 64)
	if err != nil || !(quantile >= 0 && quantile <= 1) {
		return HgrmRow{}, fmt.Errorf("percentile %q is not a number from 0 to 1", f[1])
	}
	count, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || count < 0 {
		return HgrmRow{}, fmt.Errorf("count %q is not a number of values", f[2])
	}
	return HgrmRow{Value: value, Quantile: quantile, Count: count}, nil
}
