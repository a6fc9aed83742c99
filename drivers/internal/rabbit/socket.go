package rabbit

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// ErrClosed is why a connection ended that was closed by this side.
var ErrClosed = fmt.Errorf("%w by the client", driver.ErrClosed)

// ErrLogin says that a server refused a login and did not explain it.
var ErrLogin = fmt.Errorf("%w: the server closed the connection while logging in", driver.ErrUnauthorized)

// Socket is a connection by a protocol of our own, below its frames. It implements
// Conn once it was started, and is safe for concurrent use then.
type Socket struct {
	In  *kit.Frames // of who logs in, then of the goroutine that reads
	Out *kit.Writer

	// What is set before Start.
	FrameMax   int           // bytes; the largest frame that was agreed on
	Heartbeat  time.Duration // the interval that was agreed on; 0: none
	Pulse, Bye []byte        // frames: a heartbeat, and what asks the server to close

	conn       kit.Conn
	source     kit.Reader
	cause      atomic.Pointer[error]
	dead, done chan struct{}
	err        error
}

// NewSocket returns one before its login. size is that of a frame, and rest is called
// before the goroutine that reads waits, see kit.NewFrames; nil: it writes replies.
func NewSocket(c kit.Conn, writeBuffer int, size func(unread []byte) (int, error), rest func() error, hook kit.WriterHook) *Socket {
	s := &Socket{conn: c, source: kit.Reader{Source: c.Conn}, dead: make(chan struct{}), done: make(chan struct{})}
	if rest == nil {
		rest = func() error { return s.Out.FlushReplies() }
	}
	s.In = kit.NewFrames(&s.source, size, rest)
	hook.Failed = s.fail
	s.Out = kit.NewWriter(c, writeBuffer, hook)
	return s
}

// AgreeHeartbeat settles the interval of heartbeats from what this side asks for, 0:
// none, and what the server offers, 0: it has no opinion. It is in whole seconds, of
// which the protocols count.
func (s *Socket) AgreeHeartbeat(asked, offered time.Duration) {
	s.Heartbeat = 0
	if asked > 0 {
		s.Heartbeat = max(asked.Truncate(time.Second), time.Second)
	}
	if offered > 0 {
		s.Heartbeat = min(s.Heartbeat, offered)
	}
}

// Start has take deal with each frame that comes, until an error. end is called after
// that: it tells all that lives on the connection.
func (s *Socket) Start(take func(frame []byte) error, end func(why error)) {
	go func() {
		s.fail(s.In.Each(take))
		s.err = *s.cause.Load()
		s.Out.End()
		close(s.dead)
		end(s.err)
		close(s.done)
	}()
	if s.Heartbeat > 0 {
		go s.watch()
	}
}

// Send writes whole frames at once, behind what is collected.
func (s *Socket) Send(frames []byte) error { return s.Why(s.Out.Write(frames)) }

// Flush writes what has been collected.
func (s *Socket) Flush() error { return s.Why(s.Out.Flush()) }

// Why returns the reason for which the connection ended instead of an error that came of
// it, and nil for nil.
func (s *Socket) Why(err error) error {
	if cause := s.cause.Load(); cause != nil && err != nil {
		return *cause
	}
	return err
}

// Dead is closed when nothing more is read.
func (s *Socket) Dead() <-chan struct{} { return s.dead }

// Done implements Conn.
func (s *Socket) Done() <-chan struct{} { return s.done }

// Err implements Conn. It may be called once Dead is closed.
func (s *Socket) Err() error { return s.err }

// Close implements Conn.
func (s *Socket) Close(ctx context.Context) {
	defer context.AfterFunc(ctx, s.Kill)()
	go s.Out.Write(s.Bye) // waits for a writer that is stuck
	<-s.done
}

// Below returns the connection that carries it.
func (s *Socket) Below() kit.Conn { return s.conn }

// Kill ends the connection at once.
func (s *Socket) Kill() { s.fail(ErrClosed) }

// fail ends the connection for the reason, unless it has one already.
func (s *Socket) fail(why error) {
	s.cause.CompareAndSwap(nil, &why)
	s.conn.Raw.Close()
}

// watch writes a heartbeat twice in each interval, and ends the connection when the
// server has been silent for two. Silence does not count while a
// frame is still being handled.
func (s *Socket) watch() {
	tick := time.NewTicker(s.Heartbeat / 2)
	defer tick.Stop()
	silent := 0
	seen, _ := s.source.Seen()
	for {
		select {
		case <-s.dead:
			return
		case <-tick.C:
		}
		if now, waits := s.source.Seen(); now != seen || !waits {
			silent, seen = 0, now
		} else if silent++; silent >= 4 {
			s.fail(fmt.Errorf("no heartbeat from the server in %v", 2*s.Heartbeat))
			return
		}
		if !s.Out.Busy() { // a writer is as good as a heartbeat
			_ = s.Out.Write(s.Pulse) // reading ends, too
		}
	}
}
