package null

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/internal/nullbroker"
)

// linkKey names a connection within its session: producers and consumers never
// share one.
type linkKey struct {
	role   driver.Role
	slow   bool // one that takes its time holds up who shares its connection
	number int
}

func (k linkKey) String() string {
	if k.slow {
		return fmt.Sprintf("slow %s-%d", k.role, k.number)
	}
	return fmt.Sprintf("%s-%d", k.role, k.number)
}

// link is one client of the broker: one connection after the other, with a
// goroutine that reads, hands messages over, and connects again.
type link struct {
	session *session
	key     linkKey
	batch   int // bytes that are collected before they are written
	ended   chan struct{}
	// live is the connection, for callers that must break it without waiting for mu,
	// which a blocked write holds.
	live atomic.Pointer[net.Conn]

	mu       sync.Mutex
	conn     net.Conn // nil: not connected
	out      []byte   // not yet written
	messages int      // unconfirmed ones in out
	timer    *time.Timer
	armed    bool
	handles  map[string]uint32
	topics   []string // by handle
	asked    uint32   // the last request's number; 0 is never used
	asking   map[uint32]chan error

	pending  pending
	consumed atomic.Pointer[[]*consumer] // by subscription; replaced under mu
}

func newLink(s *session, key linkKey) *link {
	l := &link{session: s, key: key, batch: kit.WriteBuffer(s.options.WriteBuffer, s.target.Batch), ended: make(chan struct{}),
		handles: map[string]uint32{}, asking: map[uint32]chan error{}}
	l.consumed.Store(&[]*consumer{})
	return l
}

// start connects for the first time and keeps the link connected from then on.
func (l *link) start(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.session.life, func() { cancel(driver.ErrClosed) })()
	conn, _, err := l.session.connect(driver.WithRole(ctx, l.key.role))
	if err != nil {
		return err
	}
	l.up(conn)
	go l.run(conn)
	return nil
}

// up takes a connection into use, with all that the last one had.
func (l *link) up(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn, l.out, l.messages = conn, l.out[:0], 0
	l.live.Store(&conn)
	var again []byte
	for handle, topic := range l.topics {
		again = nullbroker.AppendTopic(again, 0, uint32(handle), topic)
	}
	for number, c := range *l.consumed.Load() {
		if c != nil {
			again = nullbroker.AppendSubscribe(again, 0, uint32(number), c.group, c.topics[uint32(number)-c.first])
		}
	}
	if len(again) > 0 {
		if _, err := conn.Write(again); err != nil {
			conn.Close() // the reader sees it
		}
	}
	if l.session.life.Err() != nil {
		conn.Close() // cut came before
	}
}

// cut breaks the connection, whatever is blocked on it.
func (l *link) cut() {
	if c := l.live.Load(); c != nil {
		(*c).Close()
	}
}

var (
	errLost  = fmt.Errorf("null: %w: the connection was lost before the broker had confirmed", driver.ErrTimeout)
	errEnded = fmt.Errorf("null: %w before the broker had confirmed", driver.ErrClosed)
)

// run is the link's goroutine.
func (l *link) run(conn net.Conn) {
	defer close(l.ended)
	for {
		err := l.read(conn)
		conn.Close() // first: a blocked write holds the lock
		over := l.session.life.Err() != nil
		lost := errLost
		if over {
			lost = errEnded
		}
		l.down(conn, lost)
		if over {
			return
		}
		l.session.notify(driver.Event{Kind: driver.Disconnected, Detail: fmt.Sprintf("%s: %v", l.key, err)})
		if conn = l.again(); conn == nil {
			l.pending.fail(errEnded)
			return
		}
		l.up(conn)
		l.session.notify(driver.Event{Kind: driver.Reconnected, Detail: l.key.String()})
	}
}

// down puts a broken connection out of use and resolves what was under way.
func (l *link) down(conn net.Conn, why error) {
	l.mu.Lock()
	if l.conn == conn {
		l.conn = nil
	}
	dropped := l.messages
	l.out, l.messages = l.out[:0], 0
	if l.timer != nil {
		l.timer.Stop()
		l.armed = false
	}
	for _, answer := range l.asking {
		answer <- l.refusal()
	}
	clear(l.asking)
	l.mu.Unlock()
	if dropped > 0 {
		l.session.notify(driver.Event{Kind: driver.Dropped, Detail: l.key.String() + ": unwritten when the connection was lost", Count: dropped})
	}
	l.pending.fail(why)
}

// again connects until that succeeds or the session ends; then it returns nil.
func (l *link) again() net.Conn {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-l.session.life.Done():
			return nil
		case <-pause.C:
		}
		if conn, _, err := l.session.connect(driver.WithRole(l.session.life, l.key.role)); err == nil {
			return conn
		}
		pause.Reset(l.session.options.ReconnectWait)
	}
}

// refusal is why nothing can be sent now.
func (l *link) refusal() error {
	if l.session.life.Err() != nil {
		return driver.ErrClosed
	}
	return driver.ErrNotConnected
}

// readFirst is the size of the read buffer in bytes; it grows with the frames.
const readFirst = 64 << 10

// read handles what comes until the connection breaks.
func (l *link) read(conn net.Conn) error {
	buf := make([]byte, readFirst)
	start, end := 0, 0
	var f nullbroker.Frame // one for all: it escapes
	for {
		n, err := conn.Read(buf[end:])
		end += n
		need := 0
		for start < end {
			next, size, missing, wrong := nullbroker.Decode(buf[start:end])
			f = next
			if wrong != nil {
				return wrong
			}
			if size == 0 {
				need = missing
				break
			}
			start += size
			if wrong := l.handle(&f); wrong != nil {
				return wrong
			}
		}
		if err != nil {
			return err
		}
		if err := l.answered(); err != nil {
			return err
		}
		if start == end {
			start, end = 0, 0
			continue
		}
		if start > 0 && (end == len(buf) || start+need > len(buf)) {
			end = copy(buf, buf[start:end])
			start = 0
		}
		if end == len(buf) {
			buf = append(make([]byte, 0, max(need, 2*len(buf))), buf...)
			buf = buf[:cap(buf)]
		}
	}
}

// handle deals with a frame from the broker.
func (l *link) handle(f *nullbroker.Frame) error {
	switch f.Op {
	case nullbroker.OpMessage:
		all := *l.consumed.Load()
		if int64(f.Number) < int64(len(all)) && all[f.Number] != nil {
			all[f.Number].message(f)
		}
	case nullbroker.OpAck:
		if !l.pending.confirm(f.Number) {
			return fmt.Errorf("%w: message %d is confirmed, which was not sent", nullbroker.ErrProtocol, f.Number)
		}
	case nullbroker.OpDone:
		l.mu.Lock()
		answer := l.asking[f.Number]
		delete(l.asking, f.Number)
		l.mu.Unlock()
		if answer != nil {
			answer <- nil
		}
	case nullbroker.OpRefused:
		return fmt.Errorf("the broker ends the connection: %s", f.Payload)
	default:
		return fmt.Errorf("%w: %q is nothing that a broker says", nullbroker.ErrProtocol, byte(f.Op))
	}
	return nil
}

// write writes out what is collected; mu is held. An error means that the
// connection is lost, and with it what was collected.
func (l *link) write() error {
	if len(l.out) == 0 {
		return nil
	}
	if l.conn == nil {
		return l.refusal()
	}
	_, err := l.conn.Write(l.out)
	if err == nil {
		l.out, l.messages = l.out[:0], 0
		return nil
	}
	l.conn.Close() // half a frame may be out: nothing can follow it
	l.conn = nil
	if l.session.life.Err() != nil {
		return fmt.Errorf("%w: %w", driver.ErrClosed, err)
	}
	return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
}

// holdMost is the longest time that frames wait for a flush. The engine flushes; this
// is for a sender that just stops.
const holdMost = 5 * time.Millisecond

// hold starts the timer that writes collected frames; mu is held.
func (l *link) hold() {
	if l.armed {
		return
	}
	l.armed = true
	if l.timer == nil {
		l.timer = time.AfterFunc(holdMost, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.armed = false
			_ = l.write() // the reader notices a failure, too
		})
		return
	}
	l.timer.Reset(holdMost)
}

// flush writes out what is collected. It is given up, and the connection with
// it, when ctx ends.
func (l *link) flush(ctx context.Context) error {
	defer l.bound(ctx)()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write()
}

// bound breaks the connection when ctx ends, until the function that it returns
// is called.
func (l *link) bound(ctx context.Context) (stop func()) {
	s := context.AfterFunc(ctx, l.cut)
	return func() { s() }
}

// ask sends a request made by frame and waits for its answer.
func (l *link) ask(ctx context.Context, frame func(b []byte, request uint32) []byte) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
	answer := make(chan error, 1)
	request, err := l.request(ctx, answer, frame)
	if err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.asking, request)
		l.mu.Unlock()
		return fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}

// request sends a request, to be answered on the channel.
func (l *link) request(ctx context.Context, answer chan error, frame func(b []byte, request uint32) []byte) (uint32, error) {
	defer l.bound(ctx)()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return 0, l.refusal()
	}
	if l.asked++; l.asked == 0 {
		l.asked++
	}
	l.asking[l.asked] = answer
	l.out = frame(l.out, l.asked)
	if err := l.write(); err != nil {
		delete(l.asking, l.asked)
		return 0, err
	}
	return l.asked, nil
}

// handle of a topic, declared on the first use; mu is held.
func (l *link) handleOf(topic string) uint32 {
	handle, ok := l.handles[topic]
	if !ok {
		handle = uint32(len(l.topics))
		l.handles[topic] = handle
		l.topics = append(l.topics, topic)
		l.out = nullbroker.AppendTopic(l.out, 0, handle, topic)
	}
	return handle
}
