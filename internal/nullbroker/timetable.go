package nullbroker

import (
	"math"
	"sync"
	"time"
)

// Timetable says when each message is let go: all that a null broker does to
// latencies, without a broker, for trials on a virtual clock. Its methods are safe
// for concurrent use.
//
// A message that comes at instant a is served by the one server, in the order of
// coming, and then delayed by D, independently of all others. With its service
// time S and the instant C at which the server is done with the message before it
// (Lindley, The theory of queues with a single server, Mathematical Proceedings of
// the Cambridge Philosophical Society 48, 1952)
//
//	C' = max(a, C) + S,   let go at C' + D.
//
// The instants are computed, and nothing waits for anything in turn: how late a
// timer is does not add up.
type Timetable struct {
	law, server Law
	seed        uint64
	queues      bool // there is a server
	changes     bool // one of the laws changes

	mu    sync.Mutex
	free  int64            // when the server is done with all that came
	began map[uint32]int64 // when the first message of a run came; nil unless changes
}

// NewTimetable returns that of a broker with this configuration.
func NewTimetable(c Config) *Timetable {
	t := &Timetable{law: c.Law, server: c.Server, seed: c.Seed, queues: !c.Server.None(), changes: c.Law.Changes() || c.Server.Changes()}
	if t.changes {
		t.began = map[uint32]int64{}
	}
	return t
}

// serverSeed sets service times apart from the delays of the same messages.
const serverSeed = 0x5e7e

// runsMost is how many runs' beginnings are remembered.
const runsMost = 1 << 10

// Due returns when a message is let go that came at e.Received: not before. Of e
// the run, the stream, the kind and the sequence number count, too. Messages are
// served in the order of the calls.
func (t *Timetable) Due(e *Entry) int64 {
	if !t.queues && !t.changes {
		return e.Received + int64(t.law.draw(t.seed, e.Stream, e.Kind, e.Sequence))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	law, server := &t.law, &t.server
	if t.changes {
		since := time.Duration(e.Received - t.beginning(e))
		law, server = law.at(since), server.at(since)
	}
	done := e.Received
	if t.queues {
		t.free = max(t.free, e.Received) + int64(server.draw(t.seed^serverSeed, e.Stream, e.Kind, e.Sequence))
		done = t.free
	}
	return done + int64(law.draw(t.seed, e.Stream, e.Kind, e.Sequence))
}

// beginning returns when the first message of e's run came; mu is held. What has
// no envelope is of run 0.
func (t *Timetable) beginning(e *Entry) int64 {
	at, known := t.began[e.Run]
	if !known {
		if len(t.began) == runsMost {
			t.forget()
		}
		at = e.Received
		t.began[e.Run] = at
	}
	return at
}

// forget forgets the run that began first; mu is held.
func (t *Timetable) forget() {
	first, at := uint32(0), int64(math.MaxInt64)
	for run, began := range t.began {
		if began < at {
			first, at = run, began
		}
	}
	delete(t.began, first)
}
