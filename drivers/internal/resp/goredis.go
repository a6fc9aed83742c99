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
// logged in here. When that is lost the client is of no more use: the Link makes
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

// Greet has the client say hello, so that the first message need not wait for that.
func (g *GoRedisClient) Greet(ctx context.Context) error {
	err := g.Ping(ctx).Err()
	if _, refused := ReplyText(err); refused { // whoever may not PING may publish
		return nil
	}
	return Explain(err)
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
	*Link
	watch   Watch
	wake    chan struct{} // what has been sent to who waits for it
	drained chan struct{} // closed when all is answered and the sender closing

	mu      sync.Mutex
	taken   sync.Cond // the messages that waited have been
	up      bool      // connected
	idle    bool      // somebody waits for messages
	closed  bool
	over    bool // drained is closed
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

// goRedisSender connects a sender under the name.
func (cl *Client) goRedisSender(ctx context.Context, name string, w Watch) (*goRedisSender, error) {
	s := &goRedisSender{watch: w, wake: make(chan struct{}, 1), drained: make(chan struct{})}
	s.taken.L = &s.mu
	if err := cl.open(ctx, name, func(l *Link) { s.Link = l }, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

// serve executes pipelines until the connection is lost, and resolves what is open
// then.
func (s *goRedisSender) serve(c *Conn, ready func(error)) error {
	client := NewGoRedis(c)
	defer client.Close()
	if err := client.Greet(s.Context()); err != nil {
		ready(err)
		return err
	}
	s.mu.Lock()
	s.up = true
	s.mu.Unlock()
	ready(nil)
	var batch []message
	var err error
	for err == nil {
		if batch = s.take(batch); batch == nil {
			err = driver.ErrClosed
		} else {
			err = s.execute(client, batch)
		}
	}
	s.fall(err)
	return err
}

// take returns the messages that were sent since it was last called, and waits until
// there is one. It takes back what it returned then. Nil: the link is being closed.
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
		case <-s.Context().Done():
			return nil
		}
	}
}

// execute sends the messages as one pipeline and resolves them. Its error ends the
// connection.
func (s *goRedisSender) execute(client *GoRedisClient, batch []message) error {
	pipe := client.Pipeline()
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
			err = fmt.Errorf("%s: %w", s.client.Driver, ReplyError(text))
		default:
			if unknown == nil {
				unknown, _ = s.lose(err)
			}
			err = unknown
		}
		m.acks.Done(m.token, err)
	}
	if lost := client.GivenUp(); lost != nil {
		return cmp.Or(failure, lost)
	}
	return nil
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

// settled tells Close, if it waits, that nothing is open. mu is held.
func (s *goRedisSender) settled() {
	if s.closed && !s.over {
		s.over = true
		close(s.drained)
	}
}

// fall resolves what waited for a pipeline when the connection was lost because of
// cause.
func (s *goRedisSender) fall(cause error) {
	s.watch.Lost()
	s.mu.Lock()
	s.up, s.idle = false, false
	waiting := s.waiting
	s.waiting, s.bytes = nil, 0
	s.taken.Broadcast()
	s.mu.Unlock()
	_, unsent := s.lose(cause)
	for i := range waiting {
		waiting[i].acks.Done(waiting[i].token, unsent)
	}
	s.mu.Lock()
	s.settled()
	s.mu.Unlock()
}

// Send implements sender.
func (s *goRedisSender) Send(token uint64, acks driver.Acks, c *Command, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.bytes >= waitingMost && !s.closed {
		s.taken.Wait()
	}
	switch {
	case s.closed:
		return driver.ErrClosed
	case !s.up:
		return s.Classify(driver.ErrNotConnected)
	}
	s.add(message{token, acks, c, payload})
	return nil
}

// add has a message wait for the next pipeline. mu is held.
func (s *goRedisSender) add(m message) {
	s.waiting = append(s.waiting, m)
	s.bytes += len(m.payload)
	if s.idle {
		s.idle = false
		s.wake <- struct{}{}
	}
}

// Batching implements sender: nothing waits for Flush.
func (s *goRedisSender) Batching() bool { return false }

// Flush implements driver.Flusher.
func (s *goRedisSender) Flush() error { return nil }

// Sync implements driver.Syncer.
func (s *goRedisSender) Sync(ctx context.Context) error {
	answer := make(trip, 1)
	ping := &Command{queue: func(p goredis.Pipeliner, _ []byte) { p.Ping(context.Background()) }}
	s.mu.Lock()
	switch {
	case s.closed:
		answer <- driver.ErrClosed
	case !s.up:
		answer <- s.Classify(driver.ErrNotConnected)
	default:
		s.add(message{acks: answer, command: ping})
	}
	s.mu.Unlock()
	return answer.await(ctx)
}

// Close ends the sender by ctx's deadline. A server that has not replied to
// everything gets most of the time until then.
func (s *goRedisSender) Close(ctx context.Context) error {
	s.Silence()
	s.mu.Lock()
	s.closed = true
	s.taken.Broadcast()
	if s.idle || !s.up {
		s.settled()
	}
	s.mu.Unlock()
	return s.finish(ctx, s.drained)
}
