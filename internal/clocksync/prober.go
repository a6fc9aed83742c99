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

// Prober asks a responder for the time, over a stream or over datagrams.
type Prober struct {
	conn   net.Conn
	now    func() int64
	packet bool // the connection keeps frames apart
	number uint32
	buf    [frameSize + 1]byte // one more, to notice a datagram that is too long
	have   int                 // bytes of a frame that a timeout cut
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

// Probe asks once and waits at most so long for the answer. An answer to an
// earlier question, and a datagram that is no answer, is passed over. The error
// is one of the connection, os.ErrDeadlineExceeded if none came in time, after
// which the next question can be asked, or says that the other side does not
// speak the protocol. Not safe for concurrent use.
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
			continue // anybody can send a datagram
		case err != nil:
			return Exchange{}, err
		case f.answer && f.number == p.number && f.t1 == t1:
			return Exchange{t1, f.t2, f.t3, t4}, nil
		}
	}
}

// read returns what may be a frame, until the next call.
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

// Run asks every so often until ctx ends, and hands each exchange to take. A
// question that is not answered by the time of the next is given up. It returns
// nil at the end of ctx, else what broke the connection. Ten a second over a
// path apart from the load's are what METHOD asks for; each costs 32 bytes and
// as many back.
func (p *Prober) Run(ctx context.Context, every time.Duration, take func(Exchange)) error {
	// The end of ctx must also end a read that waits.
	stop := context.AfterFunc(ctx, func() { p.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := p.conn.SetDeadline(time.Now().Add(every))
		if ctx.Err() != nil { // before or after that deadline was set: either way it is over
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

// Respond answers the questions that come over a stream, by the clock that now
// reads (ns), until the other side hangs up or ctx ends: then it returns nil.
// Closing the connection is the caller's.
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

// RespondPackets answers the questions that come as datagrams, as [Respond]
// does, until ctx ends. Datagrams that are no questions are passed over, and
// answers that cannot be sent are lost.
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
			// Some systems report here what became of an earlier answer, or that a
			// datagram was too long. What lasts is the socket's trouble.
			if errs++; errs == patience || errors.Is(err, net.ErrClosed) {
				return fmt.Errorf("clocksync: serve the time at %s: %w", conn.LocalAddr(), err)
			}
			continue
		}
		errs = 0
		if answer(&out, buf[:n], t2, now) == nil {
			conn.WriteTo(out[:], from) // as lost as any datagram may be
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
