package redisstreams

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/resp"
)

// consumer implements driver.Consumer: a connection on which one goroutine
// fetches, delivers and acknowledges, in this order, again and again.
type consumer struct {
	session    *session
	link       *kit.Link[wire, *wire]
	gate       *kit.Gate
	name       string // in its group
	connection string // the name of its connection
	group      string // empty: alone
	keys       []string
	numbers    map[string]int // of the keys
	prompt     bool           // acknowledgements are written at once

	id    int
	taken []atomic.Int64 // by key: messages delivered to one that is alone
	alone bool           // the group, if there is one, is the consumer's own
	noAck bool           // the group's consumers acknowledge nothing
	every int            // acknowledge after this many; 1: each by itself
	left  atomic.Bool    // leave was called
	// existing says that the group may have given it messages in an earlier session.
	existing bool

	// The link's goroutine's:
	begun bool // there was a connection
	conn  *resp.Conn
	// asking says that the connection's server has the keys already, although not yet their slot: it wants ASKING before
	// each command.
	asking     bool
	from       fetcher
	fetching   fetch
	last       []id   // by key: how far the consumer is, or how far with what it reads again
	newest     []id   // by key: the latest that was delivered, of one that is alone
	due        [][]id // by key: delivered and not acknowledged
	asked      []int  // by key: of these the first, whose acknowledgement is not answered
	dues       int    // how many the others are
	complained bool   // an acknowledgement was refused, and an event said so
}

// wire is a consumer on one network connection. It implements kit.Wire.
type wire struct {
	consumer *consumer
	conn     *resp.Conn
}

// Serve implements kit.Wire.
func (w *wire) Serve() error {
	c := w.consumer
	err := c.serve(w.conn)
	if _, _, moved := c.session.Redirected(w.conn, err); moved {
		c.settle()
	}
	return c.session.Lost(w.conn, c.session.Referred(w.conn.To.Address, err))
}

// End implements kit.Wire.
func (w *wire) End(error) { w.conn.Close() }

// Leave implements kit.Wire.
func (w *wire) Leave(context.Context) { w.conn.Close() }

// fetch says what a consumer reads next.
type fetch int

const (
	fetchAlone fetch = iota // what comes after the last
	fetchAgain              // what the group has given it and it has not acknowledged
	fetchNew                // messages that the group has given to no consumer
)

// Consumer implements driver.Session. Streams and groups begin with their first
// entry, so the subscription is effective before it is made.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	var keys []string
	for _, topic := range spec.Topics {
		key, err := s.key(topic)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	gate := kit.NewGate(deliver)
	var all parts
	for _, keys := range s.SameSlot(keys) {
		c, err := s.consumer(ctx, spec, keys, gate)
		if err != nil {
			all.Close(ctx)
			return nil, err
		}
		all = append(all, c)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// parts are a consumer of streams of several slots of a cluster, for which it has a connection each.
type parts []*consumer

// Close implements driver.Consumer.
func (all parts) Close(ctx context.Context) error {
	errs := make([]error, len(all))
	var closing sync.WaitGroup
	for i, c := range all {
		closing.Go(func() { errs[i] = c.Close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}

// consumer makes one of streams that one command may name.
func (s *session) consumer(ctx context.Context, spec driver.ConsumerSpec, keys []string, gate *kit.Gate) (*consumer, error) {
	c := &consumer{session: s, gate: gate, name: fmt.Sprintf("consumer-%d", spec.ID), group: spec.Group, keys: keys,
		numbers: map[string]int{}, prompt: spec.Slow || !s.Target.Batch, every: 1}
	for k, key := range keys {
		c.numbers[key] = k
	}
	if s.Target.Given {
		c.name = naming().Name(s.Target, s.Nonce, c.name) // others may be called consumer-0
	}
	c.last, c.newest, c.due = make([]id, len(c.keys)), make([]id, len(c.keys)), make([][]id, len(c.keys))
	c.asked = make([]int, len(c.keys))
	s.mu.Lock()
	c.existing = s.existing
	s.mu.Unlock()
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
		if c.group == "" && s.Target.Given {
			return nil, fmt.Errorf("redis-streams: a consumer that acknowledges, without a group: %w: only groups acknowledge, and none is made where the stream is not ours; name one that exists (--group)", driver.ErrUnsupported)
		}
		if c.group == "" {
			c.group = "alone-" + strconv.Itoa(spec.ID)
			if err := s.regroup(ctx, c.group, c.keys, func(args ...any) error {
				_, err := s.Do(ctx, c.keys[0], "XGROUP", args...)
				return err
			}, func(string) {}); err != nil {
				return nil, s.Wrap(err, "make a group for a consumer alone")
			}
		}
	}
	if s.Target.Given && c.group == "" {
		if err := c.skip(ctx); err != nil {
			return nil, err
		}
	}
	c.connection = c.name
	if s.Clustered() { // a consumer may have several
		c.connection += "/" + c.keys[0]
	}
	c.link = resp.NewLink[wire](s.Client, kit.Consumer, c.keys[0], c.connection, c.prepare)
	if _, err := s.Keep(c); err != nil {
		return nil, err
	}
	if err := c.link.Start(ctx); err != nil {
		s.Forget(c)
		return nil, s.Wrap(err, "consume %q", c.keys)
	}
	if c.alone {
		for _, key := range c.keys {
			s.alone.Store(reader{c.id, key}, c)
		}
	}
	return c, nil
}

// skip has the consumer begin behind what others have left in the streams.
func (c *consumer) skip(ctx context.Context) error {
	for k, key := range c.keys {
		reply, err := c.session.Do(ctx, key, "XINFO", "STREAM", key)
		if err != nil {
			return c.session.Wrap(err, "look for the end of stream %q", key)
		}
		text, _ := fieldsOf(reply)["last-generated-id"].([]byte)
		last, ok := parseID(text)
		if !ok {
			return fmt.Errorf("redis-streams: stream %q: %w: the server says that it ends at %.40q", key, driver.ErrUnsupported, text)
		}
		c.last[k], c.newest[k] = last, last
	}
	return nil
}

// prepare begins on a connection, or on one to the server that this one names: keys go there ahead of their slot.
func (c *consumer) prepare(conn *resp.Conn) (*wire, error) {
	c.asking = false
	err := c.begin(conn)
	to, asks, _ := c.session.Redirected(conn, err)
	switch {
	case err == nil:
		return &wire{c, conn}, nil
	case !asks:
		return nil, err
	}
	conn.Close()
	if conn, err = c.session.Ask(driver.WithRole(c.link.Life(), kit.Consumer), to, c.connection); err != nil {
		return nil, err
	}
	c.asking = true
	if err := c.begin(conn); err != nil {
		conn.Close()
		return nil, c.session.Referred(to, err)
	}
	return &wire{c, conn}, nil
}

// begin asks for what will be asked for all the time, without waiting, and
// after a loss of the connection makes sure that there is a group to ask.
func (c *consumer) begin(conn *resp.Conn) error {
	c.dues = 0
	for k := range c.due {
		c.due[k] = c.due[k][:0]
	}
	clear(c.asked)
	c.fetching = fetchAlone
	command, args := "XREAD", []any{"COUNT", 1, "STREAMS"}
	after := "$" // what comes after the last: nothing
	if c.group != "" {
		if c.begun && !c.session.Target.Given {
			if err := c.regroup(conn); err != nil {
				return err
			}
		}
		c.fetching = fetchNew
		if (c.begun || c.existing) && !c.noAck {
			c.fetching = fetchAgain
		}
		clear(c.last)
		command, args = "XREADGROUP", append([]any{"GROUP", c.group, c.name}, args...)
		after = "0" // what it has not acknowledged
	}
	for _, key := range c.keys {
		args = append(args, key)
	}
	for range c.keys {
		args = append(args, after)
	}
	if _, err := c.do(conn, command, args...); err != nil {
		return err
	}
	c.begun = true
	return nil
}

// do sends a command to the server of the consumer's connection, while nothing else is asked there.
func (c *consumer) do(conn *resp.Conn, command string, args ...any) (any, error) {
	if c.asking {
		if _, err := conn.Do("ASKING"); err != nil {
			return nil, resp.Explain(err)
		}
	}
	reply, err := conn.Do(command, args...)
	return reply, resp.Explain(err)
}

// regroup makes the consumer's group where it is missing. Where the streams are to be
// gone the consumer ends without a word.
func (c *consumer) regroup(conn *resp.Conn) error {
	err := c.session.regroup(c.link.Life(), c.group, c.keys, func(args ...any) error {
		if c.asking { // where the stream is not, it is at the server that has the slot
			args = slices.DeleteFunc(args, func(arg any) bool { return arg == makeStream })
		}
		_, err := c.do(conn, "XGROUP", args...)
		return err
	}, func(key string) {
		c.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("group %q of stream %q was gone, with what the server knew of it; it begins anew with what the stream holds", c.group, key)})
	})
	if errors.Is(err, driver.ErrClosed) {
		c.link.Quiet()
	}
	return err
}

// makeStream has XGROUP CREATE make a stream that is missing.
const makeStream = "MKSTREAM"

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
		switch err := xgroup("CREATE", key, group, "0", makeStream); {
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
	for {
		if c.asking && c.session.Serves(conn, c.keys[0]) {
			c.asking = false
		}
		c.acknowledge()
		n, err := c.from.fetch()
		switch {
		case err == nil:
		case errors.Is(err, driver.ErrNoTopic) && c.group != "" && !c.session.Target.Given:
			// Somebody has removed the stream, or Deprovision has. All that was
			// asked is answered, so redigo may read.
			if err := c.regroup(conn); err != nil {
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

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	c.session.Forget(c)
	for _, key := range c.keys {
		c.session.alone.CompareAndDelete(reader{c.id, key}, c)
	}
	return c.Shut(ctx)
}

// Shut implements kit.Part: it ends deliveries and the connection, and acknowledges what
// is left over.
func (c *consumer) Shut(ctx context.Context) error {
	delivering, closed := c.gate.Shut(ctx), c.link.Close(ctx)
	switch {
	case delivering != nil:
		return c.session.Wrap(delivering, "close %s", c.name)
	case closed == nil && c.left.CompareAndSwap(false, true):
		c.leave(ctx)
	}
	return closed
}

// leave acknowledges what has been delivered and is not known to be acknowledged. The
// connection cannot be asked to: it waited for more.
func (c *consumer) leave(ctx context.Context) {
	s := c.session
	s.mu.Lock()
	keep := s.keeps
	s.mu.Unlock()
	if keep && c.alone && c.group != "" {
		// Who comes to the stream after it, on its own too, begins with the first entry.
		for _, key := range c.keys {
			if _, err := s.Do(ctx, key, "XGROUP", "DESTROY", key, c.group); err != nil {
				s.Target.Notify(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: its group of stream %q stays: %v", c.name, key, err)})
			}
		}
		return
	}
	for k, ids := range c.due {
		if err := c.confirm(ctx, k, ids); err != nil {
			s.Target.Notify(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: %d messages stay unacknowledged: %v", c.name, len(ids), err)})
		}
	}
	if s.Target.Given && c.group != "" {
		c.resign(ctx)
	}
}

// resign takes the consumer's name out of a group of the operator's, where the server keeps it for good,
// unless the server holds messages for it: they would be lost to the group.
func (c *consumer) resign(ctx context.Context) {
	for _, key := range c.keys {
		held, err := c.session.Do(ctx, key, "XPENDING", key, c.group, "-", "+", 1, c.name)
		if waiting, _ := held.([]any); err == nil && len(waiting) > 0 {
			err = errors.New("messages that it was given and did not acknowledge wait for XAUTOCLAIM")
		} else if err == nil {
			_, err = c.session.Do(ctx, key, "XGROUP", "DELCONSUMER", key, c.group, c.name)
		}
		if err != nil {
			c.session.Target.Notify(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("consumer %s stays in group %q of stream %q: %v", c.name, c.group, key, err)})
		}
	}
}
