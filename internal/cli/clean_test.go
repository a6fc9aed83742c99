package cli

import (
	"testing"
	"time"

	"sixnines/driver"
)

// Only what no run can be using is removed without its name.
func TestWhatCleanKeeps(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		ours  bool
		used  time.Duration // ago; 0: not known
		names []string
		kept  bool
	}{
		{true, 2 * time.Hour, nil, false},
		{true, time.Minute, nil, true},
		{true, 0, nil, true},
		{true, time.Minute, []string{"s"}, false},
		{true, 0, []string{"s"}, false},
		{true, 2 * time.Hour, []string{"other"}, true},
		{false, 2 * time.Hour, nil, true},
		{false, 2 * time.Hour, []string{"s"}, false},
	} {
		l := driver.Leftover{What: "stream", Name: "s", Ours: c.ours}
		if c.used > 0 {
			l.Used = now.Add(-c.used)
		}
		if why := keeps(l, cleanOptions{remove: true, names: c.names}, now); (why != "") != c.kept {
			t.Errorf("ours %t, unused for %v, names %v: %q", c.ours, c.used, c.names, why)
		}
	}
}
