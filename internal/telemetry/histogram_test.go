package telemetry

import (
	"math"
	"testing"
)

// Native buckets hold what they say, and neighbours meet.
func TestKeyOf(t *testing.T) {
	for ns := int64(1); ns < 1e14; ns += 1 + ns/97 {
		key, v := keyOf(ns), seconds(float64(ns))
		low, high := math.Exp2(float64(key-1)/perOctave), math.Exp2(float64(key)/perOctave)
		if !(v > low*(1-1e-12) && v <= high*(1+1e-12)) {
			t.Fatalf("%d ns is in bucket %d, which holds %g to %g", ns, key, low, high)
		}
	}
	if keyOf(1e9) != 0 || keyOf(1e9+1) != 1 || keyOf(math.MaxInt64) != highestKey || keyOf(1) <= lowestKey {
		t.Error("the bucket that ends with 1 s is number 0")
	}
}

// No bucket claims that a value was faster than it may have been.
func TestBucketsAreByUpperEdges(t *testing.T) {
	h := newHistogram()
	h.add(0, 0, 2)
	h.add(999_900, 1_000_100, 3) // about 1 ms, perhaps more
	h.add(200e9, 200e9, 1)       // beyond all bounds
	for i, bound := range h.upTo {
		want := int64(0)
		switch bound {
		case 1_000:
			want = 2
		case 1_500_000:
			want = 3
		}
		if h.classic[i] != want {
			t.Errorf("%d values end up to %d ns, want %d", h.classic[i], bound, want)
		}
	}
	if last := h.classic[len(h.upTo)]; last != 1 || h.count != 6 || h.zero != 2 || h.native[keyOf(1_000_100)-lowestKey] != 3 {
		t.Errorf("%d beyond, %d in all, %d zeros", last, h.count, h.zero)
	}
}
