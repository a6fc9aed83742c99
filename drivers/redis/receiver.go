package redis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// receiver is a connection of consumers. It subscribes to every channel once,
// however many consumers there are for it, because a server sends a message once
// to each connection.
type receiver struct {
	*resp.Link
	session *session
	turn    chan struct{} // holds a token while nobody subscribes

	// routes leads from a channel, or a pattern, to its consumers. Maps in it are
	// not changed, but replaced.
	routes atomic.Pointer[map[string][]*gate]

	mu      sync.Mutex // guards what follows, changes of routes, and writes
	via     subscriber // nil: not connected
	conn    *resp.Conn // that of via
	waiting []func(error)
}

// gate lets no delivery to a consumer run once it is shut.
type gate struct {
	deliver driver.Deliver
	mu      sync.Mutex
	closed  bool
}

func (g *gate) pass(payload []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.deliver(driver.Message{Payload: payload})
	}
}

// shut waits for a running delivery. None follows it.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// receiverKey names an receiver: that of the consumers of a connection, or of one that
// takes its time.
type receiverKey struct {
	slow   bool
	number int // of the connection; of the consumer that is slow
}

// String returns the name of the connection.
func (k receiverKey) String() string {
	if k.slow {
		return fmt.Sprintf("slow-consumer-%d", k.number)
	}
	return fmt.Sprintf("consumer-%d", k.number)
}

func (s *session) receiver(ctx context.Context, key receiverKey) (*receiver, error) {
	in := &receiver{session: s, turn: make(chan struct{}, 1)}
	in.turn <- struct{}{}
	in.routes.Store(&map[string][]*gate{})
	up := make(chan struct{}, 1)
	linked := make(chan struct{})
	link, err := s.Client.Keep(ctx, key.String(), func(c *resp.Conn, ready func()) error {
		<-linked
		return in.serve(c, func() {
			ready()
			select {
			case up <- struct{}{}:
			default:
			}
		})
	})
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	in.Link = link
	close(linked)
	select {
	case <-up:
		return in, nil
	case <-ctx.Done():
		link.Close(ctx)
		return nil, fmt.Errorf("redis: connect: %w: %w", driver.ErrNotConnected, context.Cause(ctx))
	}
}

// The server's words for the two ways of subscribing, and what it sends then.
func (in *receiver) words() (subscribe, unsubscribe string) {
	switch o := in.session.options; {
	case o.Sharded:
		return "SSUBSCRIBE", "SUNSUBSCRIBE"
	case o.Subscribe == pattern:
		return "PSUBSCRIBE", "PUNSUBSCRIBE"
	}
	return "SUBSCRIBE", "UNSUBSCRIBE"
}

// subscriber returns the client of the connection.
func (in *receiver) subscriber(c *resp.Conn) subscriber {
	switch in.session.options.Client {
	case resp.GoRedis:
		return newGoRedisSubscriber(in, c)
	case resp.Redigo:
		return newRedigoSubscriber(in, c)
	}
	return newPushes(in, c)
}

// serve subscribes again to what there was, and then hands messages over until
// the connection is lost.
func (in *receiver) serve(c *resp.Conn, ready func()) error {
	via := in.subscriber(c)
	var failure error
	err := in.resubscribe(c, via, ready, &failure)
	for err == nil && failure == nil {
		err = via.next(in)
	}
	if failure != nil {
		err = failure
	}
	c.Close()
	in.mu.Lock()
	in.via, in.conn = nil, nil
	waiting := in.waiting
	in.waiting = nil
	in.mu.Unlock()
	via.close()
	lost := in.Classify(fmt.Errorf("%w: the connection was lost: %w", driver.ErrNotConnected, err))
	for _, answer := range waiting {
		answer(lost)
	}
	return err
}

// resubscribe asks for all channels, and calls ready when the server has
// confirmed the last. A refusal becomes the failure.
func (in *receiver) resubscribe(c *resp.Conn, via subscriber, ready func(), failure *error) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.via, in.conn = via, c
	routes := *in.routes.Load()
	open := len(routes)
	if open == 0 {
		ready()
		return nil
	}
	for name := range routes {
		in.waiting = append(in.waiting, func(err error) {
			if err != nil && *failure == nil {
				*failure = err
			}
			if open--; open == 0 && *failure == nil {
				ready()
			}
		})
		if err := via.subscribe(name); err != nil {
			return err
		}
	}
	return nil
}

// answered is called with the server's answer to the oldest subscription or its
// end.
func (in *receiver) answered(err error) error {
	in.mu.Lock()
	if len(in.waiting) == 0 {
		in.mu.Unlock()
		if err == nil {
			err = fmt.Errorf("%w: an answer that nobody asked for", resp.ErrProtocol)
		}
		return err
	}
	answer := in.waiting[0]
	in.waiting = in.waiting[1:]
	in.mu.Unlock()
	answer(err)
	return nil
}

// pass delivers a message to the consumers of the channel, or pattern, called name.
func (in *receiver) pass(name string, payload []byte) {
	for _, g := range (*in.routes.Load())[name] {
		g.pass(payload)
	}
}

// name returns what to subscribe to for a channel.
func (in *receiver) name(channel string) string {
	if in.session.options.Subscribe != pattern {
		return channel
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(channel)
}

// ask has the connection's client ask the server, unless there is none. The answer
// goes to answer; mu is held.
func (in *receiver) ask(answer func(error), ask func(subscriber) error) error {
	if in.via == nil {
		return in.Classify(driver.ErrNotConnected)
	}
	in.waiting = append(in.waiting, answer)
	if ask(in.via) != nil {
		in.conn.Close() // serve answers all who wait
	}
	return nil
}

// subscribe leads the channel's messages to g, and returns when the server has
// confirmed it.
func (in *receiver) subscribe(ctx context.Context, channel string, g *gate) error {
	// One at a time: who finds a channel subscribed to may rely on it.
	select {
	case <-in.turn:
		defer func() { in.turn <- struct{}{} }()
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
	name := in.name(channel)
	in.mu.Lock()
	first := len((*in.routes.Load())[name]) == 0
	in.route(name, func(gates []*gate) []*gate { return append(gates, g) }) // before the first message can come
	if !first {
		in.mu.Unlock()
		return nil
	}
	confirmed := make(chan error, 1)
	err := in.ask(func(err error) { confirmed <- err }, func(s subscriber) error { return s.subscribe(name) })
	in.mu.Unlock()
	if err == nil {
		select {
		case err = <-confirmed:
		case <-ctx.Done():
			err = fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
		}
	}
	if err != nil {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.route(name, func(gates []*gate) []*gate { return without(gates, g) })
	}
	return err
}

// unsubscribe ends what subscribe began. It does not wait for the server.
func (in *receiver) unsubscribe(channel string, g *gate) {
	name := in.name(channel)
	in.mu.Lock()
	defer in.mu.Unlock()
	if !slices.Contains((*in.routes.Load())[name], g) {
		return
	}
	in.route(name, func(gates []*gate) []*gate { return without(gates, g) })
	if len((*in.routes.Load())[name]) == 0 {
		// Without a connection there is no subscription.
		_ = in.ask(func(error) {}, func(s subscriber) error { return s.unsubscribe(name) })
	}
}

func without(gates []*gate, g *gate) []*gate {
	return slices.DeleteFunc(gates, func(other *gate) bool { return other == g })
}

// route changes the consumers of one name. mu is held.
func (in *receiver) route(name string, change func([]*gate) []*gate) {
	routes := map[string][]*gate{}
	for k, gates := range *in.routes.Load() {
		routes[k] = gates
	}
	if gates := change(slices.Clone(routes[name])); len(gates) > 0 {
		routes[name] = gates
	} else {
		delete(routes, name)
	}
	in.routes.Store(&routes)
}
