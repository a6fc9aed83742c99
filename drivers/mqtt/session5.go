package mqtt

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"

	pahopackets "github.com/eclipse/paho.golang/packets"
	pahosession "github.com/eclipse/paho.golang/paho/session"
	"github.com/eclipse/paho.golang/paho/session/state"

	"sixnines/driver"
)

// session5 is the session that paho.golang keeps for a client (packet identifiers,
// messages in flight), with a look at what goes through it: what has been answered,
// and how. The library lets its users bring such a session.
type session5 struct {
	*state.State
	flight   *flight
	most     uint16 // messages in flight, whatever the broker allows
	consumer bool
	manual   bool // the consumer acknowledges several messages at once

	ending sync.Once
	lost   chan struct{} // closed when the connection is lost

	// Held while a PUBREC is answered: the library does not look whether its
	// connection is still there.
	answering sync.Mutex

	mu      sync.Mutex
	acked   int
	target  int // of acked
	reached func()
}

// newSession5 returns the session of a new connection. The state of one that outlives
// connections is the link's.
func newSession5(l *link, f *flight) *session5 {
	kept := l.state5
	if kept == nil {
		kept = state.NewInMemory()
		if !l.clean {
			l.state5 = kept
		}
	}
	everything := unlimited()
	s := &session5{State: kept, flight: f, most: uint16(l.session.options.inflight(&everything)),
		lost: make(chan struct{})}
	if l.consumer != nil {
		s.consumer, s.manual = true, l.consumer.due > 1
	}
	return s
}

// ConAckReceived implements the library's SessionManager. The library has no limit
// of its own for messages in flight, only the broker's.
func (s *session5) ConAckReceived(w io.Writer, hello *pahopackets.Connect, answer *pahopackets.Connack) error {
	limited := *answer
	limited.Properties = &pahopackets.Properties{}
	if p := answer.Properties; p != nil {
		*limited.Properties = *p
	}
	most := s.most
	if p := limited.Properties.ReceiveMaximum; p != nil {
		most = min(most, *p)
	}
	limited.Properties.ReceiveMaximum = &most
	return s.State.ConAckReceived(w, hello, &limited)
}

// ConnectionLost implements the library's SessionManager.
func (s *session5) ConnectionLost(d *pahopackets.Disconnect) error {
	s.ending.Do(func() { close(s.lost) })
	s.answering.Lock()
	defer s.answering.Unlock()
	return s.State.ConnectionLost(d)
}

// AddToSession implements the library's SessionManager. It comes before a message is
// written, on the goroutine that sends.
func (s *session5) AddToSession(ctx context.Context, packet pahosession.Packet, answer chan<- pahopackets.ControlPacket) error {
	if err := s.State.AddToSession(ctx, packet, answer); err != nil {
		return err
	}
	if m, ok := ctx.Value(messageKey{}).(*message5); ok {
		m.id = packet.(*pahopackets.Publish).PacketID
		s.flight.put(m.id, m.entry)
	}
	return nil
}

// PacketReceived implements the library's SessionManager. It is called by the
// goroutine that reads, which puts messages into deliver.
func (s *session5) PacketReceived(p *pahopackets.ControlPacket, deliver chan<- *pahopackets.Publish) error {
	switch content := p.Content.(type) {
	case *pahopackets.Puback:
		return s.settle(p, reason(content.ReasonCode), deliver)
	case *pahopackets.Pubcomp:
		return s.settle(p, reason(content.ReasonCode), deliver)
	case *pahopackets.Pubrec:
		s.answering.Lock()
		defer s.answering.Unlock()
		select {
		case <-s.lost:
			return nil
		default:
		}
		if why := reason(content.ReasonCode); why.failed() {
			return s.settle(p, why, deliver)
		}
	case *pahopackets.Unsuback:
		err := s.State.PacketReceived(p, deliver)
		if s.consumer {
			// A message without a topic, which the broker cannot send: it is handled when all
			// that came before has been.
			deliver <- &pahopackets.Publish{Properties: &pahopackets.Properties{}}
		}
		return err
	}
	return s.State.PacketReceived(p, deliver)
}

// settle resolves the message that p answers. Its identifier may be used again when
// the library has seen the answer.
func (s *session5) settle(p *pahopackets.ControlPacket, why reason, deliver chan<- *pahopackets.Publish) error {
	e, ok := s.flight.take(p.PacketID())
	err := s.State.PacketReceived(p, deliver)
	if ok {
		e.acks.Done(e.token, why.outcome())
	}
	return err
}

// Ack implements the library's SessionManager.
func (s *session5) Ack(p *pahopackets.Publish) error {
	err := s.State.Ack(p)
	if s.manual {
		s.mu.Lock()
		s.acked++
		reached := s.reached
		if s.acked < s.target {
			reached = nil
		}
		s.mu.Unlock()
		if reached != nil {
			reached()
		}
	}
	return err
}

// after calls f, which may be called several times, once n messages have been
// acknowledged to the broker.
func (s *session5) after(n int, f func()) {
	s.mu.Lock()
	s.target, s.reached = n, f
	done := s.acked >= n
	s.mu.Unlock()
	if done {
		f()
	}
}

// within returns a context that ends with the connection as well: the library does
// not tell those who wait for an answer that there will be none.
func (s *session5) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-s.lost:
			cancel(driver.ErrNotConnected)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// wholeWrites writes each packet of the library by one call. The library has a packet
// in several parts: a bare TCP connection takes them in one call of the system, any
// other has them written one by one.
type wholeWrites struct {
	net.Conn
	mu     sync.Mutex
	packet []byte // reused
	err    error
	failed atomic.Bool
}

// Lock is called by the library before the parts of a packet.
func (w *wholeWrites) Lock() { w.mu.Lock() }

// Write implements net.Conn.
func (w *wholeWrites) Write(part []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.packet = append(w.packet, part...)
	return len(part), nil
}

// Unlock is called by the library after the parts. Of an error only the next packet
// tells, and the end of the connection.
func (w *wholeWrites) Unlock() {
	if len(w.packet) > 0 && w.err == nil {
		if _, w.err = w.Conn.Write(w.packet); w.err != nil {
			w.failed.Store(true)
			w.Conn.Close()
		}
	}
	w.packet = w.packet[:0]
	w.mu.Unlock()
}
