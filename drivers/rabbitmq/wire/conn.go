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

// Config says how to connect.
type Config struct {
	rabbit.Config
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
	*rabbit.Socket

	config  Config
	server  Table
	chanMax int
	most    int // bytes of the largest frame that is taken

	channels atomic.Pointer[[]*Channel] // by number; for the goroutine that reads
	opening  sync.Mutex
}

// Open logs in over c, which it does not close if it fails.
func Open(c kit.Conn, config Config) (*Conn, error) {
	conn := newConn(c, config)
	if err := conn.login(); err != nil {
		return nil, err
	}
	conn.Start(conn.deal, conn.end)
	return conn, nil
}

func newConn(c kit.Conn, config Config) *Conn {
	conn := &Conn{config: config, most: frameMost}
	conn.channels.Store(new([]*Channel))
	var hook kit.WriterHook
	if config.Lost != nil && config.WriteBuffer > 1 {
		hook.Emptied = conn.emptied
	}
	conn.Socket = rabbit.NewSocket(c, config.WriteBuffer, conn.frameSize, conn.rest, hook)
	conn.Pulse = []byte{frameHeartbeat, 0, 0, 0, 0, 0, 0, frameEnd}
	conn.Bye = endFrame(append(appendShort(append(appendMethod(nil, 0, connectionClose), 0, 200), ""), 0, 0, 0, 0), 0)
	return conn
}

// Server returns the server's properties.
func (c *Conn) Server() Table { return c.server }

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
	if err := ch.call(ctx, channelOpenOK, channelOpen, []byte{0}); err != nil {
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

// emptied tells of messages that were collected and not written. Of the one that fills the
// buffer, the last, Publish tells.
func (c *Conn) emptied(collected []byte, written int) {
	if written == len(collected) {
		return
	}
	n := unwritten(collected, written)
	if len(collected) >= c.config.WriteBuffer {
		n--
	}
	c.config.Lost(n)
}

// rest is called before the goroutine that reads waits.
func (c *Conn) rest() error {
	if c.config.Rest != nil {
		defer c.config.Rest()
	}
	if c.config.FlushAtRest {
		return c.Out.Write(nil) // with what is collected
	}
	return c.Out.FlushReplies()
}

// frame is one as it lies in the buffer, valid until the next is asked for.
type frame struct {
	kind    byte
	channel uint16
	payload []byte
}

// frameSize is how kit.Frames wants it.
func (c *Conn) frameSize(unread []byte) (int, error) {
	if len(unread) < 7 {
		return frameOverhead, nil
	}
	size := binary.BigEndian.Uint32(unread[3:])
	if uint64(size)+frameOverhead > uint64(c.most) || unread[0] > frameHeartbeat {
		return 0, fmt.Errorf("%w: it sent %q", ErrProtocol, unread[:min(len(unread), 16)])
	}
	return int(size) + frameOverhead, nil
}

// next returns the next frame.
func (c *Conn) next() (frame, error) {
	b, err := c.In.Next()
	if err != nil {
		return frame{}, err
	}
	return parseFrame(b)
}

// parseFrame takes a frame apart.
func parseFrame(b []byte) (frame, error) {
	last := len(b) - 1
	if b[last] != frameEnd {
		return frame{}, fmt.Errorf("%w: a frame of type %d ends with %#x", ErrProtocol, b[0], b[last])
	}
	return frame{b[0], binary.BigEndian.Uint16(b[1:]), b[7:last:last]}, nil
}

// deal deals with a frame as it was read.
func (c *Conn) deal(b []byte) error {
	f, err := parseFrame(b)
	if err != nil {
		return err
	}
	return c.take(f)
}

// end tells all channels of the connection's end.
func (c *Conn) end(why error) {
	for _, ch := range *c.channels.Load() {
		if ch != nil {
			ch.end(why)
		}
	}
}

// take deals with a frame.
func (c *Conn) take(f frame) error {
	if f.kind == frameHeartbeat {
		return nil
	}
	in := newCursor(f.payload)
	if f.channel == 0 {
		if f.kind != frameMethod {
			return fmt.Errorf("%w: a message without a channel", ErrProtocol)
		}
		return c.own(method(in.Uint32()), in)
	}
	all := *c.channels.Load()
	if int(f.channel) >= len(all) || all[f.channel] == nil {
		return nil // it has been closed
	}
	ch := all[f.channel]
	switch f.kind {
	case frameMethod:
		m := method(in.Uint32())
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
		why := &Error{Code: in.Uint16()}
		why.Text = string(in.short())
		_ = c.Send(endFrame(appendMethod(nil, 0, connectionCloseOK), 0)) // it ends in any case
		return why
	case connectionCloseOK:
		return rabbit.ErrClosed
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
