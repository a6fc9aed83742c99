// Package stream has the state of one producer's messages to one topic: their numbers, which of them
// were sent, acknowledged, refused or given up, and the channel to the loop that waits for them. It knows
// neither connections nor consumers.
package stream

import (
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/engine/observe"
	"sixnines/internal/integrity"
	"sixnines/internal/layout"
)

// Stream is one producer's messages to one topic. Fields up to Trial, Acked, AckedAt, Fan and Stamps are
// fixed before the window, and what they point to is safe for concurrent use, but for Keys, which is
// the sending goroutine's. What else is not atomic belongs to the goroutine that sends: its
// connection's pacer, or its producer's loop. Others read it when that has ended. A lane that changes
// pacers takes its streams along.
type Stream struct {
	ID       uint32          // index among the load's streams
	Plan     layout.Stream   // its producer and topic in the layout; its number is in every envelope
	Producer driver.Producer // the client that sends it
	Flusher  driver.Flusher  // Producer, if it buffers; nil: it does not
	Waiter   *Waiter         // gets each completion, for a closed loop; nil on a schedule or flat out
	Keys     *streamKeys     // nil: messages have no keys

	Trial trial  // what the broker answered to the messages before the load
	Next  uint64 // sequence number of the next message
	First uint64 // sequence number of the window's first message; valid when Begun
	Last  uint64 // one more than that of the window's last; valid when Ended
	// Sent counts measured messages that the client was given, the one in Send included. The sending
	// goroutine adds, and takes off those that Send refuses; anyone reads.
	Sent  atomic.Int64
	Bytes atomic.Int64 // payload bytes of those, where sizes differ; likewise
	Taken int64        // measured messages that have a sequence number, refused ones included
	// Latest is when the last measured message was handed to the client, CLOCK_MONOTONIC.
	Latest int64
	Begun  bool // the measured window has begun
	Ended  bool // the measured window has ended

	Acked *integrity.Ledger // sequence numbers that the broker has acknowledged; nil without acknowledgements
	// AckedAt has when measured messages were acknowledged, CLOCK_MONOTONIC; nil: nothing asks for it.
	AckedAt *integrity.Instants
	Fan     *integrity.Fan // how many groups have received each message; nil if only one may

	Stamps []observe.Stamp // of the messages that are followed through their stages; nil: stages are not followed

	// Measured sequence numbers: refused by Send, refused by the broker, given up,
	// and those whose slowest delivery came when the fan had forgotten them. Any goroutine adds.
	Rejected, Nacked, GaveUp, LastUnknown Marks
	// EndedReceived counts deliveries of measured messages that were refused or given up. Any goroutine
	// adds.
	EndedReceived atomic.Int64
}

// Marks are the sequence numbers of a stream's rare messages. They
// take no memory before the first, and a bit each from then on. The methods are
// safe for concurrent use.
type Marks struct {
	Journal bool                             // News tells what is new; set before the first Add
	ledger  atomic.Pointer[integrity.Ledger] // nil before the first
	N       atomic.Int64                     // how many there are; a number is in the ledger before it counts here
}

// Add adds a number, and reports whether it is new.
func (m *Marks) Add(seq uint64) bool {
	l := m.ledger.Load()
	if l == nil {
		made := integrity.NewLedger(0)
		if m.Journal {
			made.Journal()
		}
		m.ledger.CompareAndSwap(nil, made)
		l = m.ledger.Load()
	}
	if l.Mark(seq) == integrity.Duplicate {
		return false
	}
	m.N.Add(1)
	return true
}

// News calls each with the numbers that were added since the last call, see [integrity.Ledger.News].
func (m *Marks) News(each func(from uint64, words []uint64)) {
	if l := m.ledger.Load(); l != nil {
		l.News(each)
	}
}

// Has reports whether the number was added.
func (m *Marks) Has(seq uint64) bool {
	l := m.ledger.Load()
	return l != nil && l.Has(seq)
}

// HasEnded reports whether a message of the window was refused by the broker, or given up.
func (st *Stream) HasEnded(seq uint64) bool { return st.Nacked.Has(seq) || st.GaveUp.Has(seq) }

// Send hands a message to the client. The client may use payload and key until it is done with token.
// The error is the client's.
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

// End notes that the measured window ends before the next message, unless it has ended. It belongs to
// the goroutine that sends, and to the run's when that has ended.
func (st *Stream) End() {
	if !st.Ended {
		st.Last, st.Ended = st.Next, true
	}
}

// Begin notes that the measured window begins with the next message. It belongs to the goroutine that
// sends.
func (st *Stream) Begin() {
	st.First, st.Begun = st.Next, true
	if w, ok := st.Producer.(driver.WindowWatcher); ok {
		w.WindowBegins()
	}
}
