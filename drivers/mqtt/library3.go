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
	"sixnines/drivers/internal/kit"
)

// connection3 is a connection by paho.mqtt.golang, the library for MQTT 3.1.1.
//
// Publish hands a message to a goroutine of the library, and returns a token by
// which its outcome can be awaited. One goroutine awaits them all, in their order.
type connection3 struct {
	byLibrary
	client paho3.Client // nil: not logged in
	store  *store3
	sent   queue3

	discards atomic.Bool // what the library writes is thrown away, see guarded
	ending   sync.Once
	ended    chan struct{} // closed when the library's goroutines have ended
	resolved chan struct{} // closed when all that was sent has an outcome, or never will

	manual  bool               // messages are acknowledged here, not by the library
	waiting chan paho3.Message // for a slow consumer; nil: the library's goroutine delivers
	idle    chan struct{}      // closed when nothing waits any more
	owed    []paho3.Message    // delivered and not acknowledged; of the goroutine that delivers
	handled atomic.Int64       // messages that want an acknowledgement
}

// open3 logs in by the library.
func (l *link) open3(to kit.Conn) (connection, error) {
	hello, options := l.login(), &l.session.options
	every := time.Duration(hello.keepAlive) * time.Second
	c := &connection3{byLibrary: byLibrary{shared: shared{link: l, raw: to.Raw, welcome: unlimited()}, broken: make(chan struct{})},
		store: &store3{MemoryStore: paho3.NewMemoryStore()}, ended: make(chan struct{}), resolved: make(chan struct{}), idle: make(chan struct{})}
	c.flight.init(options.inflight(&c.welcome), nil)
	c.sent.some.L = &c.sent.mu
	o := paho3.NewClientOptions().
		AddBroker("tcp://" + l.session.Servers[0].Address). // for its log: it does not dial
		SetCustomOpenConnectionFn(func(*url.URL, paho3.ClientOptions) (net.Conn, error) { return guarded{to.Conn, c}, nil }).
		SetProtocolVersion(4). // 3.1.1, and no other if that fails
		SetClientID(hello.id).
		SetUsername(hello.user).
		SetPassword(hello.password).
		SetCleanSession(hello.clean).
		SetConnectTimeout(options.ConnectTimeout).
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
			c.waiting = make(chan paho3.Message, options.ReceiveMaximum)
			handle = func(m paho3.Message) { c.waiting <- m }
			go c.work()
		}
		o.SetAutoAckDisabled(c.manual)
		o.SetDefaultPublishHandler(func(_ paho3.Client, m paho3.Message) { handle(m) })
	}
	go c.resolve()
	client := paho3.NewClient(o)
	token := client.Connect()
	<-token.Done() // the end of the context closes the connection
	err := token.Error()
	if err == nil {
		c.client = client
		return c, nil
	}
	select {
	case <-c.broken: // the library does not know why
		err = c.why
	default:
	}
	c.End(driver.ErrNotConnected)
	if code := token.(*paho3.ConnectToken).ReturnCode(); code > 0 && code < packets3.ErrNetworkError {
		return nil, refusal(code, "")
	}
	return nil, err
}

// Serve implements kit.Wire.
func (c *connection3) Serve() error {
	<-c.broken
	return c.why
}

// end ends the library's goroutines. Those who are in the library must have left it
// before: it would let them wait for half a minute. They do soon, for what they hand
// over is taken until then, and written or thrown away.
func (c *connection3) end() {
	c.ending.Do(func() {
		c.gate.Lock()
		if c.client != nil {
			c.client.Disconnect(uint(forever / time.Millisecond)) // returns when they have ended
		}
		close(c.ended)
		c.sent.end()
	})
}

// End implements kit.Wire.
func (c *connection3) End(err error) {
	c.fail(driver.ErrNotConnected)
	c.end()
	if c.waiting != nil {
		close(c.waiting)
		<-c.idle
	}
	<-c.resolved
	c.flight.end(err)
}

// Leave implements kit.Wire.
func (c *connection3) Leave(ctx context.Context) { c.leave(ctx, c.end) }

// send implements connection. The library reads the payload until the token is done.
func (c *connection3) send(p *producer, token uint64, payload []byte) error {
	number, err := c.flight.reserve(p.acks, token)
	if err != nil {
		return err
	}
	if !c.gate.TryRLock() {
		// End may have resolved it already.
		if _, ours := c.flight.release(number); !ours {
			return nil
		}
		return driver.ErrNotConnected
	}
	defer c.gate.RUnlock()
	t := c.client.Publish(p.topic, p.qos(), p.flags&flagRetain != 0, payload)
	if err := unsent(t); err != nil {
		c.flight.release(number)
		return err
	}
	c.sent.push(sent3{t, number})
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

// resolve resolves messages in the order in which they were sent. Those that have no
// outcome are left to End.
func (c *connection3) resolve() {
	defer close(c.resolved)
	for {
		messages := c.sent.next()
		if len(messages) == 0 {
			return
		}
		for _, m := range messages {
			select {
			case <-m.token.Done():
			case <-c.ended:
			}
			if c.arrived(m.token) {
				c.flight.settle(m.number, nil)
			}
		}
	}
}

// arrived reports whether the broker has a message whose token is done, or never will
// be. One without acknowledgement may have been thrown away, see guarded.
func (c *connection3) arrived(token paho3.Token) bool {
	select {
	case <-token.Done():
		return token.Error() == nil && (c.link.session.options.QoS > 0 || !c.discards.Load())
	default:
		return false
	}
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

// sync implements connection.
func (c *connection3) sync(ctx context.Context, all bool) error {
	if _, err := c.ask(ctx, func() paho3.Token { return c.client.Unsubscribe(c.link.session.nobody()) }); err != nil {
		return err
	}
	return c.settled(ctx, all)
}

// subscribe implements connection. Messages are the default handler's, which gets
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

// unsubscribe implements connection.
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
	for m := range c.waiting {
		c.deliver(m)
	}
}

// deliver delivers a message. The library acknowledges it afterwards, if it is to.
func (c *connection3) deliver(m paho3.Message) {
	consumer := c.link.consumer
	if c.link.Closing() {
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
