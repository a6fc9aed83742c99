package spell

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"256B": 256, "256": 256, "0": 0, "1KiB": 1024, "1K": 1024, "1k": 1024, "1kib": 1024, "1Ki": 1024, "1KB": 1000, "1kb": 1000, "1kB": 1000,
		"1 MB": 1e6, "1mb": 1e6, "1m": 1 << 20, "1M": 1 << 20, "2G": 2 << 30, "1gb": 1e9, "1.5KiB": 1536, "1.5K": 1536, "64 bytes": 64, "1 byte": 1, " 1 ": 1,
		"1e3": 1000, "1e3B": 1000, "0256B": 256, "00.5KiB": 512, "0.001kB": 1, "9223372036854775807": math.MaxInt64, "8589934591GiB": 8589934591 << 30,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "is not a number", "B": "is not a number", "-1": "is not a number", "1.": "is not a number", ".5KiB": "is not a number", "1..5K": "is not a number",
		"1.5B": "is not a whole number of bytes", "1,024": "has a comma", "1TB": "has an unknown unit \"TB\"", "1KiBB": "unknown unit",
		"8589934592GiB": "is too large", "9223372036854775808": "is too large", "0x10": "is not a number", "1_000": "is not a number", "0644": "begins with 0", "00": "begins with 0", "1.0000000000000000001GB": "too many decimals",
	} {
		if got, err := ParseBytes(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %d, %v; want an error with %q", text, got, err, want)
		}
	}
	hint := func(text, want string) {
		var wrong *Error
		if _, err := ParseBytes(text); !errors.As(err, &wrong) || wrong.Hint != want {
			t.Errorf("%q: hint %q, want %q", text, wrong.Hint, want)
		}
	}
	hint("1.5B", "write 1B or 2B")
	hint("1,024", "write 1024 or 1.024")
	hint("1KiN", "did you mean KiB?")
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5s": 5 * time.Second, "5 s": 5 * time.Second, "5sec": 5 * time.Second, "5 seconds": 5 * time.Second, "1m30s": 90 * time.Second, "1m 30s": 90 * time.Second,
		"2min": 2 * time.Minute, "1h": time.Hour, "1d": 24 * time.Hour, "1.5 days": 36 * time.Hour, "250ms": 250 * time.Millisecond, "50us": 50 * time.Microsecond,
		"50µs": 50 * time.Microsecond, "50μs": 50 * time.Microsecond, "1ns": 1, ".5s": 500 * time.Millisecond, "0": 0, "0s": 0, "+5s": 5 * time.Second,
		"2562047h47m16.854775807s": math.MaxInt64,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]Error{
		"5":        {"has no unit", "write 5s or 5ms"},
		"1.5":      {"has no unit", "write 1.5s or 1.5ms"},
		"1,5":      {"has a comma, which could divide thousands or be the decimal point", "write 15 or 1.5"},
		"-5s":      {"is negative", DurationForm},
		"":         {"is not a duration", DurationForm},
		"soon":     {"is not a duration", DurationForm},
		"5S":       {"is not a duration", "write 5s"},
		"5M":       {"is not a duration", DurationForm},
		"5s5":      {"is not a duration", DurationForm},
		"s":        {"is not a duration", DurationForm},
		"1..5s":    {"is not a duration", DurationForm},
		"2000000d": {"is too long", DurationForm},
		"106752d":  {"is too long", DurationForm},
		"0.5ns":    {"is shorter than 1ns", DurationForm},
	} {
		var wrong *Error
		if got, err := ParseDuration(text); !errors.As(err, &wrong) || *wrong != want {
			t.Errorf("%q is %v, %+v; want %+v", text, got, wrong, want)
		}
	}
}

func TestPercent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		x := r.Float64() * math.Pow(10, float64(r.IntN(40)-36))
		if back, err := ParsePercent(PercentText(x)); err != nil && !strings.Contains(err.Error(), "percentage") || err == nil && back != x {
			t.Fatalf("%v is written %s, which is read as %v, %v", x, PercentText(x), back, err)
		}
	}
	for text, want := range map[string]float64{"0%": 0, "5%": 0.05, "33.3%": 0.333, "99.9%": 0.999, "1000%": 10, "0.01%": 0.0001} {
		if got, err := ParsePercent(text); err != nil || got != want || PercentText(want) != text {
			t.Errorf("%q is %v, %v; written %s", text, got, err, PercentText(want))
		}
	}
	for _, text := range []string{"", "5", "%", "-5%", "x%", "5 %"} {
		if got, err := ParsePercent(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestWhole(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "7": 7, "20k": 20000, "20K": 20000, "1.5k": 1500, "2M": 2e6, "1G": 1e9, "1e6": 1e6, "1.5E3": 1500, "18446744073709551615": math.MaxUint64} {
		if got, err := Whole(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "-1", "1.5", "1e-1", "1e30", "1e", "e1", "1m", "1kk", "0x1", "18446744073709551616", "18446744073709551615k", "1,000", "1e1e1", "1e++1", "1000e+-3", "1e1000"} {
		if got, err := Whole(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"64KiB", "1.5MB", "512", "1m30s", "2d", "20k", "1e6", "2147483647.999999999GiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseBytes(s); err == nil {
			if again, err := ParseBytes(Bytes(n)); n < 0 || err != nil || again != n {
				t.Errorf("%q is %d, written %s, which is %d, %v", s, n, Bytes(n), again, err)
			}
		}
		if d, err := ParseDuration(s); err == nil {
			if again, err := ParseDuration(d.String()); d < 0 || err != nil || again != d {
				t.Errorf("%q is %v, which is read as %v, %v", s, d, again, err)
			}
		}
		Whole(s)
	})
}
