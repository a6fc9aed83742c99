package kit

import (
	"cmp"
	"slices"
	"sync"

	"sixnines/driver"
)

// Unanswered holds the messages of one connection that the broker has not answered,
// by consecutive numbers. The sending goroutines add them, and the reading goroutine
// resolves them, in any order; note is the driver's data about each. Done is called
// without a lock. Unanswered is safe for concurrent use.
type Unanswered[N any] struct {
	limit int // of unanswered messages; 0: no limit

	sending *Mark // marks the message that a Send reads; nil: no marks
	outcome func(note N, decided bool, err error) error

	mu    sync.Mutex      // guards all fields below
	room  sync.Cond       // signalled when a message is resolved, and at the end
	ring  []unanswered[N] // messages from first on; its length is a power of two
	first uint64          // number of the oldest unresolved message in ring
	next  uint64          // number of the next message
	late  []straggler[N]  // unresolved messages before first, sorted by number
	open  int             // number of unresolved messages
	ended bool
	empty chan struct{} // closed when open is 0; nil: no goroutine waits for it
}

// unanswered is one message.
type unanswered[N any] struct {
	acks    driver.Acks // nil: resolved
	token   uint64
	note    N
	decided bool // see Decide
}

// straggler is an old message that was moved out of the ring, since most messages after it
// are resolved.
type straggler[N any] struct {
	number uint64
	unanswered[N]
}

// NewUnanswered returns an empty Unanswered whose first message gets the number first. Add
// waits while limit messages are unanswered; 0: no limit.
func NewUnanswered[N any](first uint64, limit int) *Unanswered[N] {
	u := &Unanswered[N]{limit: limit, first: first, next: first, ring: make([]unanswered[N], 256)}
	u.room.L = &u.mu
	return u
}

// Marks makes Add mark each message with m. End then leaves the marked message to its Send,
// which reads the payload until it calls m.End. Only one goroutine at a time may send. Marks
// must be called before Add.
func (u *Unanswered[N]) Marks(m *Mark) { u.sending = m }

// Outcomes sets the function that returns the error for Done, for messages that were decided
// (see Decide) or whose answer is the error err. Outcomes must be called before Add.
func (u *Unanswered[N]) Outcomes(f func(note N, decided bool, err error) error) { u.outcome = f }

// from returns the oldest unresolved message from number on, and its number; nil if none
// exists. mu is held.
func (u *Unanswered[N]) from(number uint64) (uint64, *unanswered[N]) {
	if number < u.first {
		i, _ := slices.BinarySearchFunc(u.late, number, func(s straggler[N], n uint64) int { return cmp.Compare(s.number, n) })
		for ; i < len(u.late); i++ {
			if s := &u.late[i]; s.acks != nil {
				return s.number, &s.unanswered
			}
		}
		number = u.first
	}
	for ; number < u.next; number++ {
		if m := u.place(number); m.acks != nil {
			return number, m
		}
	}
	return number, nil
}

// at returns the message with the number; nil: it is resolved, or was never added. mu is
// held.
func (u *Unanswered[N]) at(number uint64) *unanswered[N] {
	if n, m := u.from(number); n == number {
		return m
	}
	return nil
}

// place returns the ring's entry for the number.
func (u *Unanswered[N]) place(number uint64) *unanswered[N] {
	return &u.ring[number&uint64(len(u.ring)-1)]
}

// full reports whether Add would wait. mu is held.
func (u *Unanswered[N]) full() bool { return !u.ended && u.limit > 0 && u.open >= u.limit }

// Full reports whether Add would wait. Collected frames should then be written first.
func (u *Unanswered[N]) Full() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.full()
}

// Add adds a message and returns its number. It blocks while limit messages are unanswered;
// false: End was called, and the message was not added.
func (u *Unanswered[N]) Add(acks driver.Acks, token uint64, note N) (number uint64, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.full() {
		u.room.Wait()
	}
	if u.ended {
		return 0, false
	}
	if u.next-u.first == uint64(len(u.ring)) {
		u.extend()
	}
	number = u.next
	*u.place(number) = unanswered[N]{acks: acks, token: token, note: note}
	u.next++
	u.open++
	if u.sending != nil {
		u.sending.Begin(number)
	}
	return number, true
}

// extend makes places in a ring that has none left. Where it holds few messages, because
// old ones have no answer while later ones have, those in its older half are put aside:
// else one message would have the ring grow for as long as it is not answered. mu is
// held.
func (u *Unanswered[N]) extend() {
	old := u.ring
	if u.open > len(old)/8 {
		u.ring = make([]unanswered[N], 2*len(old))
		for n := u.first; n < u.next; n++ {
			*u.place(n) = old[n&uint64(len(old)-1)]
		}
		return
	}
	u.late = slices.DeleteFunc(u.late, func(s straggler[N]) bool { return s.acks == nil })
	half := u.first + uint64(len(old)/2)
	number, m := u.from(u.first)
	for ; m != nil && number < half; number, m = u.from(number + 1) {
		u.late = append(u.late, straggler[N]{number, *m})
		*m = unanswered[N]{}
	}
	u.first = number
}

// Withdraw removes a message that was not sent, if no other was added after it, and reuses
// its number; false: the message has been resolved, or will be.
func (u *Unanswered[N]) Withdraw(number uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.at(number)
	if m == nil || number+1 != u.next {
		return false
	}
	u.take(m)
	u.next--
	u.first = min(u.first, u.next)
	return true
}

// Discard removes a message that was not sent; its number is not used again. False: the
// message has been resolved, or is being resolved.
func (u *Unanswered[N]) Discard(number uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.at(number)
	if m != nil {
		u.take(m)
	}
	return m != nil
}

// take removes an unresolved message. mu is held.
func (u *Unanswered[N]) take(m *unanswered[N]) unanswered[N] {
	was := *m
	*m = unanswered[N]{}
	for u.first < u.next && u.place(u.first).acks == nil {
		u.first++
	}
	for len(u.late) > 0 && u.late[0].acks == nil {
		u.late = u.late[1:]
	}
	u.open--
	u.room.Signal()
	if u.open == 0 && u.empty != nil {
		close(u.empty)
		u.empty = nil
	}
	return was
}

// Settle resolves the message with the number, with nil or the error of the broker's
// refusal; false: it was resolved already, or never added.
func (u *Unanswered[N]) Settle(number uint64, err error) bool {
	u.mu.Lock()
	at := u.at(number)
	if at == nil {
		u.mu.Unlock()
		return false
	}
	m := u.take(at)
	u.mu.Unlock()
	u.resolve(&m, err)
	return true
}

func (u *Unanswered[N]) resolve(m *unanswered[N], err error) {
	if (err != nil || m.decided) && u.outcome != nil {
		err = u.outcome(m.note, m.decided, err)
	}
	m.acks.Done(m.token, err)
}

// settleMost is the largest number of messages taken each time the lock is held.
const settleMost = 64

// SettleTo resolves all messages up to the number.
func (u *Unanswered[N]) SettleTo(number uint64, err error) { u.settle(0, number, nil, err) }

// SettleRange resolves the messages from one number to another.
func (u *Unanswered[N]) SettleRange(from, to uint64, err error) { u.settle(from, to, nil, err) }

// SettleOldest resolves the oldest message, and those after it as long as joins returns true:
// one answer is for all of them. A nil joins means only the oldest. False: no message is
// unresolved.
func (u *Unanswered[N]) SettleOldest(joins func(note *N) bool, err error) bool {
	if joins == nil {
		joins = func(*N) bool { return false }
	}
	return u.settle(0, ^uint64(0), joins, err) > 0
}

// settle resolves messages from one number to another and, where joins is not nil, until
// the second for which it is false.
func (u *Unanswered[N]) settle(from, to uint64, joins func(note *N) bool, err error) (all int) {
	var settled [settleMost]unanswered[N]
	for more := true; more; {
		n := 0
		u.mu.Lock()
		for more && n < settleMost {
			number, m := u.from(from)
			if more = m != nil && number <= to && (joins == nil || all+n == 0 || joins(&m.note)); more {
				settled[n] = u.take(m)
				n++
				from = number + 1
			}
		}
		u.mu.Unlock()
		for i := range n {
			u.resolve(&settled[i], err)
		}
		all += n
	}
	return all
}

// Decide looks for the oldest message from the number on that is meant, and has Outcomes
// told of it. It returns the number of the one after it, or from if no message is meant.
func (u *Unanswered[N]) Decide(from uint64, meant func(note *N) bool) uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	for n, m := u.from(from); m != nil; n, m = u.from(n + 1) {
		if !m.decided && meant(&m.note) {
			m.decided = true
			return n + 1
		}
	}
	return from
}

// Oldest returns the number of the oldest message without an answer, and how many are
// without.
func (u *Unanswered[N]) Oldest() (number uint64, open int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	number, _ = u.from(0)
	return number, u.open
}

// Empty returns what is closed when no message is without an answer; nil: all have one.
func (u *Unanswered[N]) Empty() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open == 0 {
		return nil
	}
	if u.empty == nil {
		u.empty = make(chan struct{})
	}
	return u.empty
}

// Over reports whether End was called.
func (u *Unanswered[N]) Over() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended
}

// End resolves all remaining messages with err, since no answers will come; no message can
// be added any more. No Send may still read a payload, see Writer.End, except the Send of
// the marked message.
func (u *Unanswered[N]) End(err error) {
	u.mu.Lock()
	u.ended = true
	if u.sending != nil {
		n := u.sending.tag.Load()
		if m := u.at(n); m != nil && u.sending.Leave(n, err) {
			u.take(m)
		}
	}
	u.room.Broadcast()
	u.mu.Unlock()
	u.SettleTo(^uint64(0), err)
}
