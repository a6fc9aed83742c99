package report

import (
	"testing"
	"unicode"
)

func TestTimes(t *testing.T) {
	for ratio, want := range map[float64]string{2.44: "2.4", 37.2: "37", 2978: "3,000", 99.6: "100"} {
		if got := times(ratio); got != want {
			t.Errorf("times(%g) = %q, want %q", ratio, got, want)
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
