package kit

import (
	"sync"

	"sixnines/driver"
)

// Unanswered holds the messages of one connection that the broker has not answered,
// by consecutive numbers. They are added by whoever sends and settled by the goroutine
// that reads, in any order; note is what the driver has to know of each. Done is called
// without a lock. It is safe for concurrent use.
type Unanswered[N any] struct {
	limit int // that may wait for an answer; 0: any number
	span  int // from the oldest of them to the newest; 0: any number

	sending *Mark // of the message that a Send reads; nil: none is marked

	mu    sync.Mutex
	room  sync.Cond
	ring  []unanswered[N] // its length is a power of two
	first uint64          // the oldest that is not settled
	next  uint64          // the number of the next
	open  int             // not settled
	ended bool
	empty chan struct{} // closed when open is 0; nil: nobody waits for it
}

// unanswered is one message.
type unanswered[N any] struct {
	acks    driver.Acks // nil: settled
	token   uint64
	note    N
	decided error // what it is settled with, whatever the answer; nil: by the answer
}

// NewUnanswered returns one whose first message has the number. Add waits while limit
// messages have no answer, or span from the oldest to the newest; 0 limits nothing.
func NewUnanswered[N any](first uint64, limit, span int) *Unanswered[N] {
	u := &Unanswered[N]{limit: limit, span: span, first: first, next: first, ring: make([]unanswered[N], 256)}
	u.room.L = &u.mu
	return u
}

// Marks has Add mark the message with m, and End leave it to its Send, which reads the
// payload until it calls m.End. One goroutine at a time sends. It is called before Add.
func (u *Unanswered[N]) Marks(m *Mark) { u.sending = m }

func (u *Unanswered[N]) at(number uint64) *unanswered[N] {
	return &u.ring[number&uint64(len(u.ring)-1)]
}

// full reports whether Add would wait. mu is held.
func (u *Unanswered[N]) full() bool {
	return !u.ended && (u.limit > 0 && u.open >= u.limit || u.span > 0 && u.next-u.first >= uint64(u.span))
}

// Full reports whether Add would wait: what is collected to be written should go out
// before.
func (u *Unanswered[N]) Full() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.full()
}

// Add adds a message and returns its number; false: End was called, and it was not
// added.
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
		old := u.ring
		u.ring = make([]unanswered[N], 2*len(old))
		for n := u.first; n < u.next; n++ {
			*u.at(n) = old[n&uint64(len(old)-1)]
		}
	}
	number = u.next
	*u.at(number) = unanswered[N]{acks: acks, token: token, note: note}
	u.next++
	u.open++
	if u.sending != nil {
		u.sending.Begin(number)
	}
	return number, true
}

// Withdraw removes a message that was not sent, if none was added after it; false: it
// has been settled, or will be.
func (u *Unanswered[N]) Withdraw(number uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if number < u.first || number+1 != u.next || u.at(number).acks == nil {
		return false
	}
	u.take(number)
	u.next--
	u.first = min(u.first, u.next)
	return true
}

// Discard removes a message that was not sent; false: it has been settled, or will be. Its
// number is not used again.
func (u *Unanswered[N]) Discard(number uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if number < u.first || number >= u.next || u.at(number).acks == nil {
		return false
	}
	u.take(number)
	return true
}

// take removes a message that is not settled. mu is held.
func (u *Unanswered[N]) take(number uint64) unanswered[N] {
	at := u.at(number)
	m := *at
	*at = unanswered[N]{}
	for u.first < u.next && u.at(u.first).acks == nil {
		u.first++
	}
	u.open--
	u.room.Signal()
	if u.open == 0 && u.empty != nil {
		close(u.empty)
		u.empty = nil
	}
	return m
}

// Settle resolves the message with the number, with nil or what the broker refused it
// for; false: it is not there any more, or never was.
func (u *Unanswered[N]) Settle(number uint64, err error) bool {
	u.mu.Lock()
	if number < u.first || number >= u.next || u.at(number).acks == nil {
		u.mu.Unlock()
		return false
	}
	m := u.take(number)
	u.mu.Unlock()
	m.resolve(err)
	return true
}

func (m *unanswered[N]) resolve(err error) {
	if m.decided != nil {
		err = m.decided
	}
	m.acks.Done(m.token, err)
}

// settleMost is how many messages are settled between two looks at the lock.
const settleMost = 64

// SettleTo resolves all messages up to the number.
func (u *Unanswered[N]) SettleTo(number uint64, err error) { u.settle(0, number, nil, err) }

// SettleRange resolves the messages from one number to another.
func (u *Unanswered[N]) SettleRange(from, to uint64, err error) { u.settle(from, to, nil, err) }

// SettleOldest resolves the oldest message, and those after it of which joins says that
// one answer is for them too; nil: none. False: there is no message.
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
		from = max(from, u.first)
		for more = from <= to && from < u.next; more && n < settleMost; more = from <= to && from < u.next {
			if at := u.at(from); at.acks != nil {
				if joins != nil && all+n > 0 && !joins(&at.note) {
					more = false
					break
				}
				settled[n] = u.take(from)
				n++
			}
			from++
		}
		u.mu.Unlock()
		for i := range n {
			settled[i].resolve(err)
		}
		all += n
	}
	return all
}

// Decide looks for the oldest message from the number on that is meant, and has it
// settled with err whatever the answer is. It returns the number of the one after it,
// and from where there is none.
func (u *Unanswered[N]) Decide(from uint64, meant func(note *N) bool, err error) uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	for n := max(from, u.first); n < u.next; n++ {
		if at := u.at(n); at.acks != nil && at.decided == nil && meant(&at.note) {
			at.decided = err
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
	return u.first, u.open
}

// Empty returns what is closed when no message is without an answer; nil: none is.
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

// End resolves what is left with err, and lets no more be added: nobody is going to
// answer. No Send may read a payload any more, see Writer.End, but that of the message
// that is marked.
func (u *Unanswered[N]) End(err error) {
	u.mu.Lock()
	u.ended = true
	if u.sending != nil {
		if n := u.sending.tag.Load(); n >= u.first && n < u.next && u.at(n).acks != nil && u.sending.Leave(n, err) {
			u.take(n)
		}
	}
	u.room.Broadcast()
	u.mu.Unlock()
	u.SettleTo(^uint64(0), err)
}
