package wire

import (
	"context"
	"encoding/binary"
	"errors"
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
}

// Conn is a connection. Its methods are safe for concurrent use.
type Conn struct {
	net      net.Conn
	config   Config
	server   map[string]string
	address  string // that the server advertises
	frameMax int
	beat     time.Duration
	in       *frameReader

	mu     sync.Mutex // of what is written
	out    []byte
	broken error        // why nothing can be written
	due    bool         // out holds what waits for rest
	open   *Publication // whose frame is being collected; nil: none is
	hold   kit.BatchTimer

	calls       sync.Mutex
	correlation uint32
	waiting     map[uint32]chan reply

	opening       sync.Mutex
	publications  [256]atomic.Pointer[Publication]
	subscriptions [256]atomic.Pointer[Subscription]

	monitor beat.Monitor
	cause   atomic.Pointer[error]
	dead    chan struct{} // closed when nothing more is read
	done    chan struct{}
	err     error // readable once dead is closed
}

// reply is a server's answer to a call.
type reply struct {
	code Code
	rest []byte
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
	conn := &Conn{net: c, config: config, in: newFrameReader(c), waiting: map[uint32]chan reply{}, dead: make(chan struct{}), done: make(chan struct{})}
	conn.hold = kit.NewBatchTimer(&conn.mu, conn.elapsed)
	return conn
}

// Server returns the server's properties.
func (c *Conn) Server() map[string]string { return c.server }

// Advertised returns the host and port that the server says others reach it by; the
// same as in a Placement.
func (c *Conn) Advertised() string { return c.address }

// FrameMax returns the largest frame in bytes that was agreed on.
func (c *Conn) FrameMax() int { return c.frameMax }

// Heartbeat returns the interval that was agreed on; 0: none.
func (c *Conn) Heartbeat() time.Duration { return c.beat }

// Done returns a channel that is closed when the connection has ended and all
// publishers and subscribers have heard of it.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection has ended, once Done is closed.
func (c *Conn) Err() error { return c.err }

// call sends a command and waits for its answer, which must be OK.
func (c *Conn) call(ctx context.Context, k key, fields func(b []byte) []byte) ([]byte, error) {
	answered := make(chan reply, 1)
	c.calls.Lock()
	c.correlation++
	id := c.correlation
	c.waiting[id] = answered
	c.calls.Unlock()
	defer func() {
		c.calls.Lock()
		delete(c.waiting, id)
		c.calls.Unlock()
	}()
	if err := c.send(true, k, func(b []byte) []byte {
		return fields(binary.BigEndian.AppendUint32(b, id))
	}); err != nil {
		return nil, err
	}
	select {
	case r := <-answered:
		if r.code != OK {
			return r.rest, &Error{Code: r.code}
		}
		return r.rest, nil
	case <-c.dead:
		return nil, c.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// send writes a command; unless now, when what has been read is dealt with.
func (c *Conn) send(now bool, k key, fields func(b []byte) []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return c.broken
	}
	if err := c.seal(); err != nil {
		return err
	}
	start := len(c.out)
	c.out = end(fields(begin(c.out, k)), start)
	if now {
		return c.flush()
	}
	c.due = true
	return nil
}

// Flush writes what has been collected.
func (c *Conn) Flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return c.broken
	}
	return c.flush()
}

// seal ends the frame that is being collected. mu is held.
func (c *Conn) seal() error {
	if c.open == nil {
		return nil
	}
	o := c.open
	c.open = nil
	return o.seal()
}

// flush writes what has been collected. mu is held.
func (c *Conn) flush() error {
	if err := c.seal(); err != nil {
		c.breakOff(err)
		return err
	}
	if len(c.out) == 0 {
		return nil
	}
	if _, err := c.net.Write(c.out); err != nil {
		c.breakOff(err)
		return err
	}
	c.out = c.out[:0]
	c.hold.Emptied()
	c.due = false
	const keep = 1 << 20
	if cap(c.out) > keep { // one large message is no reason
		c.out = nil
	}
	return nil
}

// breakOff ends the connection. mu is held.
func (c *Conn) breakOff(err error) {
	c.broken, c.out = err, nil
	c.fail(err)
}

// settle writes what has been collected if it is due. mu is held.
func (c *Conn) settle() error {
	if len(c.out) >= c.config.WriteBuffer {
		return c.flush()
	}
	c.hold.Hold()
	return nil
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
	defer c.mu.Unlock()
	if c.due && c.broken == nil {
		_ = c.flush() // reading ends, too
	}
}

// Close ends the connection, in an orderly way if the server answers before ctx
// ends, and returns when all publishers and subscribers have heard of it.
func (c *Conn) Close(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { c.fail(ErrClosed) })
	defer stop()
	go c.goodbye() // waits for a writer that is stuck
	<-c.done
}

// goodbye asks the server to close the connection. Nothing may follow that.
func (c *Conn) goodbye() {
	err := c.send(true, closing, func(b []byte) []byte {
		return appendString(append(b, 0, 0, 0, 0, 0, byte(OK)), "")
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.broken == nil {
		c.broken = ErrClosed
	}
}

// Kill ends the connection at once.
func (c *Conn) Kill() { c.fail(ErrClosed) }

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
		c.broken, c.out = c.err, nil
	}
	c.hold.Stop()
	c.mu.Unlock()
	close(c.dead)
	c.opening.Lock() // nobody is half registered
	defer c.opening.Unlock()
	for i := range c.publications {
		if o := c.publications[i].Swap(nil); o != nil {
			o.to.End(c.err)
		}
		if in := c.subscriptions[i].Swap(nil); in != nil {
			in.to.End(c.err)
		}
	}
	close(c.done)
}

// frames deals with what the server sends, until an error.
func (c *Conn) frames() error {
	for {
		k, in, err := c.in.next()
		if err != nil {
			return err
		}
		if c.beat > 0 {
			c.monitor.Came()
		}
		if err := c.take(k, in); err != nil {
			return err
		}
	}
}

// take deals with a frame.
func (c *Conn) take(k key, in cursor) error {
	switch k {
	case deliver:
		id := in.octet()
		if s := c.subscriptions[id].Load(); s != nil {
			return s.chunk(in.rest)
		}
	case publishConfirm:
		id := in.octet()
		n := in.count(8)
		if o := c.publications[id].Load(); o != nil && !in.bad {
			o.to.Confirm(IDs(in.rest[:8*n]))
		}
	case publishError:
		id := in.octet()
		o := c.publications[id].Load()
		for range in.count(10) {
			publishing, code := in.uint64(), Code(in.uint16())
			if o != nil {
				o.to.Refuse(publishing, code)
			}
		}
	case metadataUpdate:
		code, stream := Code(in.uint16()), in.string()
		c.gone(stream, &Error{Code: code, Text: stream})
	case closing:
		id := in.uint32()
		code := Code(in.uint16())
		why := &Error{Code: code, Text: in.string()}
		_ = c.send(true, closing|answer, func(b []byte) []byte { // it ends in any case
			return append(binary.BigEndian.AppendUint32(b, id), 0, byte(OK))
		})
		return why
	case closing | answer:
		return ErrClosed
	case credit | answer, heartbeat, tune:
	default:
		if k&answer != 0 {
			c.answered(in, k)
		}
	}
	if in.bad {
		return fmt.Errorf("%w: a frame of command %d is too short", ErrProtocol, k)
	}
	return nil
}

// answered hands an answer to who waits for it.
func (c *Conn) answered(in cursor, k key) {
	id := in.uint32()
	r := reply{code: OK}
	if k != metadata|answer { // which has codes of its own, one for each stream
		r.code = Code(in.uint16())
	}
	r.rest = append([]byte(nil), in.rest...) // the buffer moves on
	c.calls.Lock()
	defer c.calls.Unlock()
	if waiting, ok := c.waiting[id]; ok {
		select {
		case waiting <- r:
		default: // twice
		}
	}
}

// gone tells publishers and subscribers that their stream is not there any more.
func (c *Conn) gone(stream string, why error) {
	for i := range c.publications {
		if o := c.publications[i].Load(); o != nil && o.stream == stream && c.publications[i].CompareAndSwap(o, nil) {
			o.to.End(why)
		}
		if in := c.subscriptions[i].Load(); in != nil && in.stream == stream && c.subscriptions[i].CompareAndSwap(in, nil) {
			in.to.End(why)
		}
	}
}

// watch ends the connection when the server is silent.
func (c *Conn) watch() {
	if err := c.monitor.Watch(c.beat, c.done, c.pulse); err != nil {
		c.fail(err)
	}
}

// pulse writes a heartbeat, unless somebody is writing, which is as good.
func (c *Conn) pulse() {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if c.broken == nil && len(c.out) == 0 && c.open == nil {
		c.out = end(begin(c.out, heartbeat), 0)
		_ = c.flush() // reading ends, too
	}
}

var errLogin = errors.New("the server closed the connection while logging in")

// Refused reports whether err is a server's refusal to log in that it did not
// explain.
func Refused(err error) bool { return errors.Is(err, errLogin) }
