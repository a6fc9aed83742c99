package clocksync

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Stamped asks a [Responder] for the time. It may be used by several goroutines; they wait for each other.
type Stamped struct {
	mu     sync.Mutex
	socket *stampSocket
	key    Key
	clocks slewed
}

// Dial makes a socket that asks the responder at an address, HOST:PORT, which has the same key. Nothing is sent. The error wraps
// errors.ErrUnsupported where kernels' stamps are not read. The caller closes it.
func Dial(address string, key Key, clocks Clocks) (*Stamped, error) {
	doing := func(err error) error { return fmt.Errorf("clocksync: ask the time of %s: %w", address, err) }
	if !stampsExist {
		return nil, doing(errors.ErrUnsupported)
	}
	to, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, doing(err)
	}
	conn, err := net.DialUDP("udp", nil, to)
	if err != nil {
		return nil, doing(err)
	}
	socket, err := newStampSocket(conn)
	if err != nil {
		return nil, doing(errors.Join(err, conn.Close()))
	}
	return &Stamped{socket: socket, key: key, clocks: slewed{Clocks: clocks}}, nil
}

// Close ends it, and a call of Sight that waits.
func (s *Stamped) Close() error { return s.socket.conn.Close() }

// Sight asks once, with two questions: the second one asks when the answer to the first one left. It waits at most for patience for
// each answer, and ignores whatever is not the answer.
func (s *Stamped) Sight(patience time.Duration) (x Sight, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, wall := s.clocks.reading(), s.clocks.wall()
	question, first, stamp, err := s.ask(stampFrame{}, patience)
	if err != nil {
		return Sight{}, err
	}
	var sent int64
	s.socket.left(func(packet []byte, at int64) {
		if bytes.Equal(packet, question.frame[:]) {
			sent = at
		}
	})
	wall, same := wall.and(s.clocks.wall())
	after := s.clocks.reading()
	x = Sight{Here: before, Clock: first.clock}
	if after.Width < before.Width {
		x.Here = after
	}
	left, came := question.left, question.answered
	if same {
		var ok1, ok2 bool
		left, _, ok1 = wall.within(sent, question.left, question.answered)
		_, came, ok2 = wall.within(stamp, question.left, question.answered)
		x.Kernel = ok1 && ok2 && first.kernel
	}
	_, second, _, err := s.ask(stampFrame{about: first.number, place: first.place}, patience)
	if err != nil {
		return Sight{}, err
	}
	x.Kernel = x.Kernel && second.left != 0
	x.Exchange = Exchange{T1: s.clocks.earliest(left, before), T2: first.t2, T3: first.t3, T4: s.clocks.latest(came, after)}
	if second.left != 0 {
		x.T3 = max(x.T3, second.left)
	}
	return x, nil
}

// asked is a question that was answered: from just before it was sent until its answer had been read.
type asked struct {
	frame          [stampSize]byte
	left, answered int64
}

// ask sends a question and awaits its answer, which came at stamp by the kernel.
func (s *Stamped) ask(f stampFrame, patience time.Duration) (q asked, answer stampFrame, stamp int64, err error) {
	doing := func(err error) error {
		return fmt.Errorf("clocksync: ask the time of %s: %w", s.socket.conn.RemoteAddr(), err)
	}
	var random [8]byte
	for f.number == 0 {
		_, _ = rand.Read(random[:]) // it never fails
		f.number = binary.NativeEndian.Uint64(random[:])
	}
	f.put(&q.frame, &s.key)
	if err := s.socket.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return q, answer, 0, doing(err)
	}
	q.left = s.clocks.Now()
	if _, err := s.socket.conn.Write(q.frame[:]); err != nil {
		return q, answer, 0, doing(err)
	}
	for {
		text, _, stamp, err := s.socket.receive()
		q.answered = s.clocks.Now()
		if err != nil {
			return q, answer, 0, doing(err)
		}
		if answer, err = parseStampFrame(text, &s.key); err == nil && answer.answer && answer.number == f.number {
			return q, answer, stamp, nil
		}
	}
}
