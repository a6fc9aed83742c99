package cli

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-1, "0 ns"}, {0, "0 ns"}, {1, "1 ns"}, {999, "999 ns"},
		{1000, "1.00 µs"}, {9994, "9.99 µs"}, {9995, "10.0 µs"}, {74_212, "74.2 µs"}, {99_949, "99.9 µs"}, {99_950, "100 µs"},
		{999_499, "999 µs"}, {999_600, "1.00 ms"}, {1_204_000, "1.20 ms"}, {816 * time.Millisecond, "816 ms"},
		{2 * time.Second, "2.00 s"}, {100 * time.Second, "100 s"}, {time.Hour, "3,600 s"},
	} {
		if got := span(c.d); got != c.want {
			t.Errorf("span(%d) = %q, want %q", c.d, got, c.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0 s"}, {0, "0 s"}, {300 * time.Millisecond, "0.3 s"}, {2 * time.Second, "2 s"}, {2740 * time.Millisecond, "2.7 s"},
		{10 * time.Second, "10 s"}, {10_600 * time.Millisecond, "11 s"}, {119 * time.Second, "119 s"},
		{150 * time.Second, "2 min 30 s"}, {2*time.Hour + time.Minute + 5*time.Second, "2 h 1 min 5 s"},
	} {
		if got := seconds(c.d); got != c.want {
			t.Errorf("seconds(%v) = %q, want %q", c.d, got, c.want)
		}
	}
}
