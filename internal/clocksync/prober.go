package clocksync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Prober asks a responder for the time over a stream. Not safe for concurrent use.
type Prober struct {
	conn   net.Conn
	now    func() int64
	number uint32 // of the last question
	buf    [frameSize]byte
	have   int // bytes in buf of a frame that a timeout cut
	out    [frameSize]byte
}

// NewProber returns a prober that asks over conn, whose other end is served by [Respond], and that reads this side's clock by now
// (ns; never backwards). The connection stays the caller's.
func NewProber(conn net.Conn, now func() int64) *Prober { return &Prober{conn: conn, now: now} }

// Probe asks once and waits up to patience for the answer. It ignores answers to
// earlier questions. The error wraps os.ErrDeadlineExceeded if no answer came in
// time, and the prober can then be used again; else it is an error of the connection, or says that the other side
// does not speak the protocol.
func (p *Prober) Probe(patience time.Duration) (Exchange, error) {
	if err := p.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return Exchange{}, fmt.Errorf("clocksync: ask the time of %s: %w", p.conn.RemoteAddr(), err)
	}
	return p.probe()
}

func (p *Prober) probe() (Exchange, error) {
	p.number++
	t1 := p.now()
	frame{number: p.number, t1: t1}.put(&p.out)
	if _, err := p.conn.Write(p.out[:]); err != nil {
		return Exchange{}, fmt.Errorf("clocksync: ask the time of %s: %w", p.conn.RemoteAddr(), err)
	}
	for {
		text, err := p.read()
		t4 := p.now()
		if err != nil {
			return Exchange{}, fmt.Errorf("clocksync: await the time of %s: %w", p.conn.RemoteAddr(), err)
		}
		f, err := parseFrame(text)
		switch {
		case err != nil:
			return Exchange{}, err
		case f.answer && f.number == p.number && f.t1 == t1:
			return Exchange{t1, f.t2, f.t3, t4}, nil
		}
	}
}

// read returns the next frameSize bytes of the stream, valid until the next call.
func (p *Prober) read() ([]byte, error) {
	for p.have < frameSize {
		n, err := p.conn.Read(p.buf[p.have:])
		p.have += n
		if err != nil && p.have < frameSize {
			return nil, err
		}
	}
	p.have = 0
	return p.buf[:], nil
}

// Run asks once in every interval until ctx ends, and calls take with each
// exchange, on the caller's goroutine. It gives up a question that is not
// answered within the interval. It returns nil when ctx ends, else the error of
// the connection. METHOD asks for ten questions a second over a path apart from
// the load's; each takes 32 bytes in either direction.
func (p *Prober) Run(ctx context.Context, every time.Duration, take func(Exchange)) error {
	// The end of ctx sets a deadline in the past, which ends a blocked read.
	stop := context.AfterFunc(ctx, func() { p.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := p.conn.SetDeadline(time.Now().Add(every))
		if ctx.Err() != nil { // checked after the deadline was set, which may have replaced the one in the past
			return nil
		}
		var x Exchange
		if err == nil {
			x, err = p.probe()
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			take(x)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Respond answers the questions that come over a stream with the time that now
// returns (ns). It returns nil when the other side closes the stream or ctx ends,
// else an error of the connection or the protocol. The caller closes conn.
func Respond(ctx context.Context, conn net.Conn, now func() int64) error {
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var buf [frameSize]byte
	for {
		_, err := io.ReadFull(conn, buf[:])
		t2 := now()
		if err == nil {
			if err = answer(&buf, buf[:], t2, now); err != nil {
				return err
			}
			_, err = conn.Write(buf[:])
		}
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, io.EOF):
			return nil
		default:
			return fmt.Errorf("clocksync: send the time to %s: %w", conn.RemoteAddr(), err)
		}
	}
}

// answer makes the answer to a question that arrived at t2.
func answer(out *[frameSize]byte, question []byte, t2 int64, now func() int64) error {
	f, err := parseFrame(question)
	if err != nil {
		return err
	}
	if f.answer {
		return errFrame
	}
	f.answer, f.t2 = true, t2
	f.t3 = now()
	f.put(out)
	return nil
}
