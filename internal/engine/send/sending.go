// Package send goes from the schedule to the driver: connections, pacers and what supervises
// them, and the three kinds of sender. It knows no consumer.
package send

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/stream"
	"sixnines/internal/engine/window"
	"sixnines/internal/integrity"
)

// Sending is what the senders of a load have in common: connections, streams, and how many messages
// they have sent. The run's goroutine makes Streams and Lanes while the load connects, and they do
// not change afterwards. A field that is neither fixed nor atomic says whose it is.
type Sending struct {
	*plan.Plan
	recording *observe.Recording

	Streams []*stream.Stream // by their numbers
	Lanes   []*lane          // one for each connection of producers

	// turn is, by producer, which of its streams takes the next message. An entry belongs to the
	// goroutine that sends on the producer's lane; when that has ended, to the run's goroutine, which
	// goes through what was not sent.
	turn []int
	// Pacing has the pacers, under a lock of its own; without a schedule it has none.
	Pacing pacing
	// Senders are the goroutines that send or supervise. The run waits for them after it has stopped them.
	Senders sync.WaitGroup
	// Several is how many senders get past the window: lanes, producers in a closed loop, or one where
	// nothing is sent. It is fixed. Past is how many of them have: each adds itself, or one goroutine
	// stores all; anyone reads.
	Several int
	Past    atomic.Int64

	// Came reports whether a group has received a message. Ended takes a message of the window that was
	// refused or given up; nil: it is not reported. Both are set before the load connects, and called
	// on the client's goroutines.
	Came  func(st *stream.Stream, seq uint64) bool
	Ended func(st *stream.Stream, seq uint64)

	Left      window.Quota // messages that the window still has, where their number is limited
	lastSweep int64        // when Sweep last went through the messages in flight, CLOCK_MONOTONIC; the collector's

	// Of an unpaced load. Its sender's goroutine writes them; they are read when that has ended.

	Synced   int64 // when the round trip after the last message was back, CLOCK_MONOTONIC; 0: it was not
	WarmedUp int64 // acknowledgements of the warm-up's messages before the window

	reportedRefusals [len(refusals{})]reportedRefusal // the collector's; when that has ended, the run's goroutine's

	// Counters, which any goroutine adds to and reads.
	Violations atomic.Int64 // of the driver's contract: a token that is not borrowed, or is acknowledged twice
	Takeovers  atomic.Int64 // how often a spare pacer took the other lanes of one whose send blocks
	due        atomic.Int64 // measured messages so far, if some must be dropped
}

// NewSending returns what sends the messages of p. It has no connections yet.
func NewSending(p *plan.Plan, rec *observe.Recording) *Sending {
	out := &Sending{Plan: p, recording: rec, Several: p.LaneCount()}
	if p.Flow.Closed {
		out.Several = p.Workload.Producers
	}
	if p.Flow.Consumes {
		out.Several = 1 // the goroutine that watches what comes, and says when the window is over
	}
	if p.Flow.Consumes || p.Workload.Messages > 0 {
		out.Left.Limit(int64(p.Workload.Messages))
	}
	return out
}

// Warm counts acknowledgements of the warm-up's messages so far. It is safe for concurrent use.
func (s *Sending) Warm() (n int64) {
	for _, l := range s.Lanes {
		n += l.warm.Load()
	}
	return n
}

// MakeLanes makes n lanes and all streams. Ledgers hold span sequence numbers without a lock. It is
// called once, before producers and consumers connect.
func (s *Sending) MakeLanes(n, span int) {
	w := s.Workload
	acked := s.Flow.Acked
	for i := range n {
		l := &lane{plan: s.Plan, recording: s.recording, sending: s, shard: s.recording.Rec.Shard(i), raw: s.recording.RawSink()}
		l.Credits.Plan(s.Plan, i, n)
		if acked {
			l.Acks, l.tail = brokerAcks{l}, s.recording.TailOf(s.Flow.AckResponse).Part(i, false)
		} else {
			l.Acks = plainAcks{l}
		}
		s.Lanes = append(s.Lanes, l)
	}
	if s.Flow.Listens {
		return
	}
	var ready chan stream.Completion
	owner := -1
	for id, sp := range s.Layout.Streams {
		st := &stream.Stream{ID: uint32(id), Plan: sp}
		if acked {
			st.Acked = integrity.NewLedger(span)
			if s.Crosses() {
				st.Acked.Journal()
			}
		}
		for _, m := range []*stream.Marks{&st.Rejected, &st.Nacked, &st.GaveUp} {
			m.Journal = s.Crosses()
		}
		if sp.FanOut > 1 {
			st.Fan = integrity.NewFan(span)
		}
		if s.Flow.Closed {
			if sp.Producer != owner {
				ready, owner = make(chan stream.Completion, 2*w.Outstanding+16), sp.Producer
			}
			st.Waiter = &stream.Waiter{St: st, Ready: ready}
		}
		l := s.LaneOf(st)
		l.Streams = append(l.Streams, st)
		s.Streams = append(s.Streams, st)
	}
}

// LaneOf is the connection by which a stream's messages go.
func (s *Sending) LaneOf(st *stream.Stream) *lane { return s.Lanes[st.Plan.Producer%len(s.Lanes)] }

// IsPast reports whether all senders are past the window.
func (s *Sending) IsPast() bool { return s.Past.Load() >= int64(s.Several) }

// turnOf returns the stream that takes a producer's next message: its streams take turns. It belongs
// to the goroutine that sends on the producer's lane.
func (s *Sending) turnOf(producer int32) *stream.Stream {
	ids := s.Layout.ByProducer[producer]
	if len(ids) == 1 {
		return s.Streams[ids[0]]
	}
	t := &s.turn[producer]
	st := s.Streams[ids[*t]]
	if *t++; *t == len(ids) {
		*t = 0
	}
	return st
}

// Sweep takes messages that are older than the workload's time limit out of those in flight. Each
// sweep goes through all of them, so calls within a sixty-fourth of the limit do nothing, and a
// message times out up to that much later. It belongs to the collector.
func (s *Sending) Sweep() {
	now := clock.Now()
	if now-s.lastSweep < int64(s.Workload.Timeout)/64 {
		return
	}
	s.lastSweep = now
	horizon := now - int64(s.Workload.Timeout)
	for _, l := range s.Lanes {
		l.Credits.Expire(horizon)
	}
}

// drops reports whether the measured message that is about to be sent is one of those that fault
// injection drops (plan.Settings.DropEvery).
func (s *Sending) drops() bool { return s.due.Add(1)%s.DropEvery == 0 }

// Unanswered returns how many measured messages the driver has given up on so far. It is safe for
// concurrent use.
func (s *Sending) Unanswered() (n int64) {
	for _, l := range s.Lanes {
		n += l.unanswered.Load()
	}
	return n
}

// Lent reports whether the client still has the payload of any message. It is safe for concurrent use.
func (s *Sending) Lent() bool {
	return slices.ContainsFunc(s.Lanes, func(l *lane) bool { return l.Credits.Lent() })
}

// ErrKept: the client has the payloads of all slots, so that nothing can be sent. It wraps
// driver.ErrTimeout.
var ErrKept = fmt.Errorf("%w: the client keeps all payloads", driver.ErrTimeout)

// SendReadiness sends a message of st before the load, to see whether messages arrive. It is in no
// account. The error is ErrKept, or that of Send or Flush. It belongs to the run's goroutine: nothing
// else sends before the load.
func (s *Sending) SendReadiness(st *stream.Stream) error {
	l := s.LaneOf(st)
	sl := l.Credits.TakeSlot()
	if sl == nil {
		return ErrKept
	}
	// It has no credit that Expire could take back. An instant of sending that never comes keeps Expire
	// away from its slot.
	if err := l.transmit(st, sl, departure{kind: integrity.Readiness, intended: clock.Now(), sent: window.Never}); err != nil {
		return err
	}
	if st.Flusher != nil {
		return st.Flusher.Flush()
	}
	return nil
}

// Unmeasured is how many messages were sent outside the window so far, first messages apart. It is safe
// for concurrent use.
func (s *Sending) Unmeasured() int64 {
	var n int64
	for _, l := range s.Lanes {
		n += l.extra.Load()
	}
	return n
}
