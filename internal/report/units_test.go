package report

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

func TestDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 1: "1 ns", 999: "999 ns", 1000: "1.00 µs", 1234: "1.23 µs", 9_994: "9.99 µs", 9_995: "10.0 µs",
		81_249: "81.2 µs", 99_949: "99.9 µs", 99_951: "100 µs", 999_400: "999 µs", 999_600: "1.00 ms", 12_345_678: "12.3 ms",
		2_010_000_000: "2.01 s", 60_000_000_000: "60.0 s", 999_400_000_000: "999 s", 14_400_000_000_000: "14,400 s", -1500: "-1.50 µs",
	} {
		if got := duration(ns); got != want {
			t.Errorf("duration(%d) = %q, want %q", ns, got, want)
		}
	}
}

// FuzzDuration checks that what is printed is within half a digit of what is.
func FuzzDuration(f *testing.F) {
	for _, seed := range []int64{0, 999, 999_499, 999_500, 999_949_999, math.MaxInt64} {
		f.Add(seed)
	}
	unit := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
	f.Fuzz(func(t *testing.T, ns int64) {
		if ns < 0 {
			return
		}
		number, name, ok := strings.Cut(duration(ns), " ")
		v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		if !ok || err != nil || unit[name] == 0 {
			t.Fatalf("duration(%d) = %q", ns, duration(ns))
		}
		if off := math.Abs(v*unit[name] - float64(ns)); off > 0.00501*float64(ns)+0.5 {
			t.Errorf("duration(%d) = %q, which is off by %g", ns, duration(ns), off)
		}
	})
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-1234567), "-1,234,567"}, {count(math.MinInt64), "-9,223,372,036,854,775,808"},
		{rate(20000), "20,000/s"}, {rate(19998.4), "19,998.4/s"}, {rate(1234567.8), "1,234,568/s"}, {rate(0.25), "0.25/s"}, {rate(math.NaN()), "n/a"}, {rate(math.Inf(1)), "n/a"},
		{size(0), "0 B"}, {size(256), "256 B"}, {size(1024), "1 KiB"}, {size(1500), "1.46 KiB"}, {size(1023 * 1024), "1023 KiB"}, {size(1572864), "1.5 MiB"},
		{share(0), "0 %"}, {share(0.0001), "<0.1 %"}, {share(0.068), "6.8 %"}, {share(0.27), "27 %"}, {share(0.0996), "10 %"}, {share(math.NaN()), "n/a"},
		{exactShare(1), "100 %"}, {exactShare(0.99996), "99.99 %"}, {exactShare(0.5), "50 %"}, {exactShare(1.02), "102 %"},
		{plural(1, "event"), "1 event"}, {plural(0, "event"), "0 events"}, {plural(1200, "event"), "1,200 events"},
		{times(2.44), "2.4"}, {times(37.2), "37"}, {times(2978), "3,000"}, {times(99.6), "100"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// FuzzPlain checks that nothing that could move a cursor, break a line or turn
// the direction of writing is left.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"", "a\x1b[2Jb", "a\r\nb", "\u202eabc", "\xff\xfe", "\u2028", "  a  b "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := plain(s)
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
				t.Fatalf("plain(%q) = %q holds %U", s, got, r)
			}
		}
		if plain(got) != got {
			t.Errorf("plain(%q) = %q, and again %q", s, got, plain(got))
		}
	})
}
