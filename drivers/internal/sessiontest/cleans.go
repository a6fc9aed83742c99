package sessiontest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
)

// Cleans checks that what a run has made at the target is listed by a session of another, as the run's beyond doubt if ours,
// and removed by that.
func Cleans(t *testing.T, d driver.Driver, target driver.Target, ours bool, groups ...string) {
	t.Helper()
	const run = "0a1b2c3d"
	target.Run = run
	s := Open(t, d, target)
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0", "t1"}, Groups: groups, Producers: 1, Consumers: 1, MaxSize: 64}); err != nil {
		t.Fatal(err)
	}
	target.Run = "clean"
	c := Open(t, d, target).(driver.Cleaner)
	listed := func() (all []driver.Leftover) {
		found, err := c.Leftovers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(found, func(l driver.Leftover) bool { return !strings.Contains(l.Name, run) })
	}
	// A cluster tells its nodes of what was made and removed.
	until := func(n int) []driver.Leftover {
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if all := listed(); len(all) == n || time.Now().After(end) {
				return all
			}
		}
	}
	all := until(2 + len(groups))
	if len(all) != 2+len(groups) {
		t.Fatalf("of two topics and %d groups are found %+v", len(groups), all)
	}
	for _, l := range all {
		if l.Ours != ours {
			t.Errorf("%+v: a run's beyond doubt: %t, want %t", l, l.Ours, ours)
		}
		for range 2 { // the second time it is gone
			if err := c.Remove(t.Context(), l); err != nil {
				t.Errorf("remove %+v: %v", l, err)
			}
		}
	}
	if all := until(0); len(all) != 0 {
		t.Errorf("left: %+v", all)
	}
}
