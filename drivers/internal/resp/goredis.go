package resp

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"sixnines/driver"
)

// GoRedisClient is a client of go-redis with a single connection, which was made and
// logged in here. When that is lost the client is of no more use: the link makes
// another connection, and whoever works on it another client.
type GoRedisClient struct {
	*goredis.Client
	conn *lent
}

// NewGoRedis returns the client for c. It has the protocol that go-redis settles by
// itself (RESP 3 where the server speaks it) and no time limits of its own, retries
// nothing, and stays with the connection.
func NewGoRedis(c *Conn) *GoRedisClient {
	l := &lent{Conn: c}
	return &GoRedisClient{conn: l, Client: goredis.NewClient(&goredis.Options{
		Addr:             c.RemoteAddr().String(), // for go-redis's own messages
		Dialer:           l.dial,
		PoolSize:         1,
		PipelinePoolSize: -1, // pipelines take the one of the pool
		ConnMaxIdleTime:  -1,
		MaxRetries:       -1,
		DialerRetries:    1,
		ReadTimeout:      -2, // none, and the connection is not told so before each read
		WriteTimeout:     -2,
		// It would move connections to where the server says.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
}

// GivenUp returns an error if go-redis has closed the connection. It would ask for
// another one then, and write to stderr that there is none.
func (g *GoRedisClient) GivenUp() error {
	if g.conn.closed.Load() {
		return fmt.Errorf("%w: go-redis has closed the connection", driver.ErrNotConnected)
	}
	return nil
}

// lent is a connection that go-redis has.
type lent struct {
	*Conn
	given, closed atomic.Bool
}

// dial gives the connection away, once.
func (l *lent) dial(context.Context, string, string) (net.Conn, error) {
	if l.given.Swap(true) {
		return nil, fmt.Errorf("%w: the connection was lost", driver.ErrNotConnected)
	}
	return l, nil
}

// Close implements net.Conn.
func (l *lent) Close() error {
	l.closed.Store(true)
	return l.Conn.Close()
}

// waitingMost is how many bytes of payloads may wait for the end of a pipeline; Send
// blocks then.
const waitingMost = 1 << 20

// goRedisSender sends by go-redis, which publishes many messages without waiting for
// each by a pipeline: one goroutine takes what has been sent since the last, has it
// executed as one, and resolves the outcome of each.
type goRedisSender struct {
	on     *Client
	client *GoRedisClient
	watch  Watch
	wake   chan struct{} // what has been sent to who waits for it
	left   chan struct{} // closed when no more is to be taken
	empty  chan struct{} // closed when all is answered and the sender leaving
	once   sync.Once

	mu      sync.Mutex
	taken   sync.Cond // the messages that waited have been
	idle    bool      // somebody waits for messages
	leaving bool
	broken  bool // nothing more can be sent
	waiting []message
	bytes   int // of payloads in waiting
}

// message is one that waits for a pipeline, or is in it.
type message struct {
	token   uint64
	acks    driver.Acks
	command *Command
	payload []byte
}

// newGoRedisSender returns one over the connection.
func newGoRedisSender(cl *Client, c *Conn, w Watch) (*goRedisSender, error) {
	s := &goRedisSender{on: cl, client: NewGoRedis(c), watch: w, wake: make(chan struct{}, 1), left: make(chan struct{}), empty: make(chan struct{})}
	s.taken.L = &s.mu
	// It says hello first, so that the first message need not wait for that.
	err := s.client.Ping(context.Background()).Err()          // the end of the connection ends it
	if _, refused := ReplyText(err); err != nil && !refused { // whoever may not PING may publish
		s.client.Close()
		return nil, err
	}
	return s, nil
}

// Serve implements kit.Wire: it executes pipelines until the connection is lost.
func (s *goRedisSender) Serve() (err error) {
	var batch []message
	for err == nil {
		if batch = s.take(batch); batch == nil {
			return driver.ErrClosed
		}
		err = s.execute(batch)
	}
	return err
}

// take returns the messages that were sent since it was last called, and waits until
// there is one. It takes back what it returned then. Nil: no more is to be taken.
func (s *goRedisSender) take(last []message) []message {
	for {
		s.mu.Lock()
		if len(s.waiting) > 0 {
			batch := s.waiting
			s.waiting, s.bytes = last[:0], 0
			s.taken.Broadcast()
			s.mu.Unlock()
			return batch
		}
		s.idle = true
		s.settled()
		s.mu.Unlock()
		select {
		case <-s.wake:
		case <-s.left:
			return nil
		}
	}
}

// execute sends the messages as one pipeline and resolves them. Its error ends the
// connection.
func (s *goRedisSender) execute(batch []message) error {
	pipe := s.client.Pipeline()
	for i := range batch {
		batch[i].command.queue(pipe, batch[i].payload)
	}
	commands, failure := pipe.Exec(context.Background()) // the end of the connection ends it
	var unknown error
	for i, cmd := range commands {
		m, err := &batch[i], cmd.Err()
		switch text, refused := ReplyText(err); {
		case err == nil:
			err = s.watch.Reply(goRedisReply(cmd))
		case refused:
			err = fmt.Errorf("%s: %w", s.on.Driver, ReplyError(text))
		default:
			if unknown == nil {
				unknown = s.unknown(err)
			}
			err = unknown
		}
		m.acks.Done(m.token, err)
	}
	if lost := s.client.GivenUp(); lost != nil {
		return cmp.Or(failure, lost)
	}
	return nil
}

// unknown is the outcome of messages without a reply on a connection that was lost
// because of cause.
func (s *goRedisSender) unknown(cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving {
		return fmt.Errorf("%s: %w before the reply", s.on.Driver, driver.ErrClosed)
	}
	return fmt.Errorf("%s: %w: no reply before the connection was lost (%v); the server may have done it or not", s.on.Driver, driver.ErrTimeout, cause)
}

// goRedisReply is what a Watch is told of a reply.
func goRedisReply(cmd goredis.Cmder) (kind byte, n int64) {
	switch cmd := cmd.(type) {
	case *goredis.IntCmd:
		return Integer, cmd.Val()
	case *goredis.StringCmd:
		return Bulk, int64(len(cmd.Val()))
	}
	return Status, 0
}

// settled tells Leave, if it waits, that nothing is open. mu is held.
func (s *goRedisSender) settled() {
	if s.leaving {
		s.once.Do(func() { close(s.empty) })
	}
}

// End implements kit.Wire: it resolves what waited for a pipeline.
func (s *goRedisSender) End(err error) {
	s.client.conn.Close() // which the client need not have
	s.client.Close()
	s.watch.Lost()
	s.mu.Lock()
	s.broken, s.idle = true, false
	waiting := s.waiting
	s.waiting, s.bytes = nil, 0
	s.taken.Broadcast()
	s.mu.Unlock()
	unsent := s.on.unsent(err)
	for i := range waiting {
		waiting[i].acks.Done(waiting[i].token, unsent)
	}
	s.once.Do(func() { close(s.empty) })
}

// Send implements sender.
func (s *goRedisSender) Send(token uint64, acks driver.Acks, c *Command, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.bytes >= waitingMost && !s.leaving && !s.broken {
		s.taken.Wait()
	}
	switch {
	case s.leaving:
		return driver.ErrClosed
	case s.broken:
		return driver.ErrNotConnected
	}
	s.waiting = append(s.waiting, message{token, acks, c, payload})
	s.bytes += len(payload)
	if s.idle {
		s.idle = false
		s.wake <- struct{}{}
	}
	return nil
}

// Flush implements driver.Flusher: nothing waits for it.
func (s *goRedisSender) Flush() error { return nil }

// Sync implements driver.Syncer.
func (s *goRedisSender) Sync(ctx context.Context) error {
	answer := make(trip, 1)
	go func() { // it may be blocked
		if err := s.Send(0, answer, question(false), nil); err != nil {
			answer <- err
		}
	}()
	return answer.await(ctx)
}

// Leave implements kit.Wire. It lets the server reply to everything.
func (s *goRedisSender) Leave(ctx context.Context) {
	s.mu.Lock()
	s.leaving = true
	s.taken.Broadcast()
	if s.idle {
		s.settled()
	}
	s.mu.Unlock()
	select {
	case <-s.empty:
	case <-ctx.Done():
	}
	s.client.conn.Close()
	close(s.left)
}
