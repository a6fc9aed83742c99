package spell

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(-1000), "-1,000"}, {Count(-999), "-999"},
		{Count(1234567), "1,234,567"}, {Count(int64(math.MinInt64)), "-9,223,372,036,854,775,808"},
		{Number(12345.6), "12,346"}, {Number(16.6666), "16.67"}, {Number(0.5), "0.5"}, {Number(999.96), "1,000"}, {Number(-2.25), "-2.25"}, {Number(0), "0"}, {Number(math.NaN()), "n/a"}, {Number(1e-9), "1e-09"},
		{Rate(20000), "20,000/s"}, {Rate(2000.4), "2,000/s"}, {Rate(115.47), "115.5/s"}, {Rate(1.0 / 6), "0.1667/s"}, {Rate(0.25), "0.25/s"}, {Rate(989.9), "989.9/s"}, {Rate(999.98), "1,000/s"},
		{Rate(1e6), "1,000,000/s"}, {Rate(50), "50/s"}, {Rate(math.NaN()), "n/a"}, {Rate(math.Inf(1)), "n/a"},
		{Plural(1, "event"), "1 event"}, {Plural(0, "event"), "0 events"}, {Plural(1200, "event"), "1,200 events"}, {Plural(2, "delivery"), "2 deliveries"},
		{Times(1), "once"}, {Times(1200), "1,200 times"},
		{Size(0), "0 B"}, {Size(256), "256 B"}, {Size(1024), "1 KiB"}, {Size(1500), "1.46 KiB"}, {Size(1023 * 1024), "1,023 KiB"}, {Size(1023*1024 + 1), "1,023 KiB"}, {Size(1572864), "1.5 MiB"},
		{Share(0), "0 %"}, {Share(0.0001), "<0.1 %"}, {Share(0.068), "6.8 %"}, {Share(0.27), "27 %"}, {Share(0.0996), "10 %"}, {Share(math.NaN()), "n/a"}, {Share(25), "2,500 %"},
		{ExactShare(1), "100 %"}, {ExactShare(0.99996), "99.99 %"}, {ExactShare(0.5), "50 %"}, {ExactShare(1.02), "102 %"},
		{Percent(0.05), "5 %"}, {Percent(0.005), "0.5 %"}, {Percent(0.999), "99.9 %"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 1: "1 ns", 999: "999 ns", 1000: "1.00 µs", 1234: "1.23 µs", 9_994: "9.99 µs", 9_995: "10.0 µs",
		81_249: "81.2 µs", 99_949: "99.9 µs", 99_951: "100 µs", 999_400: "999 µs", 999_600: "1.00 ms", 12_345_678: "12.3 ms",
		2_010_000_000: "2.01 s", 60_000_000_000: "60.0 s", 999_400_000_000: "999 s", 14_400_000_000_000: "14,400 s", -1500: "-1.50 µs",
	} {
		if got := Duration(ns); got != want {
			t.Errorf("Duration(%d) = %q, want %q", ns, got, want)
		}
		if got := Duration(time.Duration(ns)); got != want {
			t.Errorf("Duration(%v) = %q, want %q", time.Duration(ns), got, want)
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
		number, name, ok := strings.Cut(Duration(ns), " ")
		v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		if !ok || err != nil || unit[name] == 0 {
			t.Fatalf("Duration(%d) = %q", ns, Duration(ns))
		}
		if off := math.Abs(v*unit[name] - float64(ns)); off > 0.00501*float64(ns)+0.5 {
			t.Errorf("Duration(%d) = %q, which is off by %g", ns, Duration(ns), off)
		}
	})
}

func TestPeriod(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", time.Nanosecond: "1 ns", 250 * time.Millisecond: "250 ms", 2500 * time.Microsecond: "2.5 ms", 500 * time.Microsecond: "500 µs",
		time.Second: "1 s", 1500 * time.Millisecond: "1.5 s", 10 * time.Second: "10 s", 90 * time.Second: "90 s", 100 * time.Second: "100 s",
		2 * time.Minute: "2 min", 150 * time.Second: "2 min 30 s", time.Hour: "1 h", 2*time.Hour + time.Minute + 5*time.Second: "2 h 1 min 5 s",
		2000 * time.Hour: "2,000 h", -time.Second: "-1 s",
	} {
		if got := Period(d); got != want {
			t.Errorf("Period(%v) = %q, want %q", d, got, want)
		}
	}
}
