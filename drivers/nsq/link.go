package nsq

import (
	"context"
	"fmt"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// link is a client of nsqd: one network connection after the other, each a wire.
type link struct{ *kit.Link[wire, *wire] }

// newLink returns a link of producers, or of a subscription if that is not nil.
func (s *session) newLink(key kit.Key, sub *subscription) *link {
	return &link{kit.NewLink[wire, *wire](s.Base, kit.LinkConfig[wire]{
		Name: key.String(), Role: key.Role, Wait: s.options.ReconnectWait,
		Dial: func(ctx context.Context) (*wire, error) { return s.dial(ctx, key, sub) },
	})}
}

// clientName is the name of a connection at nsqd.
func (s *session) clientName(key kit.Key) string {
	return fmt.Sprintf("%s%s %s %s", s.Target.Prefix, s.options.ClientID, s.Target.Run, key)
}

// dial connects, introduces itself and subscribes.
func (s *session) dial(ctx context.Context, key kit.Key, sub *subscription) (*wire, error) {
	how := kit.Connecting{Timeout: s.options.ConnectTimeout, Hint: "is this nsqd's TCP address?"}
	servers := s.Servers
	if sub != nil {
		servers = []kit.Server{sub.at.server}
	}
	return kit.Connect(ctx, s.Base, servers, how, func(ctx context.Context, c kit.Conn) (*wire, error) {
		stream, id, err := s.handshake(ctx, c, s.clientName(key))
		if err != nil {
			return nil, err
		}
		w := newWire(s, stream, id, sub)
		if sub != nil {
			err = sub.begin(w)
		}
		return w, err
	})
}

// current implements sender.
func (l *link) current() connection {
	if w := l.Live(); w != nil {
		return w
	}
	return nil
}

// ending implements sender.
func (l *link) ending() bool { return l.Closing() }

// close implements sender.
func (l *link) close(ctx context.Context) error { return l.Close(ctx) }

// closeTimeout is how long nsqd may take to answer that the connection ends.
const closeTimeout = 300 * time.Millisecond

// Serve implements kit.Wire: it handles frames until the connection breaks.
func (w *wire) Serve() error {
	defer close(w.served)
	speaks := func() bool { return true } // nsqd does, once in each interval
	err := w.source.Serve(2*w.session.options.HeartbeatInterval, speaks, func() {
		w.endWith(fmt.Errorf("nsqd has sent nothing for twice the heartbeat_interval"))
	}, func() error { return w.in.Each(w.take) })
	if w.sub != nil && w.leaving.Load() {
		w.sub.gone()
	}
	if why := w.why.Load(); why != nil {
		return *why
	}
	return err
}

// take deals with a frame.
func (w *wire) take(frame []byte) error { return w.handle(split(frame)) }

// handle deals with a frame. An error ends the wire.
func (w *wire) handle(kind int32, data []byte) error {
	switch {
	case kind == nsq.FrameTypeMessage && w.sub != nil:
		return w.sub.message(w, data)
	case kind == nsq.FrameTypeResponse && string(data) == heartbeat:
		return w.writer.Reply([]byte("NOP\n"), 0)
	case kind == nsq.FrameTypeResponse && w.sub == nil:
		return w.answered(nil)
	case kind == nsq.FrameTypeResponse && string(data) == "CLOSE_WAIT":
		w.sub.gone()
		if w.leaving.Load() {
			return driver.ErrClosed
		}
		return nil
	case kind == nsq.FrameTypeError && w.sub == nil:
		err := error(refusal(data))
		w.why.CompareAndSwap(nil, &err) // nsqd ends the connection after it
		return w.answered(fmt.Errorf("nsq: publish: %w", err))
	case kind == nsq.FrameTypeError && w.leaving.Load():
		return driver.ErrClosed
	case kind == nsq.FrameTypeError:
		w.sub.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: refusal(data).Error()})
		return nil
	}
	return fmt.Errorf("%w: of type %d, which was not to come: %.40q", errMalformed, kind, data)
}

// Leave implements kit.Wire. Of a consumer nsqd must have read all that is finished
// before it hears of anything else: nsqd 1.3.0 crashes if a channel is removed while it
// reads a FIN. It answers CLS after what came before, if only to say that it was told
// already.
func (w *wire) Leave(ctx context.Context) {
	w.leaving.Store(true)
	if w.sub == nil {
		w.writer.Last(nil)
	} else if w.writer.Last([]byte("CLS\n")) {
		patience := time.NewTimer(closeTimeout)
		defer patience.Stop()
		select {
		case <-w.served:
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	w.raw.Close()
}

// End implements kit.Wire.
func (w *wire) End(err error) {
	w.writer.End()
	w.unanswered.End(err)
}
