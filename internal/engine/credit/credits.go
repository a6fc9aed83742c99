// Package credit owns what is in flight: how many messages the producers of a connection may
// have under way, who has one, when it comes back, and who is woken then.
package credit

import (
	"sync"
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/stream"
)

// Credits are the messages that the producers of one connection may have in flight, and those
// that they have. Nothing else knows: a sender takes a credit with a slot (has, take, open), and
// each credit comes back once, by whatever ends the message first: its acknowledgement (release),
// its first delivery (delivered), a refusal of the broker (refused) or of Send (takeBack), or its
// time limit (expire). has, take, open and takeBack belong to the goroutine that has the
// connection, expire to the collector's; the others come from the client's goroutines.
//
// Two things decide who takes a credit back where several try. Where acknowledgements end the
// time in flight it is the slot's state word: only one of them swaps it from borrowed. Where
// deliveries do, nothing is known of the message but when it was sent, and the counts in expiry
// by the time of sending decide: a bucket that was swept has no credits left to take back.
type Credits struct {
	Slots   *slots
	taking  sync.Mutex // of slots; closed loops only
	Limit   int64      // of messages in flight; 0: none
	Counted bool       // messages in flight are counted
	Expiry  *expiry    // nil: acknowledgements end the time in flight

	// next is a free slot for the message that is due next; nil: none is taken yet.
	next      *Slot
	nextIndex uint32

	// oldestInFlight is a lower bound of when the messages in flight were sent. It is set and
	// read by expire only.
	oldestInFlight int64

	InFlight atomic.Int64
	TimedOut atomic.Int64 // measured messages that their time limit ended
	Free     freedCredit
}

// EndOnDelivery reports whether deliveries end the time in flight, and not acknowledgements.
func (c *Credits) EndOnDelivery() bool { return c.Expiry != nil }

// Has reports whether there is a slot, which it takes, and a credit.
func (c *Credits) Has() bool {
	if c.next == nil {
		c.next, c.nextIndex = c.Slots.Take()
	}
	return c.next != nil && (c.Limit == 0 || c.InFlight.Load() < c.Limit)
}

// Take returns the slot that has has taken, and its index.
func (c *Credits) Take() (*Slot, uint32) {
	sl := c.next
	c.next = nil
	return sl, c.nextIndex
}

// TakeShared takes a slot for one of the producers of a closed loop, several of which
// may share a connection, each on a goroutine of its own.
func (c *Credits) TakeShared() (*Slot, uint32) {
	c.taking.Lock()
	defer c.taking.Unlock()
	sl, i := c.Slots.Take()
	if sl != nil && c.Slots.rotate {
		// A slot in rotation is free until it is sent: other producers may take
		// it before that.
		sl.state.Store(sl.state.Load() | slotBorrowed)
	}
	return sl, i
}

// Open lends a slot to the client, for a message that was built in it, and returns the token
// that the client gives it back by. A message that is no data has no credit.
func (c *Credits) Open(sl *Slot, index uint32, data bool, sent int64, measured bool) (token uint64) {
	if c.Counted {
		atomic.StoreInt64(&sl.Sent, sent) // expire looks at it
	} else {
		sl.Sent = sent
	}
	gen := (sl.state.Load()>>2 + 1) & 0xffffffff
	sl.state.Store(gen<<2 | slotBorrowed)
	if data && c.Counted {
		c.InFlight.Add(1)
		if c.Expiry != nil {
			c.Expiry.opened(sent, measured)
		}
	}
	return gen<<32 | uint64(index)
}

// PutBack frees a slot that was taken and not lent to the client.
func (c *Credits) PutBack(sl *Slot, index uint32) {
	sl.state.Store(sl.state.Load() &^ slotMask)
	c.Slots.release(index)
}

// TakeBack frees a slot whose message Send has refused, and its credit.
func (c *Credits) TakeBack(sl *Slot, index uint32, data bool, sent int64) {
	measured := sl.Measured.Load()
	was := sl.state.Swap(sl.state.Load() &^ slotMask)
	c.Slots.release(index) // from here on it may be another message's
	if !data || !c.Counted {
		return
	}
	// One that timed out while Send lasted has lost its credit already.
	if c.Expiry == nil && was&slotMask == slotBorrowed || c.Expiry != nil && c.Expiry.closed(sent, measured) {
		c.InFlight.Add(-1)
	}
}

// Borrowed returns the slot that token borrowed; false if the driver gave a wrong token.
func (c *Credits) Borrowed(token uint64) (*Slot, uint32, bool) {
	i := uint32(token)
	if int(i) < len(c.Slots.All) {
		sl := &c.Slots.All[i]
		if st := sl.state.Load(); st>>2 == token>>32 && st&slotMask != slotFree {
			return sl, i, true
		}
	}
	return nil, 0, false
}

// Returned frees the slot of a driver without acknowledgements; false: it was freed before.
func (c *Credits) Returned(sl *Slot, index uint32, token uint64) bool {
	if gen := token >> 32 << 2; !sl.state.CompareAndSwap(gen|slotBorrowed, gen) {
		return false
	}
	c.Slots.release(index)
	c.Free.Freed()
	return true
}

// Answered begins to take a message's answer; expired says that it has timed out before. Of two
// answers with the same token one wins; to the other it returns false.
func (c *Credits) Answered(sl *Slot, token uint64) (expired, ok bool) {
	gen := token >> 32 << 2
	if sl.state.CompareAndSwap(gen|slotBorrowed, gen|slotExpired) {
		return false, true
	}
	return true, sl.state.CompareAndSwap(gen|slotExpired, gen|slotMask)
}

// Release frees the slot of a message that was answered at now, over a connection of which
// over knows when it was read; nil: nobody does. inFlight says that the message is data and
// has not timed out, so that it may have its credit still.
func (c *Credits) Release(sl *Slot, index uint32, token uint64, inFlight bool, now int64, over *observe.Tap) {
	sl.state.Store(token >> 32 << 2)
	c.Slots.release(index)
	if inFlight && c.Counted && c.Expiry == nil {
		c.InFlight.Add(-1)
	}
	c.Free.FreedBy(now, over)
}

// Refused takes back the credit of a message that the broker refused, where deliveries end the
// time in flight: what was refused is not delivered, nor replied to. Where it was all the same,
// which came tells, its credit is back already.
func (c *Credits) Refused(sl *Slot, came func(st *stream.Stream, seq uint64) bool) {
	if c.Expiry != nil && !came(sl.Stream, sl.Seq) && c.Expiry.closed(sl.Sent, sl.Measured.Load()) {
		c.InFlight.Add(-1)
	}
}

// Delivered takes back the credit of a message of st at its first delivery, and tells the loop
// that waits for it. It reports whether the message still had one, or its loop still waited. It
// is called where deliveries end the time in flight.
func (c *Credits) Delivered(st *stream.Stream, seq uint64, sent, now int64, measured bool, over *observe.Tap) bool {
	if c.Counted {
		if st.Nacked.Has(seq) || !c.Expiry.closed(sent, measured) {
			return false
		}
		c.InFlight.Add(-1)
		c.Free.FreedBy(now, over)
	}
	return st.Waiter == nil || st.Waiter.Complete(seq, now)
}

// Expire takes messages that were sent before horizon out of those in flight.
// The payloads of those that wait for an acknowledgement stay borrowed until
// Done. Before it has found one that old it does not look: slots are more memory
// than the processors' caches, which the senders need.
func (c *Credits) Expire(horizon int64) {
	if !c.Counted {
		return
	}
	if c.Expiry != nil {
		n, measured := c.Expiry.sweep(horizon)
		c.InFlight.Add(-n)
		c.TimedOut.Add(measured)
		c.Free.Freed()
		return
	}
	if horizon <= c.oldestInFlight {
		return
	}
	oldest := clock.Now() // what is sent from now on is younger, or by no more than a send lasts
	for i := range c.Slots.there.Load() {
		sl := &c.Slots.All[i]
		st := sl.state.Load()
		if st&slotMask != slotBorrowed {
			continue
		}
		if sent, measured := atomic.LoadInt64(&sl.Sent), sl.Measured.Load(); sent >= horizon {
			oldest = min(oldest, sent)
		} else if sl.state.CompareAndSwap(st, st&^slotMask|slotExpired) {
			c.InFlight.Add(-1)
			if measured {
				c.TimedOut.Add(1)
			}
			c.Free.Freed()
		}
	}
	c.oldestInFlight = oldest
}
