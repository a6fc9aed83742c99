package driver

import "testing"

func TestNamesOfRuns(t *testing.T) {
	n := Naming{Separator: "."}
	for _, c := range []struct {
		prefix, name string
		want         bool
	}{
		{"", "sixnines.0a1b2c3d.t0", true},
		{"", "sixnines.0a1b2c3d-c.c0", true},
		{"", "sixnines.0a1b2c3d", true},
		{"bench.", "bench.0a1b2c3d.t0", true},
		{"bench.", "bench.orders", false},
		{"bench.", "bench.deadbeefs", false},
		{"bench.", "sixnines.0a1b2c3d.t0", false},
		{"", "sixnines.0A1b2c3d.t0", false},
		{"", "sixnines.0a1b2c3", false},
		{"", "orders", false},
		{"", "sixnines.orders.t0", false},
	} {
		if got := n.OfRun(c.prefix, c.name); got != c.want {
			t.Errorf("%q with the prefix %q: %t", c.name, c.prefix, got)
		}
	}
}
