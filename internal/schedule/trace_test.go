package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseTrace(t *testing.T) {
	got, err := parseTrace("f", strings.NewReader("# header\n0\n\n 5 \r\n5\n1.5us\n1ms\n1s\nnonsense beyond the window\n"), time.Second)
	if want := []int64{0, 5, 5, 1500, 1e6}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"1\nx\n":                          "f:2: \"x\" is not an instant: write nanoseconds, or a number with its unit",
		"1\n\n-1\n":                       "f:3: the instant -1 lies before the window's start",
		"5\n4ns\n":                        "f:2: the instant 4ns comes after a later one (5ns): sort the file",
		"1.5\n":                           "f:1: \"1.5\" is not an instant",
		"9223372036854775808\n":           "f:1: \"9223372036854775808\" is not an instant",
		"1\n" + strings.Repeat("1", 5000): "f:2: the line is longer than 4096 bytes",
	} {
		if _, err := parseTrace("f", strings.NewReader(text), time.Second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", text, err, want)
		}
	}
}

func FuzzParseTrace(f *testing.F) {
	f.Add("# x\n1\n2\n\n3ms\n")
	f.Add("5\n4\n")
	f.Add("-1\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseTrace("f", strings.NewReader(text), time.Hour)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "trace: f:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("a poor error: %v", err)
			}
			return
		}
		if !slices.IsSorted(got) || len(got) > 0 && (got[0] < 0 || got[len(got)-1] >= int64(time.Hour)) {
			t.Fatalf("%v", got)
		}
	})
}
