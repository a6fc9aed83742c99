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

// Prober asks a responder for the time, over a stream or over datagrams. Not safe for
// concurrent use.
type Prober struct {
	conn   net.Conn
	now    func() int64
	packet bool                // datagrams: each read returns one frame
	number uint32              // of the last question
	buf    [frameSize + 1]byte // one more, to detect a datagram that is too long
	have   int                 // bytes in buf of a frame that a timeout cut
	out    [frameSize]byte
}

// NewProber returns a prober that asks over conn, a stream or a connected
// datagram socket whose other end is served by [Respond] or [RespondPackets],
// and that reads this side's clock by now (ns; never backwards). The connection
// stays the caller's.
func NewProber(conn net.Conn, now func() int64) *Prober {
	_, packet := conn.(net.PacketConn)
	return &Prober{conn: conn, now: now, packet: packet}
}

// Probe asks once and waits up to patience for the answer. It ignores answers to
// earlier questions and datagrams that are not answers. The error wraps
// os.ErrDeadlineExceeded if no answer came in time, and the prober can then be
// used again; else it is an error of the connection, or says that the other side
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
		case err != nil && p.packet:
			continue // any process can send a datagram
		case err != nil:
			return Exchange{}, err
		case f.answer && f.number == p.number && f.t1 == t1:
			return Exchange{t1, f.t2, f.t3, t4}, nil
		}
	}
}

// read returns a datagram or the next frameSize bytes of the stream, valid until the next call.
func (p *Prober) read() ([]byte, error) {
	if p.packet {
		n, err := p.conn.Read(p.buf[:])
		return p.buf[:n], err
	}
	for p.have < frameSize {
		n, err := p.conn.Read(p.buf[p.have:frameSize])
		p.have += n
		if err != nil && p.have < frameSize {
			return nil, err
		}
	}
	p.have = 0
	return p.buf[:frameSize], nil
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

// RespondPackets answers the questions that come as datagrams, as [Respond] does,
// and returns nil when ctx ends. It ignores other datagrams and errors of sending.
// It returns an error if the socket is closed or reads fail 100 times in a row.
func RespondPackets(ctx context.Context, conn net.PacketConn, now func() int64) error {
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var (
		buf [frameSize + 1]byte
		out [frameSize]byte
	)
	const patience = 100 // errors in a row
	for errs := 0; ; {
		n, from, err := conn.ReadFrom(buf[:])
		t2 := now()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			// Some systems report here that an earlier answer failed or that a datagram
			// was too long. Only a lasting error is one of the socket.
			if errs++; errs == patience || errors.Is(err, net.ErrClosed) {
				return fmt.Errorf("clocksync: serve the time at %s: %w", conn.LocalAddr(), err)
			}
			continue
		}
		errs = 0
		if answer(&out, buf[:n], t2, now) == nil {
			conn.WriteTo(out[:], from) // an error loses the answer, as the network may
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
