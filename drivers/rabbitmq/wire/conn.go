package wire

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit/beat"
)

// Config says how to connect.
type Config struct {
	VHost          string
	User, Password string
	External       bool          // log in by certificate instead
	Name           string        // of the connection, for people
	FrameMax       int           // bytes; 0: the server's
	Heartbeat      time.Duration // 0: none; the smaller of this and the server's, in whole seconds
	// WriteBuffer is how many bytes are collected before they are written; up
	// to 1: each message is written at once.
	WriteBuffer int
	// FlushAtRest says that what is collected is also written when what has been
	// read is dealt with: for connections that only answer.
	FlushAtRest bool
	// Blocked is called when the server stops (or goes on) reading from
	// connections that publish, with its reason.
	Blocked func(reason string, on bool)
	// Rest is called when what has been read is dealt with and more is awaited.
	Rest func()
	// Lost is called with the number of published messages that were collected
	// and not written when the connection was lost.
	Lost func(messages int)
}

// Conn is a connection. Its methods are safe for concurrent use.
type Conn struct {
	net      net.Conn
	config   Config
	server   Table
	frameMax int
	chanMax  int
	beat     time.Duration
	in       *frameReader

	mu     sync.Mutex // of what is written
	out    []byte
	broken error // why nothing can be written
	acked  bool  // out holds acknowledgements that wait for rest
	hold   kit.BatchTimer

	channels atomic.Pointer[[]*Channel] // by number; for the goroutine that reads
	opening  sync.Mutex

	monitor beat.Monitor
	cause   atomic.Pointer[error]
	done    chan struct{}
	err     error // readable once done is closed
	stop    chan struct{}
}

// Open logs in over c, which it owns from then on, also if it fails.
func Open(ctx context.Context, c net.Conn, config Config) (*Conn, error) {
	conn := newConn(c, config)
	stop := context.AfterFunc(ctx, func() { c.Close() })
	err := conn.login()
	if !stop() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	conn.in.rest = conn.rest
	go conn.read()
	if conn.beat > 0 {
		go conn.watch()
	}
	return conn, nil
}

func newConn(c net.Conn, config Config) *Conn {
	conn := &Conn{net: c, config: config, in: newFrameReader(c), done: make(chan struct{}), stop: make(chan struct{})}
	conn.channels.Store(new([]*Channel))
	conn.hold = kit.NewBatchTimer(&conn.mu, conn.elapsed)
	return conn
}

// Server returns the server's properties.
func (c *Conn) Server() Table { return c.server }

// FrameMax returns the largest frame in bytes that was agreed on.
func (c *Conn) FrameMax() int { return c.frameMax }

// Heartbeat returns the interval that was agreed on; 0: none.
func (c *Conn) Heartbeat() time.Duration { return c.beat }

// Done returns a channel that is closed when the connection has ended and all
// handlers have heard of it.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection has ended, once Done is closed.
func (c *Conn) Err() error { return c.err }

// Channel opens a channel.
func (c *Conn) Channel(ctx context.Context, h Handler) (*Channel, error) {
	c.opening.Lock()
	ch := &Channel{conn: c, handler: h, reply: make(chan method, 1), ended: make(chan struct{})}
	all := append([]*Channel(nil), *c.channels.Load()...)
	for id := 1; ; id++ {
		if id >= len(all) {
			all = append(all, make([]*Channel, id+1-len(all))...)
		}
		if all[id] == nil {
			ch.id = uint16(id)
			all[id] = ch
			break
		}
	}
	if int(ch.id) > c.chanMax {
		c.opening.Unlock()
		return nil, &Error{Code: 530, Text: fmt.Sprintf("no more than %d channels on a connection", c.chanMax)}
	}
	c.channels.Store(&all)
	c.opening.Unlock()
	if err := ch.call(ctx, channelOpenOK, channelOpen, func(b []byte) []byte { return append(b, 0) }); err != nil {
		return nil, err
	}
	return ch, nil
}

// forget frees the channel's number.
func (c *Conn) forget(ch *Channel) {
	c.opening.Lock()
	defer c.opening.Unlock()
	all := append([]*Channel(nil), *c.channels.Load()...)
	if all[ch.id] == ch {
		all[ch.id] = nil
		c.channels.Store(&all)
	}
}

// Close ends the connection, in an orderly way if the server answers before ctx
// ends, and returns when all handlers have heard of it.
func (c *Conn) Close(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { c.fail(ErrClosed) })
	defer stop()
	go c.goodbye() // waits for a writer that is stuck
	<-c.done
}

// goodbye asks the server to close the connection. Nothing may follow that.
func (c *Conn) goodbye() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return
	}
	start := len(c.out)
	b := appendShort(append(appendMethod(c.out, 0, connectionClose), 0, 200), "")
	c.out = endFrame(append(b, 0, 0, 0, 0), start)
	if c.flush() == nil {
		c.broken = ErrClosed
	}
}

// Kill ends the connection at once.
func (c *Conn) Kill() { c.fail(ErrClosed) }

// Flush writes what has been collected.
func (c *Conn) Flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return c.broken
	}
	return c.flush()
}

// send writes what build appends; unless now, it may be collected.
func (c *Conn) send(now bool, build func(b []byte) []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return c.broken
	}
	c.out = build(c.out)
	return c.settle(now)
}

// settle writes what has been collected if it is due. mu is held.
func (c *Conn) settle(now bool) error {
	if now || len(c.out) >= c.config.WriteBuffer {
		return c.flush()
	}
	c.hold.Hold()
	return nil
}

// flush writes what has been collected. mu is held.
func (c *Conn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	n, err := c.net.Write(c.out)
	if err != nil {
		c.lose(n)
		c.broken = err
		c.fail(err)
		return err
	}
	c.out = c.out[:0]
	c.hold.Emptied()
	c.acked = false
	const keep = 1 << 20
	if cap(c.out) > keep { // one large message is no reason
		c.out = nil
	}
	return nil
}

// lose tells of messages that were collected and of which no more than written
// bytes went out. mu is held.
func (c *Conn) lose(written int) {
	if n := unwritten(c.out, written); n > 0 && c.config.Lost != nil && c.config.WriteBuffer > 1 {
		c.config.Lost(n)
	}
	c.out = nil
}

// elapsed writes what nobody has flushed. mu is held.
func (c *Conn) elapsed() {
	if c.broken == nil {
		_ = c.flush() // who publishes next hears of it
	}
}

// rest is called before the goroutine that reads waits.
func (c *Conn) rest() {
	c.monitor.Rest()
	c.mu.Lock()
	if (c.acked || c.config.FlushAtRest) && c.broken == nil {
		_ = c.flush() // reading ends, too
	}
	c.mu.Unlock()
	if c.config.Rest != nil {
		c.config.Rest()
	}
}

// fail ends the connection for the reason, unless it has one already.
func (c *Conn) fail(why error) {
	c.cause.CompareAndSwap(nil, &why)
	c.net.Close()
}

// read runs until the connection ends.
func (c *Conn) read() {
	err := c.frames()
	c.fail(err)
	c.err = *c.cause.Load()
	c.mu.Lock() // writers have given up, or do so now
	if c.broken == nil {
		c.broken = c.err
		c.lose(0)
	}
	c.hold.Stop()
	c.mu.Unlock()
	close(c.stop)
	for _, ch := range *c.channels.Load() {
		if ch != nil {
			ch.end(c.err)
		}
	}
	close(c.done)
}

// frames deals with what the server sends, until an error.
func (c *Conn) frames() error {
	beats := c.beat > 0
	for {
		f, err := c.in.next()
		if err != nil {
			return err
		}
		if beats {
			c.monitor.Came()
		}
		if err := c.take(f); err != nil {
			return err
		}
	}
}

// take deals with a frame.
func (c *Conn) take(f frame) error {
	if f.kind == frameHeartbeat {
		return nil
	}
	in := cursor{rest: f.payload}
	if f.channel == 0 {
		if f.kind != frameMethod {
			return fmt.Errorf("%w: a message without a channel", ErrProtocol)
		}
		return c.own(method(in.uint32()), in)
	}
	all := *c.channels.Load()
	if int(f.channel) >= len(all) || all[f.channel] == nil {
		return nil // it has been closed
	}
	ch := all[f.channel]
	switch f.kind {
	case frameMethod:
		m := method(in.uint32())
		return ch.method(m, in)
	case frameHeader:
		return ch.header(in)
	case frameBody:
		return ch.content(f.payload)
	}
	return fmt.Errorf("%w: a frame of type %d", ErrProtocol, f.kind)
}

// own deals with a method of the connection's own.
func (c *Conn) own(m method, in cursor) error {
	switch m {
	case connectionClose:
		why := &Error{Code: in.uint16()}
		why.Text = string(in.short())
		_ = c.send(true, func(b []byte) []byte { // it ends in any case
			start := len(b)
			return endFrame(appendMethod(b, 0, connectionCloseOK), start)
		})
		return why
	case connectionCloseOK:
		return ErrClosed
	case connectionBlocked:
		if c.config.Blocked != nil {
			c.config.Blocked(string(in.short()), true)
		}
	case connectionUnblocked:
		if c.config.Blocked != nil {
			c.config.Blocked("", false)
		}
	}
	return nil
}

// watch ends the connection when the server is silent.
func (c *Conn) watch() {
	if err := c.monitor.Watch(c.beat, c.stop, c.pulse); err != nil {
		c.fail(err)
	}
}

// pulse writes a heartbeat, unless somebody is writing, which is as good.
func (c *Conn) pulse() {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if c.broken == nil && len(c.out) == 0 {
		c.out = append(c.out, frameHeartbeat, 0, 0, 0, 0, 0, 0, frameEnd)
		_ = c.flush() // reading ends, too
	}
}
