package nats

import (
	"fmt"
	"strconv"

	"sixnines/driver"
)

// publisher sends messages over a link, by one goroutine at a time.
//
// Where it may, it writes the protocol's PUB frame itself, to the connection on
// which the client has logged in and which the client goes on to look after
// (answers to pings, reconnecting, subscriptions). The client's own Publish
// writes at once too, given a write buffer of one byte, but afterwards wakes
// its flusher, a goroutine on another thread that finds nothing to do: at
// 20,000 messages a second of 1 KiB on two cores that the broker shares, the
// median delivery took 110 to 121 µs with it and 95 µs without. At 3,000 a
// second the two are alike.
type publisher struct {
	link  *link
	frame []byte // reused
}

// publish sends payload to subject, and asks for answers at reply unless that is
// empty.
func (p *publisher) publish(subject, reply string, payload []byte) error {
	c, err := p.conn(payload)
	switch {
	case err != nil:
		return err
	case c != nil:
		p.frame = appendFrame(p.frame[:0], subject, reply, payload)
		return p.write(c)
	case reply != "":
		return p.link.nc.PublishRequest(subject, reply, payload)
	}
	return p.link.nc.Publish(subject, payload)
}

// answer sends payload to the subject that a request came with.
func (p *publisher) answer(to, payload []byte) error {
	c, err := p.conn(payload)
	switch {
	case err != nil:
		return err
	case c != nil:
		p.frame = appendFrame(p.frame[:0], to, "", payload)
		return p.write(c)
	}
	return p.link.nc.Publish(string(to), payload)
}

// conn returns the connection to write payload's frame to, nil if the client is
// to publish it.
func (p *publisher) conn(payload []byte) (*dialedConn, error) {
	c := p.link.live.Load()
	if c == nil {
		return nil, nil
	}
	if limit := p.link.maxPayload.Load(); int64(len(payload)) > limit {
		return nil, fmt.Errorf("%d bytes: %w: the server's max_payload is %d", len(payload), driver.ErrTooLarge, limit)
	}
	return c, nil
}

func (p *publisher) write(c *dialedConn) error {
	if _, err := c.Write(p.frame); err != nil {
		// Half a frame may be out: nothing can follow it. The client notices
		// the end of the connection and makes another.
		p.link.live.CompareAndSwap(c, nil)
		c.Close()
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return nil
}

// appendFrame appends what publishes payload.
func appendFrame[S string | []byte](f []byte, subject S, reply string, payload []byte) []byte {
	f = append(f, "PUB "...)
	f = append(f, subject...)
	f = append(f, ' ')
	if reply != "" {
		f = append(f, reply...)
		f = append(f, ' ')
	}
	f = strconv.AppendInt(f, int64(len(payload)), 10)
	f = append(f, "\r\n"...)
	f = append(f, payload...)
	return append(f, "\r\n"...)
}
