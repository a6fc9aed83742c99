package natswire

import (
	"bytes"
	"context"
	"net"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// conn is a network connection of a link, to which nats.go and publishers write. nats.go
// writes holding a lock that its Close wants too: only closing the connection below ends
// a write that the server does not read.
type conn struct {
	net.Conn
	in  *frameReader // what nats.go reads; nil: all that comes
	out *kit.Writer  // keeps the frames of nats.go and of publishers apart
}

// Dial implements nats.CustomDialer.
func (l *Link) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(driver.WithRole(l.life, l.key.Role), l.client.options.ConnectTimeout)
	defer cancel()
	raw, err := l.client.Target.Dial(ctx, network, address)
	l.mu.Lock()
	l.dialled = err
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	c := l.over(raw)
	l.latest.Store(c)
	if l.life.Err() != nil { // kill may have found the one before
		raw.Close()
		return nil, driver.ErrClosed
	}
	return c, nil
}

// over returns a connection of the link over raw.
func (l *Link) over(raw net.Conn) *conn {
	c, size := &conn{Conn: raw}, 1
	hook := kit.WriterHook{Failed: func(error) { l.live.CompareAndSwap(c, nil) }}
	if l.direct {
		c.in = newFrameReader(raw, &l.routes, l.Rest)
		if size = l.client.writeBuffer; size > 1 && !l.client.options.Accounted {
			hook.Emptied = func(collected []byte, written int) { l.lose(collected, written, size) }
		}
	}
	c.out = kit.NewWriter(kit.Conn{Conn: raw, Raw: raw}, size, hook)
	return c
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if c.in == nil {
		return c.Conn.Read(p)
	}
	return c.in.Read(p)
}

// Write implements net.Conn. nats.go writes whole frames, which go out behind what
// publishers have collected. It makes a call without any when it closes, which must not
// wait for a publisher that is stuck.
func (c *conn) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := c.out.Write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close implements net.Conn. What is collected is lost.
func (c *conn) Close() error {
	c.out.End()
	return nil
}

// lose reports collected messages that were lost because the connection accepted only the
// first written bytes. A frame that fills the buffer alone is reported to its sender instead.
func (l *Link) lose(collected []byte, written, size int) {
	if written == len(collected) || len(collected) >= size {
		return
	}
	if n := unwritten(collected, written); n > 0 {
		l.Emit(driver.Event{Kind: driver.Dropped, Detail: "unwritten when the connection was lost", Count: n})
	}
}

// unwritten counts the frames of collected that do not end within its first bytes.
func unwritten(collected []byte, written int) (n int) {
	for at := 0; at < len(collected); {
		end := at + bytes.IndexByte(collected[at:], '\n')
		line := collected[at : end-1]
		size, _ := number(line[bytes.LastIndexByte(line, ' ')+1:])
		at = end + 1 + size + 2
		if at > written {
			n++
		}
	}
	return n
}
