package mqtt

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// consumer implements driver.Consumer.
type consumer struct {
	session *session
	link    *link
	filters []string
	qos     int
	due     int  // acknowledgements that are written together, at least; 0: each at once
	slow    bool // deliver may take long
	deliver driver.Deliver

	leaving atomic.Bool
	leave   func()        // called when the broker has ended the subscriptions, see connection
	left    chan struct{} // closed by it

	// Identifiers of messages of quality of service 2 that were delivered and
	// whose release the broker has not announced yet. Of the reader.
	known []uint64
}

// subscription is the identifier of each SUBSCRIBE packet: a link sends but one.
const subscription = 1

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c := &consumer{session: s, qos: s.options.subscribeQoS(), due: 1, slow: spec.Slow, deliver: deliver, left: make(chan struct{})}
	c.leave = sync.OnceFunc(func() { close(c.left) })
	switch spec.Ack.Mode {
	case driver.AckNone:
		c.qos = 0
	case driver.AckEvery:
		c.due = spec.Ack.Every
	}
	switch {
	case spec.Ack.Mode > driver.AckNone && c.qos == 0:
		return nil, fmt.Errorf("mqtt: consumer acknowledgements: %w: quality of service 0 has none; add qos=1", driver.ErrUnsupported)
	case c.due > s.options.ReceiveMaximum:
		return nil, fmt.Errorf("mqtt: acknowledge every %d messages: %w: the broker sends no more than receive_maximum, %d, without one", c.due, driver.ErrUnsupported, s.options.ReceiveMaximum)
	case spec.Slow && c.due == 1:
		c.due = 0
	}
	if spec.Group != "" {
		if err := checkName("group", spec.Group); err != nil {
			return nil, err
		}
	}
	for _, topic := range spec.Topics {
		filter, err := s.topic(topic)
		if err != nil {
			return nil, err
		}
		if spec.Group != "" {
			filter = "$share/" + spec.Group + "/" + filter
		}
		c.filters = append(c.filters, filter)
	}
	c.link = s.newLink(kit.Key{Role: kit.Consumer, Conn: int(s.consumers.Add(1)) - 1}, c)
	if _, err := s.Keep(c); err != nil {
		return nil, err
	}
	if c.link.clean = s.options.CleanStart; !c.link.clean {
		s.mu.Lock()
		s.kept = append(s.kept, c)
		s.mu.Unlock()
	}
	if err := c.link.Start(ctx); err != nil {
		s.Forget(c)
		return nil, fmt.Errorf("mqtt: subscribe to %q: %w", c.filters, err)
	}
	return c, nil
}

// granted looks at the broker's answer.
func (c *consumer) granted(codes []byte) error {
	if len(codes) != len(c.filters) {
		return fmt.Errorf("%w: SUBACK with %d answers to %d filters", errMalformed, len(codes), len(c.filters))
	}
	for i, code := range codes {
		switch why := reason(code); {
		case why == 0x80 && !c.link.v5:
			return fmt.Errorf("%w: the broker refuses the subscription to %q, which it gives no reason for: permissions, or what it cannot do", driver.ErrForbidden, c.filters[i])
		case why.failed():
			return fmt.Errorf("%w: subscription to %q: %w", why.Unwrap(), c.filters[i], why)
		case int(code) != c.qos:
			return fmt.Errorf("%w: the broker grants quality of service %d instead of %d to %q", driver.ErrUnsupported, code, c.qos, c.filters[i])
		}
	}
	return nil
}

// publish delivers a message and acknowledges it.
func (c *consumer) publish(w *wire, first byte, body []byte) error {
	p, err := parsePublish(c.link.v5, first, body)
	if err != nil {
		return err
	}
	if c.link.Closing() {
		return driver.ErrClosed
	}
	if p.qos < 2 {
		c.hand(p)
		if p.qos == 0 {
			return nil
		}
		return w.reply(typePuback, p.id, c.due)
	}
	word, bit := p.id/64, uint64(1)<<(p.id%64)
	if c.known == nil {
		c.known = make([]uint64, (idMost+1)/64)
	}
	if c.known[word]&bit == 0 {
		c.known[word] |= bit
		c.hand(p)
	}
	return w.reply(typePubrec, p.id, c.due)
}

// hand delivers a message. A retained one is what the broker sends of a topic's
// past to a new subscriber, which MQTT 5 lets the driver refuse: a copy of what
// has been delivered to others, or was for those who were there.
func (c *consumer) hand(p published) {
	if !p.retained {
		c.deliver(driver.Message{Payload: p.payload, Redelivered: p.redelivered})
	}
}

// released ends a message of quality of service 2. It is the broker's turn that
// is over then, so that there is nothing to hold back.
func (c *consumer) released(w *wire, body []byte) error {
	id, _, err := parseAck(body)
	if err != nil {
		return err
	}
	if c.known != nil {
		c.known[id/64] &^= 1 << (id % 64)
	}
	if c.due == 1 {
		return w.reply(typePubcomp, id, 1)
	}
	w.ack = appendAck(w.ack[:0], typePubcomp, id)
	return w.write(w.ack)
}

// unsubscribeMost is how long the broker may take to end the subscriptions.
const unsubscribeMost = 2 * time.Second

// Close implements driver.Consumer. It waits for a running Deliver, at most until ctx
// ends. It ends the subscriptions and receives the messages that the broker sent before:
// no other consumer of the group would get them.
func (c *consumer) Close(ctx context.Context) error {
	if w := c.link.Live(); w != nil && c.leaving.CompareAndSwap(false, true) && w.unsubscribe(c) {
		patience := time.NewTimer(unsubscribeMost)
		defer patience.Stop()
		select {
		case <-c.left:
		case <-c.link.Done():
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	c.session.Forget(c)
	return c.Shut(ctx)
}

// Shut implements kit.Part: it ends the connection. No Deliver runs when it has returned
// without an error.
func (c *consumer) Shut(ctx context.Context) error { return c.link.Close(ctx) }
