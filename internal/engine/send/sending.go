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
// they have sent. Streams and Lanes are made while the load connects and do not change.
type Sending struct {
	*plan.Plan
	recording *observe.Recording

	Streams   []*stream.Stream
	Lanes     []*lane
	turn      []int // by producer: which of its streams is next; each entry is its lane's sending goroutine's
	Pacing    pacing
	Senders   sync.WaitGroup
	Several   int                                      // how many of them get past the window one by one
	Past      atomic.Int64                             // of these, those that have
	Came      func(st *stream.Stream, seq uint64) bool // a group has the message; asked of those that are refused
	Ended     func(st *stream.Stream, seq uint64)      // told of messages of the window that were refused or given up; nil: nobody is
	Left      window.Quota                             // of messages, where the window is limited by them
	lastSweep int64                                    // when messages in flight were looked through for what timed out
	Synced    int64                                    // flat out: when the round trip after the last message was back
	WarmedUp  int64                                    // acknowledgements of the warm-up's messages before the window of an unpaced load; the sender's, read after it has ended

	reportedRefusals [len(refusals{})]reportedRefusal // the collector's

	// Counters, which any goroutine adds to and reads.
	Violations atomic.Int64 // of the driver's contract: a token that is not borrowed, or is acknowledged twice
	Takeovers  atomic.Int64 // of lanes from a pacer whose send blocks, by a spare one
	due        atomic.Int64 // measured messages so far, if some are to be dropped
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

// Warm counts acknowledgements of the warm-up's messages.
func (s *Sending) Warm() (n int64) {
	for _, l := range s.Lanes {
		n += l.warm.Load()
	}
	return n
}

// MakeLanes makes n lanes and all streams; ledgers hold span numbers without a lock.
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
	var ready chan stream.Completion
	owner := -1
	for id, sp := range s.Layout.Streams {
		st := &stream.Stream{ID: uint32(id), Plan: sp}
		if acked {
			st.Acked = integrity.NewLedger(span)
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

// turnOf returns the stream that takes a producer's next message: its streams
// take turns.
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

// Sweep takes what timed out out of the messages in flight, up to a sixty-fourth
// of the time limit later: each sweep goes through all that are.
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

// Unanswered returns how many measured messages the driver has given up on.
func (s *Sending) Unanswered() (n int64) {
	for _, l := range s.Lanes {
		n += l.unanswered.Load()
	}
	return n
}

// Lent reports whether the client has the payload of any message still.
func (s *Sending) Lent() bool {
	return slices.ContainsFunc(s.Lanes, func(l *lane) bool { return l.Credits.Lent() })
}

// ErrKept says that the client keeps as many messages as it may.
var ErrKept = fmt.Errorf("%w: the client keeps all payloads", driver.ErrTimeout)

// SendReadiness sends a message of st before the load, to see whether messages arrive. It is in no
// account.
func (s *Sending) SendReadiness(st *stream.Stream) error {
	l := s.LaneOf(st)
	sl := l.Credits.TakeSlot()
	if sl == nil {
		return ErrKept
	}
	// It has no credit, so Expire must not touch it: by its slot it is sent at an instant that never comes.
	if err := l.transmit(st, sl, departure{kind: integrity.Readiness, intended: clock.Now(), sent: window.Never}); err != nil {
		return err
	}
	if st.Flusher != nil {
		return st.Flusher.Flush()
	}
	return nil
}

// Unmeasured is how many messages were sent outside the window.
func (s *Sending) Unmeasured() int64 {
	var n int64
	for _, l := range s.Lanes {
		n += l.extra.Load()
	}
	return n
}
