package account

import (
	"sync"

	"sixnines/internal/clock"
	"sixnines/result"
)

// holdingGrid is the least time between two readings of a backlog, in ns. Readings at the instants at
// which consumers pause, resume and connect come on top.
const holdingGrid = 10_000_000

// holding has the readings, since the last interval, of what the broker keeps for consumers that
// come late or pause.
type holding struct {
	mu       sync.Mutex // guards the rest
	readings []result.BacklogReading
	last     int64 // when the newest was made, CLOCK_MONOTONIC
}

// Hold reads how much was sent and how much has come, and returns when, CLOCK_MONOTONIC. It is safe for
// concurrent use: a consumer that pauses or resumes makes its reading itself, before it goes on. The lock
// is held from the counters to the clock, so that readings are in the order of their instants.
func (a *Accounts) Hold() (now int64) {
	h := &a.holding
	h.mu.Lock()
	defer h.mu.Unlock()
	c, start := a.Counts(), a.Start.Load()
	if now = clock.Now(); now < start {
		return now
	}
	h.last = now
	h.readings = append(h.readings, result.BacklogReading{At: now - start, Sent: c.Sent, Expected: c.Expected, Arrived: c.Received + c.Corrupted, Earlier: c.Earlier})
	return now
}

// HoldOften calls Hold if the load's consumers come late or pause and the newest reading is older than
// apart ns, and than holdingGrid. It is safe for concurrent use.
func (a *Accounts) HoldOften(now, apart int64) {
	if !a.Interrupted {
		return
	}
	a.holding.mu.Lock()
	last := a.holding.last
	a.holding.mu.Unlock()
	if now-last >= max(holdingGrid, apart) {
		a.Hold()
	}
}

// held moves the readings up to an instant, ns from the window's start, into an interval. Its memory is
// used again.
func (a *Accounts) held(into []result.BacklogReading, to int64) []result.BacklogReading {
	h := &a.holding
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for n < len(h.readings) && h.readings[n].At <= to {
		n++
	}
	into = append(into[:0], h.readings[:n]...)
	h.readings = append(h.readings[:0], h.readings[n:]...)
	return into
}
