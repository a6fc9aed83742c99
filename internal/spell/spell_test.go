package spell

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := Count(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	for rate, want := range map[float64]string{1000: "1,000/s", 2000.4: "2,000/s", 115.47: "115.5/s", 1.0 / 6: "0.1667/s", 64e3: "64,000/s", 1e6: "1,000,000/s", 12345.6: "12,346/s", 989.9: "989.9/s", 50: "50/s"} {
		if got := Rate(rate); got != want {
			t.Errorf("%g is %q, want %q", rate, got, want)
		}
	}
}
