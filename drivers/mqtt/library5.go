package mqtt

import (
	"context"
	"errors"
	"fmt"
	"time"

	pahopackets "github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	pahosession "github.com/eclipse/paho.golang/paho/session"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// forever is longer than any run, for limits of the libraries that must not be met.
const forever = 1000 * time.Hour

// connection5 is a connection by paho.golang, the library for MQTT 5.
//
// Messages are sent by the library's asynchronous publish, which reports no outcome. The
// library passes each answer to its session, which users may replace; see session5.
type connection5 struct {
	byLibrary
	client  *paho.Client
	session *session5
	writes  *wholeWrites // nil: encrypted

	// Delivered and not acknowledged yet, and how many have been acknowledged; of the
	// goroutine that delivers.
	owed  []*paho.Publish
	acked int
}

// open5 logs in by the library.
func (l *link) open5(ctx context.Context, to kit.Conn) (connection, error) {
	c := &connection5{byLibrary: byLibrary{shared: shared{link: l, raw: to.Raw}, broken: make(chan struct{})}}
	c.flight.init(idMost, nil)
	c.session = newSession5(l, &c.flight)
	// The connection must be safe for several writers, as the library demands.
	conn := to.Conn
	if to.TLS == nil {
		c.writes = &wholeWrites{Conn: conn}
		conn = c.writes
	} else {
		conn = pahopackets.NewThreadSafeConn(conn)
	}
	config := paho.ClientConfig{
		ClientID: l.id,
		Conn:     conn,
		Session:  c.session,
		// Of a publish too, which waits for its place in flight as long as it takes.
		PacketTimeout:      forever,
		OnClientError:      c.fail,
		OnServerDisconnect: func(d *paho.Disconnect) { c.fail(disconnection(d.ReasonCode)) },
	}
	if l.consumer != nil {
		config.OnPublishReceived = []func(paho.PublishReceived) (bool, error){c.received}
		config.EnableManualAcknowledgment = c.session.manual
	}
	c.client = paho.NewClient(config)
	answer, err := c.client.Connect(ctx, connect5(l.login()))
	if err != nil {
		if answer != nil && reason(answer.ReasonCode).failed() {
			return nil, refusal(answer.ReasonCode, answer.Properties.ReasonString)
		}
		return nil, err
	}
	c.welcome = greeting5(answer)
	c.aliases.most = c.welcome.aliases
	return c, nil
}

// connect5 is the login as the library has it.
func connect5(hello login) *paho.Connect {
	c := &paho.Connect{
		ClientID: hello.id, CleanStart: hello.clean, KeepAlive: hello.keepAlive,
		Username: hello.user, UsernameFlag: hello.user != "",
		Password: []byte(hello.password), PasswordFlag: hello.password != "",
	}
	if hello.receiveMaximum > 0 {
		c.Properties = &paho.ConnectProperties{ReceiveMaximum: &hello.receiveMaximum, RequestProblemInfo: true}
		if hello.sessionExpiry > 0 {
			c.Properties.SessionExpiryInterval = &hello.sessionExpiry
		}
	}
	return c
}

// greeting5 is the broker's answer to a login.
func greeting5(answer *paho.Connack) greeting {
	g := unlimited()
	g.present = answer.SessionPresent
	p := answer.Properties
	if p.ReceiveMaximum != nil {
		g.receiveMaximum = max(1, int(*p.ReceiveMaximum))
	}
	if p.MaximumPacketSize != nil {
		g.maximumPacket = int(*p.MaximumPacketSize)
	}
	if p.MaximumQoS != nil {
		g.maximumQoS = int(*p.MaximumQoS)
	}
	if p.TopicAliasMaximum != nil {
		g.aliases = int(*p.TopicAliasMaximum)
	}
	if p.ServerKeepAlive != nil {
		g.keepAlive = int(*p.ServerKeepAlive)
	}
	if p.SessionExpiryInterval != nil {
		g.sessionExpiry = int(*p.SessionExpiryInterval)
	}
	g.retain, g.shared = p.RetainAvailable, p.SharedSubAvailable
	return g
}

// Serve implements kit.Wire.
func (c *connection5) Serve() error {
	<-c.client.Done() // everything that had come is delivered
	select {
	case <-c.broken: // told after that
		return c.why
	case <-c.link.Life().Done():
		return driver.ErrClosed
	}
}

// End implements kit.Wire.
func (c *connection5) End(err error) {
	c.raw.Close()
	_ = c.session.ConnectionLost(nil) // senders that wait for the in-flight limit give up
	c.gate.Lock()                     // after this no sender reads a payload
	c.disconnect()
	c.flight.end(err)
}

// Leave implements kit.Wire.
func (c *connection5) Leave(ctx context.Context) { c.leave(ctx, c.disconnect) }

// disconnect returns when nothing is being delivered.
func (c *connection5) disconnect() { _ = c.client.Disconnect(&paho.Disconnect{}) }

// message5 is what the messages of a producer have in common. The library keeps none
// of it, so that it is used again. It is a context to be found by the session.
type message5 struct {
	context.Context
	publish    paho.Publish
	properties paho.PublishProperties
	alias      uint16
	entry      entry
	id         uint16 // 0: the library has not given it one
}

// messageKey finds a message5 in a context.
type messageKey struct{}

// Value implements context.Context.
func (m *message5) Value(key any) any {
	if key == (messageKey{}) {
		return m
	}
	return m.Context.Value(key)
}

func newMessage5(p *producer) *message5 {
	m := &message5{Context: context.Background(), publish: paho.Publish{QoS: p.qos(), Retain: p.flags&flagRetain != 0}}
	for _, h := range p.headers {
		m.properties.User.Add(h.Name, h.Value)
	}
	return m
}

// send implements connection. The library has written the message when it returns.
func (c *connection5) send(p *producer, token uint64, payload []byte) error {
	if !c.gate.TryRLock() {
		return driver.ErrNotConnected
	}
	defer c.gate.RUnlock()
	m := p.message5
	if m == nil {
		m = newMessage5(p)
		p.message5 = m
	}
	m.publish.Topic, m.alias = p.name(&c.aliases)
	m.publish.Properties, m.properties.TopicAlias = nil, nil
	if m.alias != 0 {
		m.properties.TopicAlias = &m.alias
	}
	if m.alias != 0 || len(m.properties.User) > 0 {
		m.publish.Properties = &m.properties
	}
	m.publish.Payload, m.entry, m.id = payload, entry{p.acks, token}, 0
	_, err := c.client.PublishWithOptions(m, &m.publish, paho.PublishOptions{Method: paho.PublishMethod_AsyncSend})
	m.publish.Payload = nil
	switch {
	case m.publish.QoS == 0 && err == nil && c.writes != nil && c.writes.failed.Load():
		err = driver.ErrNotConnected
	case m.publish.QoS == 0 && err == nil:
		p.acks.Done(token, nil)
	case err != nil && m.id != 0:
		// Part of it may be out, and nothing can follow that.
		c.raw.Close()
		if _, ours := c.flight.take(m.id); !ours {
			return nil
		}
		err = fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	case err != nil:
		p.aliases = nil // the broker does not know a new one
		err = classified5(err)
	}
	return err
}

// classified5 gives an error of the library that no message was written with a class.
func classified5(err error) error {
	class := driver.ErrNotConnected
	switch {
	case errors.Is(err, paho.ErrInvalidArguments):
		class = driver.ErrUnsupported
	case errors.Is(err, pahosession.ErrPacketIdentifiersExhausted):
		class = driver.ErrThrottled
	}
	return fmt.Errorf("%w: %w", class, err)
}

// sync implements connection.
func (c *connection5) sync(ctx context.Context, all bool) error {
	ctx, cancel := c.session.within(ctx)
	defer cancel()
	// Whatever the answer is, it is one.
	answer, err := c.client.Unsubscribe(ctx, &paho.Unsubscribe{Topics: []string{c.link.session.nobody()}})
	if answer == nil && err != nil {
		return classified5(err)
	}
	if err := c.settled(ctx, all); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// subscribe implements connection. It asks for no retained messages.
func (c *connection5) subscribe(ctx context.Context, consumer *consumer) error {
	ctx, cancel := c.session.within(ctx)
	defer cancel()
	s := &paho.Subscribe{}
	for _, filter := range consumer.filters {
		s.Subscriptions = append(s.Subscriptions, paho.SubscribeOptions{Topic: filter, QoS: byte(consumer.qos), RetainHandling: 2})
	}
	answer, err := c.client.Subscribe(ctx, s)
	if answer != nil {
		return consumer.granted(answer.Reasons)
	}
	if err != nil {
		return classified5(err)
	}
	return nil
}

// unsubscribe implements connection. The session sees the answer, see received.
func (c *connection5) unsubscribe(consumer *consumer) bool {
	go func() {
		ctx, cancel := c.session.within(context.Background())
		defer cancel()
		_, _ = c.client.Unsubscribe(ctx, &paho.Unsubscribe{Topics: consumer.filters})
		<-c.session.lost
		consumer.leave() // nothing comes any more
	}()
	return true
}

// received is called by the library with each message, which it acknowledges
// afterwards, unless that is left to Client.Ack.
func (c *connection5) received(r paho.PublishReceived) (bool, error) {
	p, consumer := r.Packet, c.link.consumer
	switch {
	case p.Topic == "": // what session5 puts behind the last
		c.acknowledge()
		c.session.after(c.acked, consumer.leave)
	case !c.link.Closing():
		consumer.hand(published{retained: p.Retain, redelivered: p.Duplicate(), payload: p.Payload})
		if c.session.manual && p.QoS > 0 {
			c.owed = append(c.owed, p)
			if len(c.owed) >= consumer.due {
				c.acknowledge()
			}
		}
	}
	return true, nil
}

// acknowledge leaves what is owed to the library, whose timer sends it.
func (c *connection5) acknowledge() {
	for _, p := range c.owed {
		if c.client.Ack(p) == nil {
			c.acked++
		}
	}
	clear(c.owed)
	c.owed = c.owed[:0]
}
