package redisstreams

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// consumer implements driver.Consumer: a connection on which one goroutine
// fetches, delivers and acknowledges, in this order, again and again.
type consumer struct {
	session *session
	link    *resp.Link
	deliver driver.Deliver
	name    string // of the connection, and in its group
	group   string // empty: alone
	keys    []string
	numbers map[string]int // of the keys
	prompt  bool           // acknowledgements are written at once

	id    int
	taken []atomic.Int64 // by key: messages delivered to one that is alone
	alone bool           // the group, if there is one, is the consumer's own
	noAck bool           // the group's consumers acknowledge nothing
	every int            // acknowledge after this many; 1: each by itself

	// The link's goroutine's:
	conn       *resp.Conn
	from       fetcher
	fetching   fetch
	last       []id   // by key: how far the consumer is, or how far with what it reads again
	newest     []id   // by key: the latest that was delivered, of one that is alone
	due        [][]id // by key: delivered and not acknowledged
	dues       int    // sum of their lengths
	complained bool   // an acknowledgement was refused, and an event said so

	gate   sync.Mutex // held while Deliver runs
	closed bool       // guarded by gate
	once   sync.Once
	ended  chan struct{} // closed when no Deliver runs any more, and leftovers are acknowledged
}

// fetch says what a consumer reads next.
type fetch int

const (
	fetchAlone fetch = iota // what comes after the last
	fetchAgain              // what the group has given it and it has not acknowledged
	fetchNew                // what the group has given nobody
)

// Consumer implements driver.Session. Streams and groups begin with their first
// entry, so the subscription is effective before it is made.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := &consumer{session: s, deliver: deliver, name: fmt.Sprintf("consumer-%d", spec.ID), group: spec.Group,
		numbers: map[string]int{}, prompt: spec.Slow || !s.batch, every: 1, ended: make(chan struct{})}
	for _, topic := range spec.Topics {
		key, err := s.key(topic)
		if err != nil {
			return nil, err
		}
		c.numbers[key] = len(c.keys)
		c.keys = append(c.keys, key)
	}
	c.last, c.newest, c.due = make([]id, len(c.keys)), make([]id, len(c.keys)), make([][]id, len(c.keys))
	c.id, c.taken = spec.ID, make([]atomic.Int64, len(c.keys))
	if c.alone = spec.Group == ""; !c.alone {
		if err := s.CheckName("group", spec.Group); err != nil {
			return nil, err
		}
	}
	switch spec.Ack.Mode {
	case driver.AckNone:
		c.noAck = true
	case driver.AckEach, driver.AckEvery:
		if spec.Ack.Mode == driver.AckEvery {
			c.every = max(1, spec.Ack.Every)
		}
		if c.group == "" {
			c.group = "alone-" + strconv.Itoa(spec.ID)
			if err := s.regroup(ctx, c.group, c.keys, func(args ...any) error {
				_, err := s.Control.Do(ctx, "XGROUP", args...)
				return err
			}, func(string) {}); err != nil {
				return nil, s.Wrap(err, "make a group for a consumer alone")
			}
		}
	}
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	if !s.keep(c) {
		c.end(ctx)
		return nil, fmt.Errorf("redis-streams: consume: session %w", driver.ErrClosed)
	}
	return c, nil
}

// start connects, and returns when the server has shown that it lets the
// consumer read.
func (c *consumer) start(ctx context.Context) error {
	ready := make(chan error, 1)
	linked := make(chan struct{})
	first := true
	link, err := c.session.Client.Keep(ctx, c.name, func(conn *resp.Conn, up func()) error {
		<-linked
		err := c.prepare(conn, !first)
		if first {
			first = false
			ready <- err
		}
		if err != nil {
			return err
		}
		up()
		return c.serve(conn)
	})
	if err != nil {
		return fmt.Errorf("redis-streams: %w", err)
	}
	c.link = link
	close(linked)
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
	if err != nil {
		link.Close(ctx)
		return c.session.Wrap(err, "consume %q", c.keys)
	}
	return nil
}

// prepare asks for what will be asked for all the time, without waiting, and
// after a loss of the connection makes sure that there is a group to ask.
func (c *consumer) prepare(conn *resp.Conn, again bool) error {
	c.dues = 0
	for k := range c.due {
		c.due[k] = c.due[k][:0]
	}
	c.fetching = fetchAlone
	args := []any{"COUNT", 1, "STREAMS"}
	if c.group != "" {
		if again {
			if err := c.regroup(conn); err != nil {
				return err
			}
		}
		c.fetching = fetchNew
		if again && !c.noAck {
			c.fetching = fetchAgain
		}
		clear(c.last)
		args = append([]any{"GROUP", c.group, c.name}, args...)
	}
	for _, key := range c.keys {
		args = append(args, key)
	}
	for range c.keys {
		if c.group == "" {
			args = append(args, "$") // what comes after the last: nothing
		} else {
			args = append(args, "0") // what it has not acknowledged
		}
	}
	command := "XREAD"
	if c.group != "" {
		command = "XREADGROUP"
	}
	_, err := conn.Do(command, args...)
	return resp.Explain(err)
}

// regroup makes the consumer's group where it is missing.
func (c *consumer) regroup(conn *resp.Conn) error {
	return c.session.regroup(c.link.Context(), c.group, c.keys, func(args ...any) error {
		_, err := conn.Do("XGROUP", args...)
		return resp.Explain(err)
	}, func(key string) {
		c.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: group %q of stream %q was gone, with what the server knew of it; it begins anew with what the stream holds", c.name, c.group, key)})
	})
}

// regroup makes a group of the streams where it is missing, with the stream if
// that is, and calls made for each, unless the streams are to be gone.
func (s *session) regroup(ctx context.Context, group string, keys []string, xgroup func(args ...any) error, made func(key string)) error {
	if err := s.exclusive(ctx); err != nil {
		return err
	}
	defer s.share()
	if s.gone {
		return fmt.Errorf("%w: the streams have been removed", driver.ErrClosed)
	}
	for _, key := range keys {
		switch err := xgroup("CREATE", key, group, "0", "MKSTREAM"); {
		case err == nil:
			made(key)
		case !resp.IsReply(err, "BUSYGROUP"):
			return err
		}
	}
	return nil
}

// serve works until the connection is lost.
func (c *consumer) serve(conn *resp.Conn) error {
	c.conn, c.from = conn, c.fetcher(conn)
	defer c.from.close()
	for {
		c.acknowledge()
		n, err := c.from.fetch()
		switch {
		case err == nil:
		case errors.Is(err, driver.ErrNoTopic) && c.group != "":
			// Somebody has removed the stream, or Deprovision has. All that was
			// asked is answered, so redigo may read.
			if err := c.regroup(conn); errors.Is(err, driver.ErrClosed) {
				c.link.Stop()
				return err
			} else if err != nil {
				return err
			}
		default:
			return err
		}
		if c.fetching == fetchAgain && n == 0 {
			c.fetching = fetchNew
		}
	}
}

// pass delivers a message unless the consumer has been closed.
func (c *consumer) pass(m driver.Message) bool {
	c.gate.Lock()
	defer c.gate.Unlock()
	if !c.closed {
		c.deliver(m)
		return true
	}
	return false
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	c.session.forget(c)
	return c.end(ctx)
}

// end ends deliveries, acknowledges what is left over, and ends the connection.
func (c *consumer) end(ctx context.Context) error {
	c.once.Do(func() {
		go func() {
			defer close(c.ended)
			c.gate.Lock()
			c.closed = true
			c.gate.Unlock()
			if c.link.Close(ctx) == nil {
				c.leave(ctx)
			}
		}()
	})
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-c.ended:
		return nil
	default:
		return fmt.Errorf("redis-streams: close a consumer: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}

// leave acknowledges what has been delivered and is not yet acknowledged. The
// connection cannot be asked to: it waited for more.
func (c *consumer) leave(ctx context.Context) {
	s := c.session
	s.mu.Lock()
	keep := s.keeps
	s.mu.Unlock()
	if keep && c.alone && c.group != "" {
		// Who comes to the stream after it, on its own too, begins with the first entry.
		for _, key := range c.keys {
			if _, err := s.Control.Do(ctx, "XGROUP", "DESTROY", key, c.group); err != nil {
				s.Client.Notify(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: its group of stream %q stays: %v", c.name, key, err)})
			}
		}
		return
	}
	for k, ids := range c.due {
		if len(ids) == 0 {
			continue
		}
		args := []any{c.keys[k], c.group}
		for _, i := range ids {
			args = append(args, i.append(nil))
		}
		if _, err := c.session.Control.Do(ctx, "XACK", args...); err != nil {
			c.session.Client.Notify(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: %d messages stay unacknowledged: %v", c.name, len(ids), err)})
		}
	}
}
