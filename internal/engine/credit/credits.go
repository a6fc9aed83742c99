// Package credit owns the messages in flight: how many the producers of a connection may have, which
// have a credit, when a credit comes back, and which sender is woken then.
package credit

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/payload"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/stream"
)

// Credits are the messages that the producers of one connection may have in flight, and those
// that they have. No other type counts them: a sender takes a credit with a slot (Has, Take, Open), and
// each credit comes back once, by whatever ends the message first: its acknowledgement (Release),
// its first delivery (Delivered), a refusal of the broker (Refused) or of Send (TakeBack), or its
// time limit (Expire). Has, Take, Open, PutBack and TakeBack belong to the goroutine that sends on
// the connection, Expire to the collector; the others are called on the client's goroutines. In closed
// loops the producers that share a connection each take their slots by TakeShared, and the goroutine
// that took a slot calls Open, PutBack and TakeBack; no credits are counted then.
//
// If several goroutines try to take a credit back, one of two things decides. Where acknowledgements
// end the time in flight it is the slot's state: only one goroutine swaps it from borrowed. Where
// deliveries do, only the instant of sending is known of a message, and the counts in expiry by that
// instant decide: a bucket that was swept has no credits left to take back.
type Credits struct {
	// Limit is how many messages may be in flight; 0: one for each slot. It does not
	// change after [Credits.Plan].
	Limit   int64
	counted bool    // InFlight is kept
	expiry  *expiry // nil: acknowledgements end the time in flight, or no credits are counted
	slots   *slots
	taking  sync.Mutex // guards slots.take in a closed loop, where producers share a connection

	// next is a free slot that Has has taken for the message that is due next; nil: it has taken no slot.
	// It belongs to the goroutine that sends.
	next *Slot

	// oldestInFlight is a lower bound of when the messages in flight were sent. It is set and
	// read by Expire only.
	oldestInFlight int64

	// InFlight is how many messages have a credit, the warm-up's included; 0 where credits are not
	// counted. Any goroutine takes off and reads. Only the goroutine that sends adds, after it has
	// looked, so InFlight never exceeds Limit.
	InFlight atomic.Int64
	// TimedOut counts measured messages that their time limit ended. Any goroutine adds and reads.
	TimedOut atomic.Int64
	// Free wakes a sender that waits for a credit.
	Free freedCredit
}

const (
	// inFlightDefault is how many messages a driver with acknowledgements may have in flight if the
	// scenario does not say.
	inFlightDefault = 65536
	// slotsDefault is how many payloads a connection has if nothing limits it.
	slotsDefault = 1024
)

// Plan decides, before anything is sent, how many messages the i-th of n connections of p may have
// in flight, and makes its slots.
func (c *Credits) Plan(p *plan.Plan, i, n int) {
	w, onDelivery := p.Workload, p.Flow.Closes == flow.OnDelivery
	slots, limited := slotsDefault, p.Flow.Acked
	if p.Flow.Acked {
		slots = max(1, cmp.Or(w.Limit(), inFlightDefault)/n)
		c.Limit = int64(slots)
	} else if limit := w.Limit(); limit > 0 && onDelivery && !p.ComesLate {
		c.Limit, limited = int64(max(1, limit/n)), true
	}
	if byBytes := int(w.InFlight.Bytes/w.Size.Largest()) / n; byBytes < slots {
		slots = max(1, byBytes)
		if limited {
			c.Limit = min(c.Limit, int64(slots))
		}
	}
	c.counted = limited && !p.Flow.Closed // a closed loop has its own list of the messages that it waits for
	if c.counted && onDelivery {
		c.expiry = newExpiry(w.Timeout)
	}
	if p.Flow.Acked {
		// What timed out keeps its payload until Done: with as many slots as credits, losses would
		// throttle the load.
		slots *= 2
	}
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], p.Seed)
	binary.LittleEndian.PutUint64(seed[8:], uint64(i))
	c.slots = newSlots(slots, !p.Flow.Acked, &payload.Bodies{Size: int(w.Size.Largest()), Payload: w.Payload, Material: p.Material,
		Sizes: p.Sizes, RNG: rand.NewChaCha8(sha256.Sum256(seed[:])), Lane: i, Lanes: n, Key: int(w.KeySize)})
}

// EndOnDelivery reports whether deliveries end the time in flight, and not acknowledgements.
func (c *Credits) EndOnDelivery() bool { return c.expiry != nil }

// Has reports whether there is a slot, which it takes and keeps for Take, and a credit.
func (c *Credits) Has() bool {
	if c.next == nil {
		c.next = c.slots.take()
	}
	return c.next != nil && (c.Limit == 0 || c.InFlight.Load() < c.Limit)
}

// Lent reports whether the client still has the payload of any message. It is safe for concurrent use.
func (c *Credits) Lent() bool {
	for i := range c.slots.there.Load() {
		if c.slots.all[i].state.Load()&slotMask != slotFree {
			return true
		}
	}
	return false
}

// Take returns the slot that Has has taken. Has must have returned true.
func (c *Credits) Take() *Slot {
	sl := c.next
	c.next = nil
	return sl
}

// TakeSlot takes a slot for a message that needs no credit; nil: the client has them all.
func (c *Credits) TakeSlot() *Slot { return c.slots.take() }

// TakeShared takes a slot for one of the producers of a closed loop, several of which
// may share a connection, each on a goroutine of its own; nil: the client has them all.
func (c *Credits) TakeShared() *Slot {
	c.taking.Lock()
	defer c.taking.Unlock()
	sl := c.slots.take()
	if sl != nil && c.slots.rotate {
		// A slot in rotation stays free until Open: without this another producer could take
		// it before that.
		sl.state.Store(sl.state.Load() | slotBorrowed)
	}
	return sl
}

// Open lends the slot of a message to the client and gives the message its credit, which only data
// needs. It returns the token by which the client gives the slot back. sent is CLOCK_MONOTONIC. The
// store of the state comes after what the sender wrote to the slot, and so publishes it to Done and
// Expire.
func (c *Credits) Open(sl *Slot, data bool, sent int64, measured bool) (token uint64) {
	if c.counted {
		atomic.StoreInt64(&sl.Sent, sent) // Expire reads it
	} else {
		sl.Sent = sent
	}
	gen := (sl.state.Load()>>2 + 1) & 0xffffffff
	sl.state.Store(gen<<2 | slotBorrowed)
	if data && c.counted {
		c.InFlight.Add(1)
		if c.expiry != nil {
			c.expiry.opened(sent, measured)
		}
	}
	return gen<<32 | uint64(sl.index)
}

// PutBack frees a slot that was taken and not lent to the client.
func (c *Credits) PutBack(sl *Slot) {
	sl.state.Store(sl.state.Load() &^ slotMask)
	c.slots.release(sl)
}

// TakeBack frees a slot whose message Send has refused, and its credit. sent is what Open was given. It
// wakes no sender: the caller is the one.
func (c *Credits) TakeBack(sl *Slot, data bool, sent int64) {
	measured := sl.Measured.Load()
	was := sl.state.Swap(sl.state.Load() &^ slotMask)
	c.slots.release(sl) // from here on it may be another message's
	if !data || !c.counted {
		return
	}
	// One that timed out while Send lasted has lost its credit already.
	if c.expiry == nil && was&slotMask == slotBorrowed || c.expiry != nil && c.expiry.closed(sent, measured) {
		c.InFlight.Add(-1)
	}
}

// Borrowed returns the slot that token borrowed; false if the driver gave a wrong token.
func (c *Credits) Borrowed(token uint64) (sl *Slot, ok bool) {
	if i := uint32(token); int(i) < len(c.slots.all) {
		sl = &c.slots.all[i]
		if st := sl.state.Load(); st>>2 == token>>32 && st&slotMask != slotFree {
			return sl, true
		}
	}
	return nil, false
}

// Returned frees the slot of a driver without acknowledgements; false: it was freed before.
func (c *Credits) Returned(sl *Slot, token uint64) bool {
	if gen := token >> 32 << 2; !sl.state.CompareAndSwap(gen|slotBorrowed, gen) {
		return false
	}
	c.slots.release(sl)
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

// Release frees the slot of a message that was answered at now. over observes the connection by which
// the answer came; nil: not known. inFlight says that the message is data and has not timed out, so
// that it may still have its credit. The slot and the credit are free before the sender is woken: it
// looks for both.
func (c *Credits) Release(sl *Slot, token uint64, inFlight bool, now int64, over *observe.Tap) {
	sl.state.Store(token >> 32 << 2)
	c.slots.release(sl)
	if inFlight && c.counted && c.expiry == nil {
		c.InFlight.Add(-1)
	}
	c.Free.FreedBy(now, over)
}

// Refused takes back the credit of a message that the broker refused, where deliveries end the
// time in flight: what was refused is neither delivered nor replied to. If it was delivered all the
// same, which came reports, its credit is back already.
func (c *Credits) Refused(sl *Slot, came func(st *stream.Stream, seq uint64) bool) {
	if c.expiry != nil && !came(sl.Stream, sl.Seq) && c.expiry.closed(sl.Sent, sl.Measured.Load()) {
		c.InFlight.Add(-1)
	}
}

// Delivered takes back the credit of a message of st at its first delivery, and completes it for the
// closed loop that waits for it. It reports whether the message still had a credit, or its loop still
// waited. sent and now are CLOCK_MONOTONIC. It is called where deliveries end the time in flight.
func (c *Credits) Delivered(st *stream.Stream, seq uint64, sent, now int64, measured bool, over *observe.Tap) bool {
	if c.counted {
		if st.Nacked.Has(seq) || !c.expiry.closed(sent, measured) {
			return false
		}
		c.InFlight.Add(-1)
		c.Free.FreedBy(now, over)
	}
	return st.Waiter == nil || st.Waiter.Complete(seq, now)
}

// Expire takes messages that were sent before horizon, CLOCK_MONOTONIC, out of those in flight. The
// payloads of those that wait for an acknowledgement stay borrowed until Done. It skips its look while
// no message can be that old, by the oldest that the last look found: slots are more memory than the
// processors' caches, which the senders need.
func (c *Credits) Expire(horizon int64) {
	if !c.counted {
		return
	}
	if c.expiry != nil {
		n, measured := c.expiry.sweep(horizon)
		c.InFlight.Add(-n)
		c.TimedOut.Add(measured)
		c.Free.Freed()
		return
	}
	if horizon <= c.oldestInFlight {
		return
	}
	oldest := clock.Now() // a message that is opened from now on is younger, or older by one send at most
	for i := range c.slots.there.Load() {
		sl := &c.slots.all[i]
		st := sl.state.Load()
		if st&slotMask != slotBorrowed {
			continue
		}
		// The slot may become another message's at any time. Then what is read here is wrong, but the
		// generation has changed and the swap fails.
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
