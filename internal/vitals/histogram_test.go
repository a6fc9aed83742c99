package vitals

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

func TestBucketsCoverTheRangeWithoutGaps(t *testing.T) {
	next := int64(0)
	for i := range buckets {
		if grid.Floor(i) != next {
			t.Fatalf("bucket %d begins at %d, the last one ended at %d", i, grid.Floor(i), next-1)
		}
		if bucketOf(grid.Floor(i)) != i || bucketOf(grid.Ceiling(i)) != i {
			t.Fatalf("bucket %d is [%d, %d], whose ends are in %d and %d", i, grid.Floor(i), grid.Ceiling(i), bucketOf(grid.Floor(i)), bucketOf(grid.Ceiling(i)))
		}
		if width := grid.Ceiling(i) - grid.Floor(i); float64(width) > float64(grid.Floor(i))/(1<<grid) {
			t.Fatalf("bucket %d is %d wide at %d", i, width, grid.Floor(i))
		}
		next = grid.Ceiling(i) + 1
	}
	if next != 1<<topBits {
		t.Errorf("the range ends at %d, want %d", next, int64(1)<<topBits)
	}
	for v, want := range map[int64]int{-1: 0, math.MinInt64: 0, 1 << topBits: buckets - 1, math.MaxInt64: buckets - 1} {
		if got := bucketOf(v); got != want {
			t.Errorf("bucketOf(%d) = %d, want %d", v, got, want)
		}
	}
}

func TestCorrectionIsThatOfTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		interval := 1 + random.Int64N(1<<(1+random.IntN(21)))
		v := random.Int64N(interval * (1 + random.Int64N(3000)))
		var got, want histogram
		got.recordCorrected(v, interval)
		want.record(v)
		for missing := v - interval; missing >= interval; missing -= interval {
			want.record(missing)
		}
		for i := range got.counts {
			if g, w := got.counts[i].Load(), want.counts[i].Load(); g != w {
				t.Fatalf("%d every %d: bucket %d has %d, want %d", v, interval, i, g, w)
			}
		}
		if got.max.Load() != v {
			t.Fatalf("%d every %d: maximum %d", v, interval, got.max.Load())
		}
	}
}

func TestCorrectionOfHugeGapsIsBounded(t *testing.T) {
	var h histogram
	const day, millisecond = 86_400_000_000_000, 1_000_000
	h.recordCorrected(day, millisecond)
	var w window
	w.advance(&h)
	if w.count != day/millisecond || w.max != day {
		t.Errorf("%d records, maximum %d; want %d and %d", w.count, w.max, int64(day/millisecond), int64(day))
	}
}

func TestQuantilesAreNearestRank(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var h histogram
		values := make([]int64, 1+random.IntN(2000))
		for i := range values {
			values[i] = random.Int64N(1 << (1 + random.IntN(topBits-1)))
			h.record(values[i])
		}
		slices.Sort(values)
		var w window
		w.advance(&h)
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			exact := values[max(1, int(math.Ceil(q*float64(len(values)))))-1]
			if got, want := w.quantile(q), grid.Ceiling(bucketOf(exact)); got != want {
				t.Fatalf("%v-quantile of %d values: %d, want %d (the bucket of %d)", q, len(values), got, want, exact)
			}
		}
		if w.max != values[len(values)-1] {
			t.Fatalf("maximum %d, want %d", w.max, values[len(values)-1])
		}
	}
}

func TestWindowsSpeakOfTheirIntervalOnly(t *testing.T) {
	var h histogram
	var w window
	h.record(1_000_000)
	w.advance(&h)
	h.record(5)
	w.advance(&h)
	if w.count != 1 || w.max != 5 || w.quantile(1) != 5 {
		t.Errorf("count %d, maximum %d, quantile %d; want 1, 5, 5", w.count, w.max, w.quantile(1))
	}
	w.advance(&h)
	if w.count != 0 || w.max != 0 || w.quantile(0.5) != 0 {
		t.Errorf("an empty interval has count %d, maximum %d, quantile %d", w.count, w.max, w.quantile(0.5))
	}
}

func TestReadingLosesNothing(t *testing.T) {
	var h histogram
	const n = 200_000
	var done atomic.Bool
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range int64(n) {
			h.record(i)
		}
		done.Store(true)
	})
	var w window
	var total uint64
	var most int64
	for last := false; !last; {
		last = done.Load()
		w.advance(&h)
		total += w.count
		most = max(most, w.max)
	}
	wait.Wait()
	if total != n || most != n-1 {
		t.Errorf("read %d records, maximum %d; want %d, %d", total, most, n, n-1)
	}
}

func BenchmarkRecord(b *testing.B) {
	var h histogram
	b.ReportAllocs()
	for b.Loop() {
		h.recordCorrected(61_234, 1_000_000)
	}
}

func BenchmarkWindow(b *testing.B) {
	var h histogram
	var w window
	b.ReportAllocs()
	for b.Loop() {
		w.advance(&h)
		_ = w.quantile(0.99)
	}
}
