package result

import (
	"math"
	"math/rand/v2"
	"sixnines/internal/histograms"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// blockRun is a run of so many intervals, of which every third has no deliveries;
// all has the values of each.
func blockRun(t *testing.T, intervals int) (*Run, [][]int64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, 6))
	run := &Run{Metrics: map[Metric]*Merged{}}
	all := make([][]int64, intervals)
	for i := range intervals {
		v := Interval{Phase: PhaseMeasure, Start: int64(i) * 1e9, End: int64(i+1) * 1e9, Metrics: map[Metric]*MetricInterval{}}
		if i%3 != 2 {
			h := hdrhistogram.New(1000, 1e8, 3)
			low, high := int64(math.MaxInt64), int64(0)
			for range 40 {
				x := int64(1e5 * math.Exp(rng.NormFloat64()))
				_ = h.RecordValue(x)
				low, high = min(low, x), max(high, x)
				all[i] = append(all[i], x)
			}
			text, err := histograms.Encode(h)
			if err != nil {
				t.Fatal(err)
			}
			v.Metrics[DeliveryResponse] = &MetricInterval{Hist: text, Min: low, Max: high}
			v.Metrics[StageClient] = v.Metrics[DeliveryResponse]
		}
		if err := run.addInterval(&v); err != nil {
			t.Fatal(err)
		}
	}
	return run, all
}

func TestBlocksHoldTheRun(t *testing.T) {
	for _, tt := range []struct{ intervals, blocks, each int }{{1, 1, 1}, {60, 60, 1}, {512, 512, 1}, {513, 257, 2}, {2050, 257, 8}} {
		run, all := blockRun(t, tt.intervals)
		blocks, each := run.Blocks(DeliveryResponse)
		if len(blocks) != tt.blocks || each != tt.each {
			t.Fatalf("%d intervals: %d blocks of %d, want %d of %d", tt.intervals, len(blocks), each, tt.blocks, tt.each)
		}
		if b, _ := run.Blocks(StageClient); b != nil {
			t.Error("blocks of a stage")
		}
		for i := range blocks {
			b := &blocks[i]
			var values []int64
			for _, v := range all[i*each : min((i+1)*each, len(all))] {
				values = append(values, v...)
			}
			if b.Count() != int64(len(values)) {
				t.Fatalf("block %d of %d has %d values, want %d", i, len(blocks), b.Count(), len(values))
			}
			for v := histograms.BlockValueOf(50_000); v < histograms.BlockValueOf(3_000_000); v += 37 {
				var above, finer, coarser int64
				edge := histograms.BlockValue(v)
				for _, x := range values {
					if x > edge {
						above++
					}
					// A value's histogram has its upper edge, 0.1 % above it at most; in
					// the body it is put up to 1/16 of an octave higher.
					if float64(x)*1.0011 > float64(edge) {
						finer++
					}
					if float64(x)*math.Exp2(1.0/16)*1.01 > float64(edge) {
						coarser++
					}
				}
				got := b.Above(edge)
				if got < above || got > coarser || edge > 2_500_000 && got > finer {
					t.Errorf("block %d of %d: %d values above %d, want %d to %d", i, len(blocks), got, edge, above, coarser)
				}
			}
		}
	}
}

// What comes after the window belongs to the last block.
func TestBlocksAfterTheWindow(t *testing.T) {
	run, all := blockRun(t, 5)
	h := hdrhistogram.New(1000, 1e8, 3)
	_ = h.RecordValue(5e7)
	text, err := histograms.Encode(h)
	if err != nil {
		t.Fatal(err)
	}
	v := Interval{Phase: PhaseDrain, Start: 5e9, End: 6e9, Metrics: map[Metric]*MetricInterval{DeliveryResponse: {Hist: text, Min: 5e7, Max: 5e7}}}
	if err := run.addInterval(&v); err != nil {
		t.Fatal(err)
	}
	blocks, _ := run.Blocks(DeliveryResponse)
	if last := &blocks[len(blocks)-1]; len(blocks) != 5 || last.Count() != int64(len(all[4]))+1 || last.Above(4e7) != 1 {
		t.Errorf("%d blocks, the last %+v", len(blocks), last)
	}
}
