package account

import (
	"sync"

	"sixnines/internal/clock"
	"sixnines/result"
)

// holdingGrid is how far readings of a backlog are apart at least, in ns, beside those at
// the instants at which consumers pause, resume and connect.
const holdingGrid = 10_000_000

// holding are the readings of what the broker keeps for consumers that come late or
// pause, since the last interval. Its methods are safe for concurrent use; so consumers
// make theirs before they go on.
type holding struct {
	mu       sync.Mutex
	readings []result.BacklogReading
	last     int64 // instant of the newest
}

// Hold reads how much was sent and how much has come, and returns when.
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

// HoldOften is hold where the newest reading is old enough, of a load whose consumers come
// late or pause.
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

// held moves the readings up to an instant, ns from the window's start, into an interval.
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
