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
		used  time.Duration // ago; 0: not known
		names []string
		kept  bool
	}{
		{2 * time.Hour, nil, false},
		{time.Minute, nil, true},
		{0, nil, true},
		{time.Minute, []string{"s"}, false},
		{0, []string{"s"}, false},
		{2 * time.Hour, []string{"other"}, true},
	} {
		l := driver.Leftover{What: "stream", Name: "s"}
		if c.used > 0 {
			l.Used = now.Add(-c.used)
		}
		if why := keeps(l, cleanOptions{remove: true, names: c.names}, now); (why != "") != c.kept {
			t.Errorf("unused for %v, names %v: %q", c.used, c.names, why)
		}
	}
}
