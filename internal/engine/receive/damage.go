package receive

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
)

// Claim is a message that came damaged to a group, as the envelopes of these deliveries say.
type Claim struct {
	Number     uint64
	Intended   int64 // when it was due, CLOCK_MONOTONIC
	Deliveries int64 // that say so, at least 1
	alone      bool  // it did not come whole
}

// damages are the claims of one stream and group. The methods are safe for concurrent use.
type damages struct {
	some   atomic.Bool // there is a claim; set before it is looked whether its message came whole
	mu     sync.Mutex
	claims map[uint64]*Claim // by sequence number; guarded by mu
}

// add notes a damaged delivery of a message, and reports whether nothing else of the message has come: it is
// not in the ledger, and did not come damaged before. A delivery that names another instant than one before it
// of the same number is not noted: one of the two is wrong.
func (d *damages) add(number uint64, intended int64, ledger *integrity.Ledger) (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.some.Store(true)
	c := d.claims[number]
	if c == nil {
		if d.claims == nil {
			d.claims = map[uint64]*Claim{}
		}
		c = &Claim{Number: number, Intended: intended, Deliveries: 1, alone: !ledger.Has(number)}
		d.claims[number] = c
		return c.alone
	}
	if c.Intended == intended {
		c.Deliveries++
	}
	return false
}

// whole notes that a message is in the ledger from now on, and reports whether a damaged delivery of it had come
// alone.
func (d *damages) whole(number uint64) (was bool) {
	if !d.some.Load() {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.claims[number]
	if c == nil || !c.alone {
		return false
	}
	c.alone = false
	return true
}

// Damaged returns which messages of a stream came damaged to the group, in order. It is called when no more can
// come.
func (g *Group) Damaged(st *stream.Stream) (all []Claim) {
	i, bound := g.index(st)
	if !bound {
		return nil
	}
	d := &g.damaged[i]
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, number := range slices.Sorted(maps.Keys(d.claims)) {
		all = append(all, *d.claims[number])
	}
	return all
}
