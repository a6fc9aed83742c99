package resp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
)

// Redigo returns redigo's connection.
func (c *Conn) Redigo() redis.Conn { return c.redis }

// redigoSender sends by redigo in the way that redigo describes for pipelining: Send
// and Flush on the goroutine that sends, Receive on another. When it flushes is as
// with a Pipeline; beyond its buffer of 4 KiB redigo writes before that.
//
// What redigo has not written when a connection is lost it does not tell, so all
// that is not answered then has an unknown outcome.
type redigoSender struct {
	*Link
	size  int // bytes that are collected; at most 1: each command is flushed at once
	watch Watch

	closed  atomic.Bool
	written atomic.Uint64 // commands that have been flushed
	// answered counts the replies that have been taken.
	answered atomic.Uint64
	drained  chan struct{} // closed when all is answered and the sender closing
	once     sync.Once

	writing sync.Mutex // guards what follows, and the sender's side of pending
	conn    redis.Conn // nil: not connected
	held    int        // bytes of payloads since the last Flush
	pending *queue
}

// redigoSender connects a sender under the name that collects so many bytes.
func (cl *Client) redigoSender(ctx context.Context, name string, size int, w Watch) (*redigoSender, error) {
	s := &redigoSender{size: size, watch: w, pending: newQueue(), drained: make(chan struct{})}
	if err := cl.open(ctx, name, func(l *Link) { s.Link = l }, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

// serve reads replies until the connection is lost, and resolves what is open then.
func (s *redigoSender) serve(c *Conn, ready func(error)) error {
	s.writing.Lock()
	s.conn = c.redis
	s.writing.Unlock()
	ready(nil)
	answered := s.answered.Load()
	var err error
	for err == nil {
		s.rest(answered)
		err = s.take(c.redis)
		answered++
	}
	s.fall(c, err)
	return err
}

// take takes one reply.
func (s *redigoSender) take(conn redis.Conn) error {
	reply, err := conn.Receive()
	text, refused := ReplyText(err)
	if err != nil && !refused {
		return err
	}
	cmd, ok := s.pending.pop()
	switch {
	case !ok && refused:
		return ReplyError(text) // it says why it hangs up
	case !ok:
		return fmt.Errorf("%w: a reply that nobody asked for: %.100q", ErrProtocol, fmt.Sprint(reply))
	case refused:
		cmd.acks.Done(cmd.token, fmt.Errorf("%s: %w", s.client.Driver, ReplyError(text)))
	default:
		cmd.acks.Done(cmd.token, s.watch.Reply(redigoReply(reply)))
	}
	return nil
}

// redigoReply is what a Watch is told of a reply.
func redigoReply(reply any) (kind byte, n int64) {
	switch reply := reply.(type) {
	case int64:
		return Integer, reply
	case []byte:
		return Bulk, int64(len(reply))
	case string:
		return Status, 0
	case nil:
		return Bulk, -1
	}
	return Array, 0
}

// rest is called before the next reply is read.
func (s *redigoSender) rest(answered uint64) {
	s.answered.Store(answered)
	if s.size > 1 && s.enough(answered) {
		s.writing.Lock()
		if s.enough(answered) {
			_ = s.flush() // take finds out
		}
		s.writing.Unlock()
	}
	if s.Closing() && s.written.Load() == answered {
		s.drain(answered)
	}
}

// enough reports whether as many commands have been collected as are out and not
// answered.
func (s *redigoSender) enough(answered uint64) bool {
	written := s.written.Load()
	return s.pending.count.Load()-written >= written-answered
}

func (s *redigoSender) drain(answered uint64) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if answered == s.pending.added {
		s.once.Do(func() { close(s.drained) })
	}
}

// fall resolves what was sent over c, which is lost because of cause.
func (s *redigoSender) fall(c *Conn, cause error) {
	c.Close() // frees one who writes
	s.watch.Lost()
	s.writing.Lock()
	s.conn, s.held = nil, 0
	s.answered.Store(s.pending.added)
	s.written.Store(s.pending.added)
	s.writing.Unlock()
	unknown, _ := s.lose(cause)
	for {
		cmd, ok := s.pending.pop()
		if !ok {
			break
		}
		cmd.acks.Done(cmd.token, unknown)
	}
	if s.Closing() {
		s.once.Do(func() { close(s.drained) })
	}
}

// Send implements sender.
func (s *redigoSender) Send(token uint64, acks driver.Acks, c *Command, payload []byte) error {
	if s.closed.Load() {
		return driver.ErrClosed
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.conn == nil {
		return s.Classify(driver.ErrNotConnected)
	}
	if err := s.conn.Send(c.name, c.with(payload)...); err != nil {
		// The end of the command is not out, so the server does not do it.
		s.conn = nil
		return s.Classify(fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	}
	s.held += len(payload)
	s.pending.push(command{token: token, acks: acks})
	if s.size <= 1 || s.held >= s.size || s.enough(s.answered.Load()) {
		_ = s.flush() // take finds out
	}
	return nil
}

// flush has redigo write. writing is held. After a failure there is no connection,
// and the reader resolves what is open.
func (s *redigoSender) flush() error {
	if s.conn == nil || s.written.Load() == s.pending.added {
		return nil
	}
	s.held = 0
	s.written.Store(s.pending.added)
	if err := s.conn.Flush(); err != nil {
		s.conn = nil
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return nil
}

// Batching implements sender.
func (s *redigoSender) Batching() bool { return s.size > 1 }

// Flush implements driver.Flusher. That nothing can be written is told by Done.
func (s *redigoSender) Flush() error {
	if s.closed.Load() {
		return driver.ErrClosed
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.Classify(s.flush())
}

// Sync implements driver.Syncer.
func (s *redigoSender) Sync(ctx context.Context) error {
	if s.closed.Load() {
		return driver.ErrClosed
	}
	answer := make(trip, 1)
	go func() { // a write may be stuck
		s.writing.Lock()
		defer s.writing.Unlock()
		if s.conn == nil || s.conn.Send("PING") != nil {
			answer <- s.Classify(driver.ErrNotConnected)
			return
		}
		s.pending.push(command{acks: answer})
		_ = s.flush() // fall tells of it
	}()
	return answer.await(ctx)
}

// Close ends the sender by ctx's deadline. A server that has not replied to
// everything gets most of the time until then.
func (s *redigoSender) Close(ctx context.Context) error {
	s.closed.Store(true)
	s.Silence()
	go func() { // a write may be stuck
		s.writing.Lock()
		_ = s.flush()
		gone := s.conn == nil
		answered := s.answered.Load()
		s.writing.Unlock()
		if gone {
			s.once.Do(func() { close(s.drained) })
		} else {
			s.drain(answered)
		}
	}()
	return s.finish(ctx, s.drained)
}
