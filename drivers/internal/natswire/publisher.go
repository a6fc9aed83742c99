package natswire

import (
	"fmt"
	"strconv"

	"sixnines/driver"
)

// Publisher sends messages over a link, by one goroutine at a time.
//
// Where it may, it makes the protocol's PUB frame itself and adds it to the
// link's batch or, where each message is to be written at once, writes it to the connection on
// which the client has logged in and which the client goes on to look after
// (answers to pings, reconnecting, subscriptions). The client's own Publish
// writes at once too, given a write buffer of one byte, but afterwards wakes
// its flusher, a goroutine on another thread that finds nothing to do: at
// 20,000 messages a second of 1 KiB on two cores that the broker shares, the
// median delivery took 110 to 121 µs with it and 95 µs without. At 3,000 a
// second the two are alike.
type Publisher struct {
	link           *Link
	subject, reply string
	head           []byte // what frames begin with
	frame          []byte // reused
}

// Address sets the subject to send to, and where answers go unless reply is
// empty.
func (p *Publisher) Address(subject, reply string) {
	p.subject, p.reply = subject, reply
	p.head = appendHead(p.head[:0], subject)
	if reply != "" {
		p.head = append(append(p.head, reply...), ' ')
	}
}

func (p *Publisher) Publish(payload []byte) error {
	c, err := p.conn(payload)
	switch {
	case err != nil:
		return err
	case c != nil:
		return p.send(c, payload)
	case p.reply != "":
		return p.link.nc.PublishRequest(p.subject, p.reply, payload)
	}
	return p.link.nc.Publish(p.subject, payload)
}

// Answer sends payload to the subject that a request came with.
func (p *Publisher) Answer(to, payload []byte) error {
	c, err := p.conn(payload)
	switch {
	case err != nil:
		return err
	case c != nil:
		p.head = appendHead(p.head[:0], to)
		return p.send(c, payload)
	}
	return p.link.nc.Publish(string(to), payload)
}

// conn returns the connection to write payload's frame to, nil if the client is
// to publish it.
func (p *Publisher) conn(payload []byte) (*dialedConn, error) {
	c := p.link.live.Load()
	if c == nil {
		return nil, nil
	}
	if limit := p.link.maxPayload.Load(); int64(len(payload)) > limit {
		return nil, fmt.Errorf("%d bytes: %w: the server's max_payload is %d", len(payload), driver.ErrTooLarge, limit)
	}
	return c, nil
}

func (p *Publisher) send(c *dialedConn, payload []byte) error {
	if b := p.link.batch; b != nil {
		return b.add(p.head, payload)
	}
	p.frame = appendFrame(p.frame[:0], p.head, payload)
	_, err := p.link.write(c, p.frame)
	return err
}

// appendHead appends what a frame for subject begins with.
func appendHead[S string | []byte](f []byte, subject S) []byte {
	return append(append(append(f, "PUB "...), subject...), ' ')
}

// appendFrame appends what publishes payload, after head.
func appendFrame(f, head, payload []byte) []byte {
	f = append(f, head...)
	f = strconv.AppendInt(f, int64(len(payload)), 10)
	f = append(f, "\r\n"...)
	f = append(f, payload...)
	return append(f, "\r\n"...)
}

// frameRoom returns how many bytes appendFrame may append.
func frameRoom(head, payload []byte) int { return len(head) + 20 + 2 + len(payload) + 2 }
