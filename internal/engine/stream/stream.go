// Package stream has what is known of one producer's messages to one topic: their numbers, how
// far they have got, which of them were acknowledged, refused or given up, and the loop that
// waits for them. It knows neither connections nor consumers.
package stream

import (
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/integrity"
)

// Stream is one producer's messages to one topic. Fields up to Trial, Acked, Fan and Stamps are
// fixed before the window, and what they point to is safe for concurrent use. The rest that is not
// atomic belongs to the goroutine that sends, its connection's pacer or loop, and is read by others
// when that has ended. A lane that changes pacers takes it along.
type Stream struct {
	ID       uint32
	Plan     plan.Stream
	Producer driver.Producer
	Flusher  driver.Flusher // nil: the client does not buffer
	Waiter   *Waiter        // gets each completion, for a closed loop; nil: there is none
	Keys     *streamKeys    // nil: messages have none

	Trial trial        // of the messages before the load
	Next  uint64       // sequence number of the next message; the pacer's
	First uint64       // of the measured window; valid when begun
	Last  uint64       // one past the measured window; valid when ended
	Sent  atomic.Int64 // measured messages handed to the client, or just being
	Bytes atomic.Int64 // of those, where sizes differ
	Taken int64        // measured messages that have a sequence number; the pacer's
	// Latest is when the last measured message was handed to the client, CLOCK_MONOTONIC.
	Latest int64
	Begun  bool // the measured window has begun: First is valid
	Ended  bool

	Acked *integrity.Ledger // nil without acknowledgements
	Fan   *integrity.Fan    // nil unless several groups read the topic

	Stamps []observe.Stamp // of the messages that are followed through their stages; nil: none is

	// Measured sequence numbers: refused by Send, refused by the broker, given up,
	// and those whose slowest delivery came when the fan had forgotten them.
	Rejected, Nacked, GaveUp, LastUnknown Marks
	EndedReceived                         atomic.Int64 // deliveries of measured messages that were refused or given up

	mu       sync.Mutex
	tampered map[uint64]int // corrupted deliveries whose envelope could be guessed; guarded by mu
}

// Marks are the sequence numbers of a stream's rare messages. They
// take no memory before the first, and a bit each from then on. The methods are
// safe for concurrent use.
type Marks struct {
	ledger atomic.Pointer[integrity.Ledger]
	N      atomic.Int64
}

// Add reports whether the number is new.
func (m *Marks) Add(seq uint64) bool {
	l := m.ledger.Load()
	if l == nil {
		m.ledger.CompareAndSwap(nil, integrity.NewLedger(0))
		l = m.ledger.Load()
	}
	if l.Mark(seq) == integrity.Duplicate {
		return false
	}
	m.N.Add(1)
	return true
}

// Has reports whether the number was added.
func (m *Marks) Has(seq uint64) bool {
	l := m.ledger.Load()
	return l != nil && l.Has(seq)
}

// HasEnded reports whether a message of the window was refused by the broker, or given up.
func (st *Stream) HasEnded(seq uint64) bool { return st.Nacked.Has(seq) || st.GaveUp.Has(seq) }

// Damaged notes a delivery that came damaged, whose envelope still says that it is message seq.
// It is safe for concurrent use.
func (st *Stream) Damaged(seq uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.tampered == nil {
		st.tampered = map[uint64]int{}
	}
	st.tampered[seq]++
}

// CameDamaged reports whether a delivery of message seq came damaged that was not asked for
// yet. It is called when no more can come.
func (st *Stream) CameDamaged(seq uint64) bool {
	if st.tampered[seq] == 0 {
		return false
	}
	st.tampered[seq]--
	return true
}

// Send hands a message to the client.
func (st *Stream) Send(token uint64, payload, key []byte) error {
	if st.Keys != nil {
		return st.Keys.Send(token, payload, key)
	}
	return st.Producer.Send(token, payload)
}

// Number gives the next message of the load its number. It belongs to the goroutine that sends.
func (st *Stream) Number(measured bool) {
	st.Next++
	if measured {
		st.Taken++
	}
}

// End notes that the measured window ends before the next message, unless it has ended.
func (st *Stream) End() {
	if !st.Ended {
		st.Last, st.Ended = st.Next, true
	}
}

// Begin notes that the measured window begins with the next message.
func (st *Stream) Begin() {
	st.First, st.Begun = st.Next, true
	if w, ok := st.Producer.(driver.WindowWatcher); ok {
		w.WindowBegins()
	}
}
