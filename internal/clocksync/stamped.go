package clocksync

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// asked is a question, from just before it was sent until its answer had been read.
type asked struct {
	number         uint64
	frame          [stampSize]byte
	left, answered int64
	sent           int64      // by the kernel; 0: it has not said
	answer         stampFrame // it came at stamp by the kernel
	stamp          int64
	err            error         // of the socket, instead of an answer
	over           chan struct{} // closed with the answer or the error
}

// take takes the answer. One that comes twice counts once.
func (q *asked) take(f stampFrame, stamp, came int64) {
	if q.answered == 0 && q.err == nil {
		q.answer, q.stamp, q.answered = f, stamp, came
		close(q.over)
	}
}

// failed ends the waiting for an answer.
func (s *Socket) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.asked; q != nil && q.answered == 0 && q.err == nil {
		q.err = err
		close(q.over)
	}
}

var errOneIsSlewed = errors.New("only one of the two machines says how its clock is slewed")

// Sight asks once, with two questions: the second one asks when the answer to the first one left. It waits at most for patience for
// each answer, and ignores whatever is not the answer. Calls wait for each other.
func (s *Socket) Sight(patience time.Duration) (Sight, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	x, err := s.sight(patience)
	if err != nil {
		return Sight{}, fmt.Errorf("clocksync: ask the time of %s: %w", s.whom(), err)
	}
	return x, nil
}

func (s *Socket) whom() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peer.IsValid() {
		return net.UDPAddrFromAddrPort(s.peer)
	}
	return s.socket.conn.RemoteAddr()
}

func (s *Socket) sight(patience time.Duration) (x Sight, err error) {
	before, wall := s.read()
	first, err := s.question(stampFrame{}, patience)
	if err != nil {
		return x, err
	}
	after, now := s.read()
	wall, same := wall.and(now)
	x = Sight{Here: before, Raw: first.answer.raw, Clock: first.answer.clock}
	if after.Width < before.Width {
		x.Here = after
	}
	if before.Known() != x.Raw || after.Known() != x.Raw {
		return x, errOneIsSlewed
	}
	second, err := s.question(stampFrame{about: first.number, place: first.answer.place}, patience)
	if err != nil {
		return x, err
	}
	s.mu.Lock()
	defer s.mu.Unlock() // and nobody notes any more when the first one left
	left, came := first.left, first.answered
	if same {
		var ok1, ok2 bool
		left, _, ok1 = wall.within(first.sent, first.left, first.answered)
		_, came, ok2 = wall.within(first.stamp, first.left, first.answered)
		x.Kernel = ok1 && ok2 && first.answer.kernel
	}
	x.Kernel = x.Kernel && second.answer.left != 0
	x.Exchange = Exchange{T1: s.clocks.earliest(left, before), T2: first.answer.t2, T3: first.answer.t3, T4: s.clocks.latest(came, after)}
	if second.answer.left != 0 {
		x.T3 = max(x.T3, second.answer.left)
	}
	return x, nil
}

// read reads the other clocks, and notes what the kernel has said of frames that left.
func (s *Socket) read() (Reading, span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note()
	return s.clocks.reading(), s.clocks.wall()
}

// question asks a question and awaits its answer.
func (s *Socket) question(f stampFrame, patience time.Duration) (*asked, error) {
	q := &asked{over: make(chan struct{})}
	var random [8]byte
	for q.number == 0 {
		_, _ = rand.Read(random[:]) // it never fails
		q.number = binary.NativeEndian.Uint64(random[:])
	}
	f.number = q.number
	if err := s.leave(q, f); err != nil {
		return nil, err
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-q.over: // nobody changes it any more, but for when it left
		return q, q.err
	case <-late.C:
		return nil, os.ErrDeadlineExceeded
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// leave sends a question.
func (s *Socket) leave(q *asked, f stampFrame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.put(&q.frame, &s.ask)
	s.asked, q.left = q, s.clocks.Now()
	var err error
	if s.peer.IsValid() {
		_, err = s.socket.conn.WriteToUDPAddrPort(q.frame[:], s.peer)
	} else {
		_, err = s.socket.conn.Write(q.frame[:])
	}
	return err
}
