package clocksync

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// How many frames a responder looks at: a thousand agents that are asked as often as coordinators ask send a tenth of it.
const (
	framesAtMost = 2000
	framesWithin = 100 * time.Millisecond
)

// kept is how many answers a responder has the instants of.
const kept = 4096

// Responder answers questions for the time over UDP. It answers who has one of its keys, with as many bytes as were asked with, and
// says nothing to anybody else.
type Responder struct {
	socket *stampSocket
	keys   []Key
	done   chan struct{}
	stop   func()

	// Of the goroutine that answers.
	clocks  slewed
	answers [kept]left
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

// Listen answers questions at an address from now on until Close. The error wraps errors.ErrUnsupported where kernels' stamps are
// not read.
func Listen(at netip.AddrPort, clocks Clocks, keys ...Key) (*Responder, error) {
	doing := func(err error) error { return fmt.Errorf("clocksync: tell the time at %s: %w", at, err) }
	if !stampsExist {
		return nil, doing(errors.ErrUnsupported)
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, doing(err)
	}
	socket, err := newStampSocket(conn)
	if err != nil {
		return nil, doing(errors.Join(err, conn.Close()))
	}
	closed := make(chan struct{})
	r := &Responder{socket: socket, keys: keys, clocks: slewed{Clocks: clocks}, wall: clocks.wall(), since: clocks.Now(), done: make(chan struct{}), stop: sync.OnceFunc(func() {
		close(closed)
		conn.Close() // nothing is left to be sent
	})}
	go func() {
		defer close(r.done)
		r.serve(closed)
	}()
	return r, nil
}

// Address is where it listens.
func (r *Responder) Address() netip.AddrPort {
	return r.socket.conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// Close ends it.
func (r *Responder) Close() {
	r.stop()
	<-r.done
}

// serve answers until closed is closed. Beyond so many frames in a stretch of time it rests until the next one, so that a flood
// takes no more than a share of a processor; what came meanwhile is lost, or answered late, which the kernel's stamps show.
func (r *Responder) serve(closed <-chan struct{}) {
	began, frames := time.Now(), 0
	for {
		frame, from, stamp, err := r.socket.receive()
		now := time.Now()
		rest := began.Add(framesWithin).Sub(now)
		switch frames++; {
		case rest <= 0:
			began, frames = now, 1
		case frames >= framesAtMost:
			err = errors.Join(err, errStampFrame)
		default:
			rest = 0
		}
		if err == nil {
			r.answer(frame, from, stamp)
			continue
		}
		select {
		case <-closed:
			return
		case <-time.After(rest): // an error is of one frame, such as an answer that could not be delivered
		}
	}
}

// answer answers a frame that came, at stamp by the kernel, if it is a question.
func (r *Responder) answer(frame []byte, from netip.AddrPort, stamp int64) {
	came := r.clocks.Now()
	for i := range r.keys {
		q, err := parseStampFrame(frame, &r.keys[i])
		if err != nil || q.answer {
			continue
		}
		r.note()
		f := stampFrame{answer: true, number: q.number, place: r.next % kept, clock: r.clocks.Name}
		if a := &r.answers[q.place%kept]; q.about != 0 && a.number == q.about {
			f.left = a.at
		}
		a := &r.answers[f.place]
		*a = left{number: q.number, wall: r.walls(), raw: r.clocks.reading()}
		var latest int64
		_, latest, f.kernel = a.wall.within(stamp, r.since, came)
		a.from = r.clocks.Now()
		f.t2, f.t3 = r.clocks.latest(latest, a.raw), r.clocks.earliest(a.from, a.raw)
		r.next++
		var out [stampSize]byte
		f.put(&out, &r.keys[i])
		_, _ = r.socket.conn.WriteToUDPAddrPort(out[:], from) // an error loses the answer, as the network may
		return
	}
}

// walls reads the wall clock. What holds now holds since r.since.
func (r *Responder) walls() span {
	now := r.clocks.wall()
	both, same := r.wall.and(now)
	switch {
	case !same:
		r.wall, r.since = now, r.clocks.Now()
		return now
	case now.high-now.low < r.wall.high-r.wall.low:
		r.wall = now
	}
	return both
}

// note notes when answers left, by the kernel.
func (r *Responder) note() {
	wall, now := r.walls(), r.clocks.Now()
	r.socket.left(func(packet []byte, stamp int64) {
		for i := range r.keys {
			f, err := parseStampFrame(packet, &r.keys[i])
			if err != nil || !f.answer {
				continue
			}
			a := &r.answers[f.place%kept]
			if both, same := a.wall.and(wall); same && a.number == f.number {
				if earliest, _, ok := both.within(stamp, a.from, now); ok {
					a.at = r.clocks.earliest(earliest, a.raw)
				}
			}
		}
	})
}
