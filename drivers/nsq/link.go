package nsq

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// The roles of links. Producers and consumers never share one.
const (
	roleControl  = "control"
	roleProducer = "producer"
	roleConsumer = "consumer"
)

// linkKey names a link within its session.
type linkKey struct {
	role string
	conn int
}

func (k linkKey) String() string {
	if k.role == roleControl {
		return k.role
	}
	return fmt.Sprintf("%s-%d", k.role, k.conn)
}

// link is a client of nsqd: one network connection after the other, each a wire.
type link struct {
	session *session
	key     linkKey
	name    string        // at nsqd
	sub     *subscription // nil: none
	live    atomic.Pointer[wire]
	closing atomic.Bool
	life    context.Context // ends with the link
	cancel  context.CancelFunc
	done    chan struct{} // closed when no goroutine of the link is left
}

func (s *session) newLink(key linkKey, sub *subscription) *link {
	l := &link{session: s, key: key, sub: sub, done: make(chan struct{}),
		name: s.clientName(key)}
	l.life, l.cancel = context.WithCancel(s.life)
	return l
}

// clientName is the name of a connection at nsqd.
func (s *session) clientName(key linkKey) string {
	return fmt.Sprintf("%s %s %s", s.options.ClientID, s.target.Run, key)
}

// start connects for the first time and keeps the link connected from then on.
func (l *link) start(ctx context.Context) error {
	w, err := l.connect(ctx)
	if err == nil && !l.adopt(w) {
		err = fmt.Errorf("nsq: connect: %w", driver.ErrClosed)
	}
	if err != nil {
		l.cancel()
		close(l.done)
		return err
	}
	go l.run(w)
	return nil
}

// adopt makes w the link's wire, or ends it: close may have found none before.
func (l *link) adopt(w *wire) bool {
	l.live.Store(w)
	if l.closing.Load() && l.live.CompareAndSwap(w, nil) {
		w.shut(errEnded)
		return false
	}
	return true
}

// connect connects, introduces itself and subscribes. It returns when ctx or
// the link's life ends.
func (l *link) connect(ctx context.Context) (*wire, error) {
	to := l.session.place.address
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.life, func() { cancel(driver.ErrClosed) })()
	limited, stopLimit := context.WithTimeout(ctx, l.session.options.ConnectTimeout)
	defer stopLimit()
	raw, err := l.session.dial(limited, "tcp", to)
	if err != nil {
		if l.life.Err() != nil {
			err = driver.ErrClosed
		}
		return nil, wrap(err, "connect to %s", to)
	}
	stop := context.AfterFunc(limited, func() { raw.Close() })
	s, id, err := l.handshake(limited, raw)
	var w *wire
	if err == nil {
		w = newWire(l, s, id)
		if l.sub != nil {
			err = l.sub.begin(w)
		}
	}
	if !stop() && err == nil {
		err = context.Cause(limited)
	}
	if err == nil {
		return w, nil
	}
	raw.Close()
	if w != nil {
		w.shut(errEnded)
	}
	switch {
	case l.life.Err() != nil:
		err = driver.ErrClosed
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", driver.ErrNotConnected, context.Cause(ctx))
	case limited.Err() != nil:
		err = fmt.Errorf("%w: no answer in %v; is this nsqd's TCP address?", driver.ErrNotConnected, l.session.options.ConnectTimeout)
	}
	return nil, wrap(err, "connect to %s", to)
}

// run reads what comes, and connects again whenever a connection has broken.
func (l *link) run(w *wire) {
	defer close(l.done)
	if l.sub != nil {
		defer l.sub.gone()
	}
	for {
		watched, over := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(watched)
			w.watch(l.session.options.HeartbeatInterval, over)
		}()
		err := l.read(w)
		l.live.CompareAndSwap(w, nil)
		lost := errLost
		if l.closing.Load() || l.life.Err() != nil {
			lost = errEnded
		}
		w.shut(lost)
		close(over)
		<-watched
		if lost == errEnded {
			return
		}
		w.mu.Lock()
		if w.why != nil {
			err = w.why
		}
		w.mu.Unlock()
		l.emit(driver.Event{Kind: driver.Disconnected, Detail: fmt.Sprintf("%s: %v", l.key, err)})
		var ok bool
		if w, ok = l.again(); !ok || !l.adopt(w) {
			return
		}
		l.emit(driver.Event{Kind: driver.Reconnected, Detail: l.key.String()})
	}
}

var (
	errLost   = fmt.Errorf("nsq: %w: the connection was lost before nsqd had answered", driver.ErrTimeout)
	errEnded  = fmt.Errorf("nsq: %w before nsqd had answered", driver.ErrClosed)
	errUnsent = fmt.Errorf("nsq: %w: the connection was lost before the batch was sent", driver.ErrNotConnected)
)

// again connects until that succeeds, or the link ends.
func (l *link) again() (*wire, bool) {
	return kit.Reconnect(l.life, l.session.options.ReconnectWait, l.connect, func(err error) {
		l.emit(driver.Event{Kind: driver.AsyncError, Detail: l.key.String() + ": reconnect: " + err.Error()})
	})
}

// read handles frames until the wire breaks.
func (l *link) read(w *wire) error {
	for {
		kind, data, err := w.next()
		if err != nil {
			return err
		}
		if err := l.handle(w, kind, data); err != nil {
			return err
		}
	}
}

// handle deals with a frame. An error ends the wire.
func (l *link) handle(w *wire, kind int32, data []byte) error {
	switch {
	case kind == nsq.FrameTypeMessage && l.sub != nil:
		return l.sub.message(w, data)
	case kind == nsq.FrameTypeResponse && string(data) == heartbeat:
		w.writing.Lock()
		defer w.writing.Unlock()
		w.frame = append(w.frame[:0], "NOP\n"...)
		return w.writeLocked(w.frame)
	case kind == nsq.FrameTypeResponse && l.sub == nil:
		return w.answered(nil)
	case kind == nsq.FrameTypeResponse && string(data) == "CLOSE_WAIT":
		l.sub.gone()
		if l.closing.Load() {
			return errEnded
		}
		return nil
	case kind == nsq.FrameTypeError && l.sub == nil:
		err := refusal(data)
		w.mu.Lock()
		w.why = err // nsqd ends the connection after it
		w.mu.Unlock()
		return w.answered(fmt.Errorf("nsq: publish: %w", err))
	case kind == nsq.FrameTypeError && l.closing.Load():
		return errEnded
	case kind == nsq.FrameTypeError:
		l.emit(driver.Event{Kind: driver.AsyncError, Detail: l.key.String() + ": " + refusal(data).Error()})
		return nil
	}
	return fmt.Errorf("%w: of type %d, which was not to come: %.40q", errMalformed, kind, data)
}

func (l *link) emit(e driver.Event) {
	if !l.closing.Load() && l.key.role != roleControl {
		l.session.notify(e)
	}
}

// closeTimeout is how long nsqd may take to answer that the connection ends.
const closeTimeout = 300 * time.Millisecond

// close ends the link by ctx's deadline. Of a consumer nsqd must have read all
// that is finished before it hears of anything else: nsqd 1.3.0 crashes if a
// channel is removed while it reads a FIN. It answers CLS after what came before,
// if only to say that it was told already.
func (l *link) close(ctx context.Context) error {
	l.closing.Store(true)
	l.cancel()
	if w := l.live.Swap(nil); w != nil {
		if l.sub == nil {
			w.send(nil)
		} else if w.send(nsq.StartClose()) {
			patience := time.NewTimer(closeTimeout)
			defer patience.Stop()
			select {
			case <-l.done:
			case <-patience.C:
			case <-ctx.Done():
			}
		}
		w.raw.Close()
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nsq: close %s: %w: %w", l.key, driver.ErrTimeout, context.Cause(ctx))
	}
}

// current implements sender.
func (l *link) current() connection {
	if w := l.live.Load(); w != nil {
		return w
	}
	return nil
}

// ending implements sender.
func (l *link) ending() bool { return l.closing.Load() }
