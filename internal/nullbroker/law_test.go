package nullbroker

import (
	"errors"
	"math"
	"reflect"
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
		{"3ms", 0.001, 3 * time.Millisecond},
		{"exponential(mean=1ms)", 0.5, 693147},
		{"exponential(mean=1ms)", 0.99, 4605170},
		{"1ms + exponential(mean=1ms)", 0.99, 5605170},
		{"9s+exponential(mean=10s)", 0.99, longestDelay},
		{"2ms+bimodal(a=100us,b=5ms,share=5%)", 0.96, 7 * time.Millisecond},
		{"lognormal(median=200us,sigma=0.5)", 0.5, 200 * time.Microsecond},
		{"lognormal(median=200us,sigma=0.5)", 0.9, 379591},
		{"lognormal(median=200us,sigma=0.5)", 0.99, 640015},
		{"lognormal(median=200us,sigma=0.5)", 0.999, 937703},
		{"lognormal(median=200us,sigma=0.5)", 0.9999, 1284116},
		{"lognormal(median=1ms,sigma=4)", 1 - 1e-12, longestDelay},
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
	for _, text := range []string{"none", "200us", "exponential(mean=200us)", "1ms+exponential(mean=200us)", "lognormal(median=200us,sigma=0.5)", "lognormal(median=1ns,sigma=4)",
		"100us,none@5s", "none, 1ms+rare(delay=5ms,every=10) @ 1m", "bimodal(a=1ms,b=5ms,share=5%),5ms@3s,lognormal(median=1ms,sigma=1)@1h0m5s",
		"bimodal(a=100us,b=5ms,share=5%)", "rare(delay=200ms,every=100000)"} {
		l := mustLaw(t, text)
		if again := mustLaw(t, l.String()); !reflect.DeepEqual(again, l) {
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
	for _, text := range []string{"lognormal(median=200us,sigma=0.5)", "bimodal(a=100us,b=5ms,share=5%)", "rare(delay=200ms,every=1000)", "1ms+exponential(mean=1ms)"} {
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
		"100":                                   `no law "100"`,
		"0s":                                    "above 0",
		"11s":                                   "at most 10s",
		"1ms+none":                              "nothing to add",
		"1ms+1ms":                               `no law "1ms"`,
		"+1ms":                                  "above 0",
		"exponential(median=1ms)":               "no parameter",
		"1ms,2ms":                               "from when on",
		"1ms@1s":                                "no law",
		"1ms,2ms@0s":                            "later than 0s",
		"1ms,2ms@5s,3ms@5s":                     "later than 5s",
		"1ms,2ms@1001h":                         "at most 1000h",
		"1ms,":                                  "from when on",
		strings.Repeat(" ", 10) + strings.Repeat("1ms,", 300): "more than 1000 bytes",
		"rare(delay=1ms,every=1e5)":                           "every=1e5",
	} {
		_, err := ParseLaw(text)
		if !errors.Is(err, errLaw) || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), "want none, ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParseLaw(f *testing.F) {
	f.Add("bimodal(a=100us,b=5ms,share=5%)")
	f.Add("lognormal(median=200us,sigma=0.5)")
	f.Add("1ms+exponential(mean=200us),none@5s")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLaw(text)
		if err != nil {
			return
		}
		if again, err := ParseLaw(l.String()); err != nil || !reflect.DeepEqual(again, l) {
			t.Errorf("%q is read as %s, which is read as %s, %v", text, l, again, err)
		}
		if d := l.Quantile(0.999); d < 0 || d > longestDelay {
			t.Errorf("%s: p99.9 is %v", l, d)
		}
	})
}

func TestOvertaking(t *testing.T) {
	for text, want := range map[string]bool{"none": false, "1ms": false, "1ms,2ms@5s": false, "none,1ms@5s": false, "2ms,1ms@5s": true,
		"1ms,none@5s": true, "exponential(mean=1ms)": true, "1ms,exponential(mean=1ms)@5s": true} {
		if l := mustLaw(t, text); l.Overtakes() != want {
			t.Errorf("%s overtakes: %v", text, l.Overtakes())
		}
	}
}
