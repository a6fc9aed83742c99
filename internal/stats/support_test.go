package stats

import (
	"math"
	"testing"
)

func TestSupportOf(t *testing.T) {
	for _, tt := range []struct {
		n    int64
		p    float64
		want Support
	}{
		{0, 0.5, NotSupported}, {5, 0.5, NotSupported}, {6, 0.5, Few}, {199, 0.5, Few}, {200, 0.5, Full},
		{367, 0.99, NotSupported}, {368, 0.99, Few}, {9_999, 0.99, Few}, {10_000, 0.99, Full},
		{3_687, 0.999, NotSupported}, {3_688, 0.999, Few}, {99_999, 0.999, Few}, {100_000, 0.999, Full},
		{36_886, 0.9999, NotSupported}, {36_887, 0.9999, Few}, {999_999, 0.9999, Few}, {1_000_000, 0.9999, Full},
		{3_688_877, 0.999999, NotSupported}, {3_688_878, 0.999999, Few}, {100_000_000, 0.999999, Full},
		{367, 0.01, NotSupported}, {368, 0.01, Few}, {10_000, 0.01, Full},
		{1 << 40, 1, NotSupported}, {1 << 40, 0, NotSupported}, {1 << 40, math.NaN(), NotSupported},
	} {
		if got := SupportOf(tt.n, tt.p); got != tt.want {
			t.Errorf("SupportOf(%d, %v) is %v, want %v", tt.n, tt.p, got, tt.want)
		}
	}
}

// TestSupportedMeansAnInterval holds the two promises together.
func TestSupportedMeansAnInterval(t *testing.T) {
	for _, p := range []float64{0.5, 0.9, 0.99, 0.999, 0.01} {
		for n := int64(1); n < 5000; n += 7 {
			_, _, ok := QuantileRanks(n, p, 0.95)
			if ok != (SupportOf(n, p) != NotSupported) {
				t.Fatalf("p %v, n %d: interval %v, support %v", p, n, ok, SupportOf(n, p))
			}
		}
	}
}

func TestExceedances(t *testing.T) {
	for _, tt := range []struct {
		n    int64
		p    float64
		want int64
	}{
		{1_000_000, 0.9999, 100}, {368, 0.99, 3}, {10, 0.5, 5}, {11, 0.5, 5}, {10, 0.1, 1}, {15, 0.1, 1}, {9, 0.1, 0},
		{0, 0.5, 0}, {10, 1, 0}, {10, 0, 0}, {10, math.NaN(), 0},
	} {
		if got := Exceedances(tt.n, tt.p); got != tt.want {
			t.Errorf("Exceedances(%d, %v) is %d, want %d", tt.n, tt.p, got, tt.want)
		}
	}
}

func TestSupportString(t *testing.T) {
	for s, want := range map[Support]string{NotSupported: "not supported", Few: "few", Full: "full", 7: "unknown support"} {
		if got := s.String(); got != want {
			t.Errorf("support %d is %q, want %q", int(s), got, want)
		}
	}
}
