package histograms

import (
	"math"
	"testing"
)

func TestBandsTileTheValues(t *testing.T) {
	for b := range Bands {
		lo := BandFloor(b)
		if BandOf(lo) != b {
			t.Fatalf("BandOf(BandFloor(%d) = %d) = %d", b, lo, BandOf(lo))
		}
		if b > 0 && BandOf(lo-1) != b-1 {
			t.Fatalf("BandOf(%d) = %d, want %d", lo-1, BandOf(lo-1), b-1)
		}
	}
	if got := BandOf(math.MaxInt64); got >= Bands {
		t.Fatalf("the largest value has band %d of %d", got, Bands)
	}
	if BandOf(-5) != 0 {
		t.Fatal("a negative value is not in band 0")
	}
}
