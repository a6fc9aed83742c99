package driver_test

import (
	"math"
	"testing"
	"testing/quick"

	"sixnines/driver"
)

func TestParseByteSize(t *testing.T) {
	for text, want := range map[string]driver.ByteSize{
		"0": 0, "0B": 0, "1": 1, "512B": 512, "64KiB": 65536, "64 KiB": 65536, "1kB": 1000, "1k": 1024, "1KB": 1000, "1kib": 1024, " 1 ": 1, "1e3": 1000, "1.5MB": 1_500_000,
		"0.5KiB": 512, "2GiB": 2 << 30, "3GB": 3e9, "9223372036854775807": math.MaxInt64, "8589934591GiB": 8589934591 << 30,
	} {
		if got, err := driver.ParseByteSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "-1", "+1", "1 x", "1.B", ".5KiB", "0.3B", "1.0001KiB",
		"8589934592GiB", "9223372036854775808", "0x10", "1_000", "1.2.3MB", "1.0000000001GB"} {
		if got, err := driver.ParseByteSize(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func TestByteSizeString(t *testing.T) {
	for size, want := range map[driver.ByteSize]string{0: "0B", 1: "1B", 1000: "1kB", 1024: "1KiB", 1536: "1536B", 1_500_000: "1500kB", 64 << 20: "64MiB"} {
		if got := size.String(); got != want {
			t.Errorf("%d: %q, want %q", int64(size), got, want)
		}
	}
	same := func(n int64) bool {
		n &= math.MaxInt64
		got, err := driver.ParseByteSize(driver.ByteSize(n).String())
		return err == nil && int64(got) == n
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func FuzzParseByteSize(f *testing.F) {
	for _, s := range []string{"64KiB", "1.5MB", "512", "0.5KiB", "8589934591GiB", "2147483647.999999999GiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		size, err := driver.ParseByteSize(s)
		if err != nil {
			return
		}
		if size < 0 {
			t.Fatalf("%q is %d", s, size)
		}
		if again, err := driver.ParseByteSize(size.String()); err != nil || again != size {
			t.Errorf("%q is %v, which is %d, %v", s, size, again, err)
		}
	})
}
