package spell

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"completion", "doctor", "drivers", "report", "run", "verify", "version"}
	for _, c := range []struct{ s, want string }{
		{"rnu", "run"}, {"ru", "run"}, {"runn", "run"}, {"reprot", "report"}, {"RUN", "run"}, {"vrfy", "verify"},
		{"comp", "completion"}, {"zebra", ""}, {"", ""}, {"versoin", "version"},
	} {
		if got := Nearest(c.s, words); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.s, got, c.want)
		}
	}
}
