package clocksync

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// How many frames a socket looks at: a thousand agents that are asked as often as coordinators ask send a tenth of it.
const (
	framesAtMost = 2000
	framesWithin = 100 * time.Millisecond
)

// kept is how many answers a socket has the instants of.
const kept = 4096

// Socket asks for the time over UDP and tells it, with the kernels' time stamps where there are such. It answers who has one of its
// keys, with as many bytes as were asked with, and says nothing to anybody else. Its methods may be called by several goroutines.
type Socket struct {
	socket *stampSocket
	closed chan struct{}
	done   chan struct{}
	stop   func()
	turn   sync.Mutex // who asks

	mu     sync.Mutex
	clocks slewed
	ask    Key            // of what it asks
	peer   netip.AddrPort // the only one that is asked and heard; invalid: whom the socket is connected to, or anybody
	keys   []Key          // of whom it answers
	asked  *asked         // the last question; nil: there was none

	answers map[uint32]left // by place, below kept
	next    uint32
	wall    span  // narrow, of the time since the wall clock was set last
	since   int64 // when it had not been set any more
}

// left is when an answer left.
type left struct {
	number uint64
	// Just before: the instant, and how the other clocks were ahead.
	from int64
	wall span
	raw  Reading
	at   int64 // by the kernel, at the earliest, on the raw clock; 0: it is not known
}

// Dial makes a socket that asks the one at an address, HOST:PORT, which answers who has the key. Nothing is sent. The error wraps
// errors.ErrUnsupported where kernels' stamps are not read. The caller closes it.
func Dial(address string, key Key, clocks Clocks) (*Socket, error) {
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
	s, err := newSocket(conn, clocks)
	if err != nil {
		return nil, doing(err)
	}
	s.ask = key
	s.begin()
	return s, nil
}

// Listen answers questions at an address from now on until Close. The error wraps errors.ErrUnsupported where kernels' stamps are
// not read.
func Listen(at netip.AddrPort, clocks Clocks, keys ...Key) (*Socket, error) {
	doing := func(err error) error { return fmt.Errorf("clocksync: tell the time at %s: %w", at, err) }
	if !stampsExist {
		return nil, doing(errors.ErrUnsupported)
	}
	s, err := open(at, clocks)
	if err != nil {
		return nil, doing(err)
	}
	s.keys = keys
	s.begin()
	return s, nil
}

// Open makes a socket at an address that neither asks nor answers until [Socket.Meet]. The caller closes it.
func Open(at netip.AddrPort, clocks Clocks) (*Socket, error) {
	s, err := open(at, clocks)
	if err != nil {
		return nil, fmt.Errorf("clocksync: open a socket at %s: %w", at, err)
	}
	s.begin()
	return s, nil
}

func open(at netip.AddrPort, clocks Clocks) (*Socket, error) {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	return newSocket(conn, clocks)
}

// newSocket takes over conn, and closes it with an error.
func newSocket(conn *net.UDPConn, clocks Clocks) (*Socket, error) {
	socket, err := newStampSocket(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s := &Socket{socket: socket, clocks: slewed{Clocks: clocks}, wall: clocks.wall(), since: clocks.Now(), answers: map[uint32]left{},
		closed: make(chan struct{}), done: make(chan struct{})}
	s.stop = sync.OnceFunc(func() {
		close(s.closed)
		conn.Close() // nothing is left to be sent
	})
	return s, nil
}

func (s *Socket) begin() {
	go func() {
		defer close(s.done)
		s.serve()
	}()
}

// Meet has an opened socket ask the one at an address, and answer that one alone. Frames go both ways between the same two ports: so
// where answers pass a firewall, the questions of the other side do, too. Either side needs another key, with which it asks and the
// other one answers, so that nobody can send it its own frames back.
func (s *Socket) Meet(peer netip.AddrPort, ask, answer Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peer, s.ask, s.keys = unmapped(peer), ask, []Key{answer}
}

// Address is where it listens.
func (s *Socket) Address() netip.AddrPort {
	return unmapped(s.socket.conn.LocalAddr().(*net.UDPAddr).AddrPort())
}

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// Close ends it, and a call of Sight that waits.
func (s *Socket) Close() {
	s.stop()
	<-s.done
}

// serve takes frames until the socket is closed. Beyond so many in a stretch of time it rests until the next one, so that a flood
// takes no more than a share of a processor; what came meanwhile is lost, or answered late, which the kernel's stamps show.
func (s *Socket) serve() {
	began, frames := time.Now(), 0
	for {
		frame, from, stamp, err := s.socket.receive()
		came, now := s.clocks.Now(), time.Now()
		rest := began.Add(framesWithin).Sub(now)
		switch frames++; {
		case rest <= 0:
			began, frames, rest = now, 1, 0
		case frames < framesAtMost:
			rest = 0
		}
		switch {
		case err != nil:
			s.failed(err) // of one frame, such as one that could not be delivered
		case rest == 0:
			s.take(frame, from, stamp, came)
			continue
		}
		select {
		case <-s.closed:
			return
		case <-time.After(rest):
		}
	}
}

// take takes a frame that came, at stamp by the kernel: the answer to the last question, or a question, which is answered.
func (s *Socket) take(frame []byte, from netip.AddrPort, stamp, came int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peer.IsValid() && unmapped(from) != s.peer {
		return
	}
	if s.asked != nil { // a socket that only answers has no such key
		if f, err := parseStampFrame(frame, &s.ask); err == nil && f.answer {
			if s.asked.number == f.number {
				s.asked.take(f, stamp, came)
			}
			return
		}
	}
	for i := range s.keys {
		if f, err := parseStampFrame(frame, &s.keys[i]); err == nil && !f.answer {
			s.answer(f, &s.keys[i], from, stamp, came)
			return
		}
	}
}

// answer answers a question. s.mu is held.
func (s *Socket) answer(q stampFrame, key *Key, from netip.AddrPort, stamp, came int64) {
	s.note()
	f := stampFrame{answer: true, number: q.number, place: s.next % kept, clock: s.clocks.Name}
	if a := s.answers[q.place]; q.about != 0 && a.number == q.about {
		f.left = a.at
	}
	a := left{number: q.number, wall: s.walls(), raw: s.clocks.reading()}
	var latest int64
	_, latest, f.kernel = a.wall.within(stamp, s.since, came)
	a.from = s.clocks.Now()
	f.raw, f.t2, f.t3 = a.raw.Known(), s.clocks.latest(latest, a.raw), s.clocks.earliest(a.from, a.raw)
	s.answers[f.place] = a
	s.next++
	var out [stampSize]byte
	f.put(&out, key)
	_, _ = s.socket.conn.WriteToUDPAddrPort(out[:], from) // an error loses the answer, as the network may
}

// walls reads the wall clock. What holds now holds since s.since. s.mu is held.
func (s *Socket) walls() span {
	now := s.clocks.wall()
	both, same := s.wall.and(now)
	switch {
	case !same:
		s.wall, s.since = now, s.clocks.Now()
		return now
	case now.high-now.low < s.wall.high-s.wall.low:
		s.wall = now
	}
	return both
}

// note notes when frames left, by the kernel. s.mu is held.
func (s *Socket) note() {
	wall, now := s.walls(), s.clocks.Now()
	s.socket.left(func(packet []byte, stamp int64) {
		if s.asked != nil && bytes.Equal(packet, s.asked.frame[:]) {
			s.asked.sent = stamp
			return
		}
		for i := range s.keys {
			f, err := parseStampFrame(packet, &s.keys[i])
			if err != nil || !f.answer {
				continue
			}
			a := s.answers[f.place]
			if both, same := a.wall.and(wall); same && a.number == f.number {
				if earliest, _, ok := both.within(stamp, a.from, now); ok {
					a.at = s.clocks.earliest(earliest, a.raw)
					s.answers[f.place] = a
				}
			}
		}
	})
}
