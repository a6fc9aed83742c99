package nullbroker

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func mustLaw(t testing.TB, text string) Law {
	t.Helper()
	l, err := ParseLaw(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The quantiles against tables: Φ⁻¹(0.9) = 1.281552, (0.99) 2.326348, (0.999)
// 3.090232, (0.9999) 3.719016.
func TestQuantiles(t *testing.T) {
	for _, tt := range []struct {
		law  string
		p    float64
		want time.Duration
	}{
		{"none", 0.999, 0},
		{"lognormal(median=200us,sigma=0.5)", 0.5, 200 * time.Microsecond},
		{"lognormal(median=200us,sigma=0.5)", 0.9, 379591},
		{"lognormal(median=200us,sigma=0.5)", 0.99, 640015},
		{"lognormal(median=200us,sigma=0.5)", 0.999, 937703},
		{"lognormal(median=200us,sigma=0.5)", 0.9999, 1284116},
		{"lognormal(median=1ms,sigma=4)", 1 - 1e-12, LongestDelay},
		{"bimodal(a=100us,b=5ms,share=5%)", 0.95, 100 * time.Microsecond},
		{"bimodal(a=100us,b=5ms,share=0.05)", 0.9500001, 5 * time.Millisecond},
		{" rare( delay = 200ms , every = 100000 ) ", 0.99999, 0},
		{"rare(delay=200ms,every=100000)", 0.999991, 200 * time.Millisecond},
	} {
		got := mustLaw(t, tt.law).Quantile(tt.p)
		if math.Abs(float64(got-tt.want)) > 2e-6*float64(tt.want) {
			t.Errorf("%s: p%g is %v (%d), want %v", tt.law, 100*tt.p, got, got, tt.want)
		}
	}
}

// The distribution function and the quantiles belong to each other, and the law
// survives being written.
func TestLawsAreConsistent(t *testing.T) {
	for _, text := range []string{"none", "lognormal(median=200us,sigma=0.5)", "lognormal(median=1ns,sigma=4)",
		"bimodal(a=100us,b=5ms,share=5%)", "rare(delay=200ms,every=100000)"} {
		l := mustLaw(t, text)
		if again := mustLaw(t, l.String()); again != l {
			t.Errorf("%s becomes %s", l, again)
		}
		for _, p := range []float64{1e-9, 0.01, 0.3, 0.5, 0.9, 0.95, 0.99, 0.999, 0.99999, 1 - 1e-9} {
			d := l.Quantile(p)
			if l.CDF(d+1) < p-1e-12 {
				t.Errorf("%s: p%g is %v, of which there are %g at most", l, p, d, l.CDF(d))
			}
			if d > 1 && l.CDF(d-2) > p+1e-12 {
				t.Errorf("%s: p%g is %v, though %g are less", l, p, d, l.CDF(d-2))
			}
		}
	}
}

// What a hundred thousand messages get is what the law says, to within the band
// that the empirical distribution leaves in one of a million cases (Dvoretzky,
// Kiefer, Wolfowitz: ε = √(ln(2/α)/2n)); other streams get others.
func TestDelaysFollowTheLaw(t *testing.T) {
	const n = 100_000
	bound := math.Sqrt(math.Log(2/1e-6) / (2 * n))
	for _, text := range []string{"lognormal(median=200us,sigma=0.5)", "bimodal(a=100us,b=5ms,share=5%)", "rare(delay=200ms,every=1000)"} {
		l := mustLaw(t, text)
		for _, p := range []float64{0.1, 0.5, 0.9, 0.95, 0.99, 0.999} {
			at, most := l.Quantile(p), 0
			for seq := range uint64(n) {
				if l.Delay(7, 1, 0, seq) <= at {
					most++
				}
			}
			if got := float64(most) / n; math.Abs(got-l.CDF(at)) > bound {
				t.Errorf("%s: %.5f are %v at most, want %.5f ± %.5f", l, got, at, l.CDF(at), bound)
			}
		}
	}
	l := mustLaw(t, "lognormal(median=200us,sigma=0.5)")
	first := l.Delay(1, 2, 0, 3)
	if l.Delay(1, 2, 0, 3) != first {
		t.Error("the same message gets another delay")
	}
	for _, other := range []time.Duration{l.Delay(2, 2, 0, 3), l.Delay(1, 3, 0, 3), l.Delay(1, 2, 1, 3), l.Delay(1, 2, 0, 4)} {
		if other == first {
			t.Error("another message gets the same delay")
		}
	}
}

func TestNoLaws(t *testing.T) {
	for text, word := range map[string]string{
		"":                                      "there is no law",
		"normal(mean=1ms)":                      `no law "normal"`,
		"none()":                                "no parameters",
		"lognormal":                             "brackets",
		"lognormal(median=1ms,sigma=1":          "brackets",
		"lognormal(median=1ms)":                 "sigma is missing",
		"lognormal(median=1ms,sigma=0)":         "sigma=0",
		"lognormal(median=1ms,sigma=NaN)":       "sigma=NaN",
		"lognormal(median=1,sigma=1)":           "median=1",
		"lognormal(median=-1ms,sigma=1)":        "median=-1ms",
		"lognormal(median=11s,sigma=1)":         "at most 10s",
		"lognormal(median=1ms,sigma=1,sigma=1)": "twice",
		"lognormal(median=1ms,sigma=1,mu=1)":    `"mu=1" is no parameter`,
		"bimodal(a=1ms,b=1ms,share=5%)":         "less than b",
		"bimodal(a=1ms,b=2ms,share=100%)":       "share=100%",
		"bimodal(a=1ms,b=2ms,share=0)":          "share=0",
		"rare(delay=1ms,every=1)":               "every=1",
		"rare(delay=1ms,every=1e5)":             "every=1e5",
	} {
		_, err := ParseLaw(text)
		if !errors.Is(err, ErrLaw) || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), "want none, ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParseLaw(f *testing.F) {
	f.Add("bimodal(a=100us,b=5ms,share=5%)")
	f.Add("lognormal(median=200us,sigma=0.5)")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLaw(text)
		if err != nil {
			return
		}
		if again, err := ParseLaw(l.String()); err != nil || again != l {
			t.Errorf("%q is read as %s, which is read as %s, %v", text, l, again, err)
		}
		if d := l.Quantile(0.999); d < 0 || d > LongestDelay {
			t.Errorf("%s: p99.9 is %v", l, d)
		}
	})
}
