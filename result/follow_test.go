package result

import (
	"math/rand/v2"
	"reflect"
	"sixnines/internal/histograms"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// What is followed by its buckets is what is read of its text.
func TestFollowIsAdd(t *testing.T) {
	const m = DeliveryResponse
	h := Header{Slot: 1e8, Window: 10e9, Until: string(m) + " p99 ±5%"}
	added := &Run{Header: h, Metrics: map[Metric]*Merged{}}
	followed := &Run{Header: h, Metrics: map[Metric]*Merged{m: {Hist: NewHistogram(1, 1e10, 3)}}}
	rng := rand.New(rand.NewPCG(6, 6))
	for n := range int64(2000) { // more than there are blocks
		v := &Interval{Phase: PhaseMeasure, Start: n * 1e6, End: (n + 1) * 1e6}
		share := hdrhistogram.New(1, 1e10, 3)
		part := &MetricInterval{Min: 1 << 62}
		for range rng.IntN(5) { // none, now and then
			x := rng.Int64N(1 << rng.IntN(32))
			if err := share.RecordValue(x); err != nil {
				t.Fatal(err)
			}
			part.Min, part.Max = min(part.Min, x), max(part.Max, x)
			part.Slots = [][2]int64{{n / 100, x}}
			v.Counters.Received++
		}
		if share.TotalCount() > 0 {
			v.Metrics = map[Metric]*MetricInterval{m: part}
			var err error
			if part.Hist, err = histograms.Encode(share); err != nil {
				t.Fatal(err)
			}
		}
		if err := added.Add(Record{Interval: v}); err != nil {
			t.Fatal(err)
		}
		if err := followed.Follow(m, v, histograms.NewRankIndex(share).Buckets); err != nil {
			t.Fatal(err)
		}
	}
	a, f := added.Metrics[m], followed.Metrics[m]
	if !a.Hist.counts.Equals(f.Hist.counts) || a.Min != f.Min || a.Max != f.Max || !reflect.DeepEqual(a.Slots, f.Slots) || added.Counters != followed.Counters {
		t.Errorf("%d to %d, %d values; followed %d to %d, %d values", a.Min, a.Max, a.Hist.Count(), f.Min, f.Max, f.Hist.Count())
	}
	ab, an := added.Blocks(m)
	fb, fn := followed.Blocks(m)
	if an != fn || an != 4 || !reflect.DeepEqual(ab, fb) {
		t.Errorf("%d blocks of %d, followed %d of %d", len(ab), an, len(fb), fn)
	}
	if err := followed.Follow(m, &Interval{Phase: PhaseMeasure, Metrics: map[Metric]*MetricInterval{m: {Slots: [][2]int64{{200, 1}}}}},
		func(visit func(low, high, n int64)) { visit(7, 7, 1) }); err == nil {
		t.Error("a slot beyond the window")
	}
}
