package mqtt

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	paho3 "github.com/eclipse/paho.mqtt.golang"
	packets3 "github.com/eclipse/paho.mqtt.golang/packets"

	"sixnines/driver"
)

// connection3 is a connection by paho.mqtt.golang, the library for MQTT 3.1.1. A
// client of the library lives as long as its connection, and so does its memory of
// messages: what the library would send again on the next one is forgotten.
//
// Publish hands a message to a goroutine of the library, and returns a token by
// which its outcome can be awaited. One goroutine awaits them all, in their order.
type connection3 struct {
	link    *link
	raw     net.Conn
	client  paho3.Client // nil: not logged in
	store   *store3
	welcome greeting
	sent    queue3
	gate    sync.RWMutex // held by whoever is in the library; locked for good before its goroutines end

	breaking sync.Once
	broken   chan struct{} // closed when the network connection has broken
	why      error         // set before
	discards atomic.Bool   // what the library writes is thrown away, see guarded
	ending   sync.Once
	ended    chan struct{} // closed when the library's goroutines have ended
	resolved chan struct{} // closed when all that was sent has an outcome

	manual  bool               // messages are acknowledged here, not by the library
	waiting chan paho3.Message // for a slow consumer; nil: the library's goroutine delivers
	idle    chan struct{}      // closed when nothing waits any more
	owed    []paho3.Message    // delivered and not acknowledged; of the goroutine that delivers
	handled atomic.Int64       // messages that want an acknowledgement
}

// open3 logs in by the library.
func (l *link) open3(ctx context.Context, raw, conn net.Conn, s server) (connection, error) {
	hello := l.login()
	every := time.Duration(hello.keepAlive) * time.Second
	c := &connection3{link: l, raw: raw, store: &store3{MemoryStore: paho3.NewMemoryStore()}, welcome: unlimited(),
		broken: make(chan struct{}), ended: make(chan struct{}), resolved: make(chan struct{}), idle: make(chan struct{})}
	c.sent.init(l.session.options.inflight(&c.welcome))
	o := paho3.NewClientOptions().
		AddBroker("tcp://" + s.address).
		SetCustomOpenConnectionFn(func(*url.URL, paho3.ClientOptions) (net.Conn, error) { return guarded{conn, c}, nil }).
		SetProtocolVersion(4). // 3.1.1, and no other if that fails
		SetClientID(hello.id).
		SetUsername(hello.user).
		SetPassword(hello.password).
		SetCleanSession(hello.clean).
		SetConnectTimeout(l.session.options.ConnectTimeout).
		SetKeepAlive(every).
		SetPingTimeout(every).
		SetAutoReconnect(false).
		SetStore(c.store).
		SetConnectionLostHandler(func(_ paho3.Client, err error) { c.fail(err) })
	if consumer := l.consumer; consumer != nil {
		c.manual = consumer.due > 1 || consumer.slow
		handle := c.deliver
		if consumer.slow {
			// A handler that takes long keeps the library from reading, and so from
			// learning that the broker is alive.
			c.waiting = make(chan paho3.Message, l.session.options.ReceiveMaximum)
			handle = func(m paho3.Message) { c.waiting <- m }
		}
		o.SetAutoAckDisabled(c.manual)
		o.SetDefaultPublishHandler(func(_ paho3.Client, m paho3.Message) { handle(m) })
	}
	go c.work()
	go c.resolve()
	client := paho3.NewClient(o)
	token := client.Connect()
	<-token.Done() // the end of ctx closes the connection
	err := token.Error()
	if err == nil {
		c.client = client
		return c, nil
	}
	select {
	case <-c.broken: // of which the library knows nothing
		err = c.why
	default:
	}
	c.shut(driver.ErrNotConnected)
	if code := token.(*paho3.ConnectToken).ReturnCode(); code > 0 && code < packets3.ErrNetworkError {
		return nil, refusal(code, "")
	}
	return nil, l.unanswered(ctx, err)
}

// limits implements connection.
func (c *connection3) limits() *greeting { return &c.welcome }

// fail notes why the connection has broken, and closes it.
func (c *connection3) fail(err error) {
	c.breaking.Do(func() {
		c.why = err
		close(c.broken)
		c.raw.Close()
	})
}

// run implements connection.
func (c *connection3) run() error {
	<-c.broken
	return c.why
}

// end ends the library's goroutines. Those who are in the library must have left it
// before: it would let them wait for half a minute. They do soon, for what they hand
// over is taken until then, and written or thrown away.
func (c *connection3) end() {
	c.ending.Do(func() {
		c.sent.close()
		c.gate.Lock()
		if c.client != nil {
			c.client.Disconnect(uint(forever / time.Millisecond)) // returns when they have ended
		}
		close(c.ended)
		c.sent.end()
	})
}

// shut implements connection. What is in flight learns from the link what becomes
// of it.
func (c *connection3) shut(error) {
	c.fail(driver.ErrNotConnected)
	c.end()
	if c.waiting != nil {
		close(c.waiting)
	}
	<-c.idle
	<-c.resolved
}

// leave implements connection.
func (c *connection3) leave() {
	left := make(chan struct{})
	go func() {
		defer close(left)
		c.end()
	}()
	patience := time.NewTimer(closeTimeout)
	defer patience.Stop()
	select {
	case <-left:
	case <-patience.C:
	}
	c.fail(driver.ErrClosed)
}

// send implements publisher. The library reads the payload until the token is done.
func (c *connection3) send(p *producer, token uint64, payload []byte) error {
	if !c.sent.reserve() {
		return driver.ErrNotConnected
	}
	if !c.gate.TryRLock() {
		c.sent.free()
		return driver.ErrNotConnected
	}
	defer c.gate.RUnlock()
	t := c.client.Publish(p.topic, p.qos(), p.flags&flagRetain != 0, payload)
	if err := unsent(t); err != nil {
		c.sent.free()
		return err
	}
	c.sent.push(sent3{token: t, entry: entry{p.acks, token}, confirmed: p.qos() > 0})
	return nil
}

// unsent returns an error if the token says that the library has not taken the
// message. Its other errors are of what it has taken.
func unsent(t paho3.Token) error {
	select {
	case <-t.Done():
	default:
		return nil
	}
	switch err := t.Error(); {
	case err == nil:
		return nil
	case err == paho3.ErrNotConnected:
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	case err.Error() == "publish was broken by timeout", err.Error() == "no message IDs available":
		return fmt.Errorf("%w: %w", driver.ErrThrottled, err)
	}
	return nil
}

// resolve resolves messages in the order in which they were sent.
func (c *connection3) resolve() {
	defer close(c.resolved)
	for {
		messages := c.sent.next()
		if len(messages) == 0 {
			return
		}
		for i := range messages {
			m := &messages[i]
			select {
			case <-m.token.Done():
			case <-c.ended:
			}
			err := c.outcome(m)
			c.sent.free()
			m.acks.Done(m.entry.token, err)
		}
	}
}

// outcome returns what has become of a message: its token is done, or never will be.
// A message without acknowledgement may have been thrown away, see guarded.
func (c *connection3) outcome(m *sent3) error {
	select {
	case <-m.token.Done():
		if m.token.Error() == nil && (m.confirmed || !c.discards.Load()) {
			return nil
		}
	default:
	}
	return c.link.lost()
}

// ask calls the library and waits for the broker's answer.
func (c *connection3) ask(ctx context.Context, call func() paho3.Token) (paho3.Token, error) {
	if !c.gate.TryRLock() {
		return nil, driver.ErrNotConnected
	}
	token := call()
	c.gate.RUnlock()
	select {
	case <-token.Done():
	case <-c.broken:
		return nil, driver.ErrNotConnected
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := token.Error(); err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return token, nil
}

// sync implements publisher.
func (c *connection3) sync(ctx context.Context, all bool) error {
	if _, err := c.ask(ctx, func() paho3.Token { return c.client.Unsubscribe(c.link.session.nobody()) }); err != nil {
		return err
	}
	if all {
		if empty := c.sent.empty(); empty != nil {
			select {
			case <-empty:
			case <-c.broken:
				return driver.ErrNotConnected
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// subscribe implements subscriber. Messages are the default handler's, which gets
// those too that come after the subscription has ended for the library.
func (c *connection3) subscribe(ctx context.Context, consumer *consumer) error {
	filters := map[string]byte{}
	for _, filter := range consumer.filters {
		filters[filter] = byte(consumer.qos)
	}
	token, err := c.ask(ctx, func() paho3.Token { return c.client.SubscribeMultiple(filters, nil) })
	if err != nil {
		return err
	}
	granted := token.(*paho3.SubscribeToken).Result()
	codes := make([]byte, len(consumer.filters))
	for i, filter := range consumer.filters {
		codes[i] = granted[filter]
	}
	return consumer.granted(codes)
}

// unsubscribe implements subscriber.
func (c *connection3) unsubscribe(consumer *consumer) bool {
	go func() {
		defer consumer.leave()
		end := func() error {
			_, err := c.ask(context.Background(), func() paho3.Token { return c.client.Unsubscribe(consumer.filters...) })
			return err
		}
		if end() != nil {
			return
		}
		// What came before the answer may still be on its way to the handler.
		look := time.NewTicker(time.Millisecond)
		defer look.Stop()
		for c.handled.Load() < c.store.arrived.Load() || len(c.waiting) > 0 {
			select {
			case <-look.C:
			case <-c.broken:
				return
			}
		}
		c.acknowledge()
		end() // whose answer comes after the broker has read the acknowledgements
	}()
	return true
}

// work delivers what waits for a slow consumer.
func (c *connection3) work() {
	defer close(c.idle)
	if c.waiting == nil {
		return
	}
	for m := range c.waiting {
		c.deliver(m)
	}
}

// deliver delivers a message. The library acknowledges it afterwards, if it is to.
func (c *connection3) deliver(m paho3.Message) {
	consumer := c.link.consumer
	if c.link.closing.Load() {
		return
	}
	consumer.hand(published{retained: m.Retained(), redelivered: m.Duplicate(), payload: m.Payload()})
	if m.Qos() == 0 {
		return
	}
	if c.manual {
		c.owed = append(c.owed, m)
		if len(c.owed) >= consumer.due {
			c.acknowledge()
		}
	}
	c.handled.Add(1)
}

// acknowledge has what is owed acknowledged.
func (c *connection3) acknowledge() {
	for _, m := range c.owed {
		m.Ack()
	}
	clear(c.owed)
	c.owed = c.owed[:0]
}
