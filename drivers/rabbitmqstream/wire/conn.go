package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
)

// frameMost is the largest frame that is taken: what servers send is a chunk of
// whatever size it was written in, whatever was agreed on for what they get.
const frameMost = 256 << 20

// Conn is a connection. Its methods are safe for concurrent use.
type Conn struct {
	*rabbit.Socket

	config  rabbit.Config
	server  map[string]string
	address string       // that the server advertises
	open    *Publication // whose frame is being collected; nil: no frame. Out is locked.

	calls       sync.Mutex
	correlation uint32
	waiting     map[uint32]chan reply

	opening       sync.Mutex
	publications  [256]atomic.Pointer[Publication]
	subscriptions [256]atomic.Pointer[Subscription]
}

// reply is a server's answer to a call.
type reply struct {
	code Code
	rest []byte
}

// Open logs in over c, which it does not close if it fails.
func Open(c kit.Conn, config rabbit.Config) (*Conn, error) {
	conn := newConn(c, config)
	if err := conn.login(); err != nil {
		return nil, err
	}
	conn.Start(conn.deal, conn.end)
	return conn, nil
}

func newConn(c kit.Conn, config rabbit.Config) *Conn {
	conn := &Conn{config: config, waiting: map[uint32]chan reply{}}
	var hook kit.WriterHook
	if config.WriteBuffer > 1 { // else each frame is complete
		hook.Seal = conn.seal
	}
	conn.Socket = rabbit.NewSocket(c, config.WriteBuffer, frameSize, nil, hook)
	conn.Pulse = end(begin(nil, heartbeat), 0)
	conn.Bye = end(appendString(append(begin(nil, closing), 0, 0, 0, 0, 0, byte(OK)), ""), 0)
	return conn
}

// Server returns the server's properties.
func (c *Conn) Server() map[string]string { return c.server }

// Advertised returns the host and port that the server says others reach it by; the
// same as in a Placement.
func (c *Conn) Advertised() string { return c.address }

// call sends a command and waits for its answer, which must be OK.
func (c *Conn) call(ctx context.Context, k key, fields []byte) ([]byte, error) {
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
	if err := c.Send(end(append(binary.BigEndian.AppendUint32(begin(nil, k), id), fields...), 0)); err != nil {
		return nil, err
	}
	select {
	case r := <-answered:
		if r.code != OK {
			return r.rest, &Error{Code: r.code}
		}
		return r.rest, nil
	case <-c.Dead():
		return nil, c.Err()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// seal ends the frame that is being collected.
func (c *Conn) seal(b []byte) []byte {
	if o := c.open; o != nil {
		c.open = nil
		b = o.seal(b)
	}
	return b
}

// frameSize is how kit.Frames wants it.
func frameSize(unread []byte) (int, error) {
	if len(unread) < 8 {
		return 8, nil
	}
	size := binary.BigEndian.Uint32(unread)
	if size < 4 || size > frameMost {
		return 0, fmt.Errorf("%w: it sent %q", ErrProtocol, unread[:8])
	}
	return 4 + int(size), nil
}

// next returns the key and the rest of the next frame, valid until it is called
// again.
func (c *Conn) next() (key, cursor, error) {
	b, err := c.In.Next()
	if err != nil {
		return 0, cursor{}, err
	}
	k, in := parseFrame(b)
	return k, in, nil
}

// parseFrame takes a frame apart.
func parseFrame(b []byte) (key, cursor) { return key(binary.BigEndian.Uint16(b[4:])), newCursor(b[8:]) }

// deal deals with a frame as it was read.
func (c *Conn) deal(b []byte) error { return c.take(parseFrame(b)) }

// end notifies publishers and subscribers of the connection's end.
func (c *Conn) end(why error) {
	c.opening.Lock() // wait until no registration is under way
	defer c.opening.Unlock()
	for i := range c.publications {
		if o := c.publications[i].Swap(nil); o != nil {
			o.to.End(why)
		}
		if in := c.subscriptions[i].Swap(nil); in != nil {
			in.to.End(why)
		}
	}
}

// take deals with a frame.
func (c *Conn) take(k key, in cursor) error {
	switch k {
	case deliver:
		id := in.Octet()
		if s := c.subscriptions[id].Load(); s != nil {
			return s.chunk(in.Rest)
		}
	case publishConfirm:
		id := in.Octet()
		n := in.count(8)
		if o := c.publications[id].Load(); o != nil && !in.Bad {
			o.to.Confirm(IDs(in.Rest[:8*n]))
		}
	case publishError:
		id := in.Octet()
		o := c.publications[id].Load()
		for range in.count(10) {
			publishing, code := in.Uint64(), Code(in.Uint16())
			if o != nil {
				o.to.Refuse(publishing, code)
			}
		}
	case metadataUpdate:
		code, stream := Code(in.Uint16()), in.string()
		c.gone(stream, &Error{Code: code, Text: stream})
	case closing:
		id := in.Uint32()
		code := Code(in.Uint16())
		why := &Error{Code: code, Text: in.string()}
		b := binary.BigEndian.AppendUint32(begin(nil, closing|answer), id)
		_ = c.Send(end(append(b, 0, byte(OK)), 0)) // it ends in any case
		return why
	case closing | answer:
		return rabbit.ErrClosed
	case credit | answer, heartbeat, tune:
	default:
		if k&answer != 0 {
			c.answered(in, k)
		}
	}
	if in.Bad {
		return fmt.Errorf("%w: a frame of command %d is too short", ErrProtocol, k)
	}
	return nil
}

// answered hands an answer to who waits for it.
func (c *Conn) answered(in cursor, k key) {
	id := in.Uint32()
	r := reply{code: OK}
	if k != metadata|answer { // which has codes of its own, one for each stream
		r.code = Code(in.Uint16())
	}
	r.rest = append([]byte(nil), in.Rest...) // the buffer moves on
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
