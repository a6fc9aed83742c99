package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/resp"
)

// receiver is a connection of consumers, which comes back by itself. It subscribes to
// every channel once, however many consumers there are for it, because a server sends a
// message once to each connection.
type receiver struct {
	session *session
	link    *kit.Link[wire, *wire]
	turn    chan struct{} // a lock: holds a token while no goroutine subscribes

	subscribing, unsubscribing string // the server's words

	// routes leads from a channel, or a pattern, to its consumers. Maps in it are
	// not changed, but replaced.
	routes atomic.Pointer[map[string][]*kit.Gate]

	mu      sync.Mutex // guards what follows, changes of routes, and writes
	wire    *wire      // nil: not connected
	waiting []func(error) error
}

// wire is a receiver on one network connection. It implements kit.Wire.
type wire struct {
	in   *receiver
	conn *resp.Conn
	via  subscriber
}

// receiver connects the receiver with the key.
func (s *session) receiver(ctx context.Context, key resp.LinkKey) (*receiver, error) {
	in := &receiver{session: s, turn: make(chan struct{}, 1)}
	in.turn <- struct{}{}
	in.subscribing, in.unsubscribing = s.options.words()
	in.routes.Store(&map[string][]*kit.Gate{})
	in.link = resp.NewLink[wire](s.Client, key.Role, key.To, key.String(), in.begin)
	if err := in.link.Start(ctx); err != nil {
		return nil, err
	}
	return in, nil
}

// subscriber returns the client of the connection.
func (in *receiver) subscriber(c *resp.Conn) subscriber {
	if in.session.options.Client == resp.Library {
		return newRedigoSubscriber(in, c)
	}
	return newPushes(in, c)
}

// begin subscribes on a new connection to what there was.
func (in *receiver) begin(c *resp.Conn) (*wire, error) {
	in.lose(driver.ErrNotConnected) // of one that never came to serve
	w := &wire{in, c, in.subscriber(c)}
	open, err := in.resubscribe(w)
	for err == nil && *open > 0 {
		err = w.via.next(in)
	}
	if err != nil {
		w.End(err)
		return nil, err
	}
	return w, nil
}

// resubscribe asks for all channels, and counts in open those that the server has not
// confirmed. A refusal becomes an error of next.
func (in *receiver) resubscribe(w *wire) (open *int, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.wire = w
	routes := *in.routes.Load()
	left := len(routes)
	for name := range routes {
		in.waiting = append(in.waiting, func(err error) error {
			left--
			return err
		})
		if err := w.via.ask(in.subscribing, name); err != nil {
			return nil, err
		}
	}
	return &left, nil
}

// Serve implements kit.Wire: it hands messages over until the connection is lost.
func (w *wire) Serve() (err error) {
	for err == nil {
		err = w.via.next(w.in)
	}
	return w.in.session.Lost(w.conn, err)
}

// End implements kit.Wire.
func (w *wire) End(err error) {
	w.conn.Close()
	if !errors.Is(err, driver.ErrClosed) {
		err = fmt.Errorf("%w: the connection was lost", driver.ErrNotConnected)
	}
	w.in.lose(err)
}

// Leave implements kit.Wire.
func (w *wire) Leave(context.Context) { w.conn.Close() }

// lose answers all who wait.
func (in *receiver) lose(err error) {
	in.mu.Lock()
	waiting := in.waiting
	in.wire, in.waiting = nil, nil
	in.mu.Unlock()
	for _, answer := range waiting {
		_ = answer(err)
	}
}

// answered is called with the server's answer to the oldest subscription or its
// end. Its error ends the connection.
func (in *receiver) answered(err error) error {
	in.mu.Lock()
	if len(in.waiting) == 0 {
		in.mu.Unlock()
		if err == nil {
			err = fmt.Errorf("%w: an answer without a request", resp.ErrProtocol)
		}
		return err
	}
	answer := in.waiting[0]
	in.waiting = in.waiting[1:]
	in.mu.Unlock()
	return answer(err)
}

// name returns what to subscribe to for a channel.
func (in *receiver) name(channel string) string {
	if in.session.options.Subscribe != pattern {
		return channel
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(channel)
}

// ask sends the server a command for one channel or pattern, unless there is no
// connection. The answer goes to answer; mu is held.
func (in *receiver) ask(command, name string, answer func(error)) error {
	if in.wire == nil {
		return in.link.Absent()
	}
	in.waiting = append(in.waiting, func(err error) error {
		answer(err)
		return nil
	})
	if in.wire.via.ask(command, name) != nil {
		in.wire.conn.Close() // End answers all who wait
	}
	return nil
}

// subscribe leads the channel's messages to g, and returns when the server has
// confirmed it.
func (in *receiver) subscribe(ctx context.Context, channel string, g *kit.Gate) error {
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
	in.route(name, func(gates []*kit.Gate) []*kit.Gate { return append(gates, g) }) // before the first message can come
	if !first {
		in.mu.Unlock()
		return nil
	}
	confirmed := make(chan error, 1)
	err := in.ask(in.subscribing, name, func(err error) { confirmed <- err })
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
		in.route(name, func(gates []*kit.Gate) []*kit.Gate { return without(gates, g) })
	}
	return err
}

// unsubscribe ends what subscribe began. It does not wait for the server.
func (in *receiver) unsubscribe(channel string, g *kit.Gate) {
	name := in.name(channel)
	in.mu.Lock()
	defer in.mu.Unlock()
	if !slices.Contains((*in.routes.Load())[name], g) {
		return
	}
	in.route(name, func(gates []*kit.Gate) []*kit.Gate { return without(gates, g) })
	if len((*in.routes.Load())[name]) == 0 {
		// Without a connection there is no subscription.
		_ = in.ask(in.unsubscribing, name, func(error) {})
	}
}

func without(gates []*kit.Gate, g *kit.Gate) []*kit.Gate {
	return slices.DeleteFunc(gates, func(other *kit.Gate) bool { return other == g })
}

// route changes the consumers of one name. mu is held.
func (in *receiver) route(name string, change func([]*kit.Gate) []*kit.Gate) {
	routes := maps.Clone(*in.routes.Load())
	if gates := change(slices.Clone(routes[name])); len(gates) > 0 {
		routes[name] = gates
	} else {
		delete(routes, name)
	}
	in.routes.Store(&routes)
}
