package coordinator

import (
	"testing"
	"time"

	"sixnines/internal/fleet/wire"
)

// Agents that have done their part wait for the others before they remove what those use. A coordinator that hears nobody for a
// while concludes nothing from that, also not from the order in which it hears of them again; an agent that alone is
// silent keeps the others no longer than it may.
func TestADeafCoordinatorLetsNobodyGo(t *testing.T) {
	const patience = 10 * time.Second
	now := int64(time.Hour)
	r := &run{Config: Config{Patience: patience}}
	for _, name := range []string{"a", "b", "c"} {
		m := &member{heard: now}
		m.Name, m.status.Point = name, wire.Ready
		r.members = append(r.members, m)
	}
	// pass lets time go by, in which some are heard of once a second, and returns how many were let go.
	pass := func(d time.Duration, heard ...int) (passed int) {
		for end := now + int64(d); now < end; now += int64(time.Second) {
			for _, i := range heard {
				r.members[i].heard = now
				r.hearing.note(now)
				passed += len(r.pass(now))
			}
			passed += len(r.pass(now))
		}
		return passed
	}
	expect := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d were let go, want %d", what, got, want)
		}
	}
	expect("all are measuring", pass(5*time.Second, 0, 1, 2), 0)
	r.members[0].status.Point = wire.Closed
	expect("one is done", pass(20*time.Second, 0, 1, 2), 0)
	expect("the coordinator is deaf", pass(15*time.Second), 0)
	expect("it hears again, that one first", pass(5*time.Second, 0, 1, 2), 0)
	expect("one is silent for less than it may", pass(patience, 0, 1), 0)
	expect("it is back", pass(time.Second, 0, 1, 2), 0)
	r.members[1].status.Point = wire.Closed
	expect("it is silent for good", pass(patience+5*time.Second, 0, 1), 2)
	r.members[2].status.Point = wire.Closed
	expect("it is back after all", pass(2*time.Second, 0, 1, 2), 1)
}
