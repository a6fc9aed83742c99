package driver

import "testing"

func TestNamesOfRuns(t *testing.T) {
	n := Naming{Separator: "."}
	for _, c := range []struct {
		prefix, name string
		want         bool
	}{
		{"", "s9.0a1b2c3d.t0", true},
		{"", "s9.0a1b2c3d-c.c0", true},
		{"", "s9.0a1b2c3d", true},
		{"bench.", "bench.0a1b2c3d.t0", true},
		{"bench.", "bench.orders", false},
		{"bench.", "bench.20261101.eu", true}, // a date: see Leftover.Ours
		{"bench.", "bench.deadbeefs", false},
		{"bench.", "s9.0a1b2c3d.t0", false},
		{"", "s9.0A1b2c3d.t0", false},
		{"", "s9.0a1b2c3", false},
		{"", "orders", false},
		{"", "s9.orders.t0", false},
	} {
		if got := n.OfRun(c.prefix, c.name); got != c.want {
			t.Errorf("%q with the prefix %q: %t", c.name, c.prefix, got)
		}
		if c.prefix != "" && n.Marked(c.prefix) {
			t.Errorf("%q is taken for our mark", c.prefix)
		}
	}
}
