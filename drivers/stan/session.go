package stan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// session implements driver.Session and driver.DepthTeller.
type session struct {
	*kit.Base
	options Options
	wire    *natswire.Client
	links   *kit.Pool[kit.Key, *link]
	name    string // of its clients at the server, unique

	mu       sync.Mutex
	topology driver.Topology
}

func newSession(t driver.Target, o Options) (*session, error) {
	s := &session{Base: kit.NewPlainBase(failures(), t), options: o}
	var err error
	if s.TLS, err = t.TLS.Config(""); err != nil {
		return nil, fmt.Errorf("stan: %w", err)
	}
	if s.wire, err = natswire.NewClient(product, t, o.wire()); err != nil {
		return nil, err
	}
	// Two sessions of one run must not pass for the same client.
	s.name = clientName(t.Prefix) + "sixnines-" + t.Run + "-" + s.Nonce
	s.links = kit.NewPool(product, s.connect, func(ctx context.Context, l *link) { _ = l.Close(ctx) })
	return s, nil
}

// reach connects the session's own connection, beside those of producers and consumers,
// and registers once to see that somebody answers.
func (s *session) reach(ctx context.Context) error {
	if err := s.wire.Reach(ctx); err != nil {
		return err
	}
	soon := kit.Moment() // a limit, since perhaps no server will ever answer
	absent := func(err error) bool { return errors.Is(err, errNobody) && soon() }
	return kit.Await(ctx, "stan: register", absent, func() error { return s.visit(ctx, func(pass) error { return nil }) })
}

func (s *session) channel(topic string) string { return s.wire.Subject(topic) }

// clientName returns a name without what the server does not allow in those of clients.
func clientName(name string) string {
	return strings.NewReplacer(".", "-", ":", "-", "/", "-", "=", "-", "@", "-").Replace(name)
}

// clientID is the name of a link's client at the server, which allows letters,
// digits, hyphens and underscores.
func (s *session) clientID(key kit.Key) string { return s.name + "-" + key.String() }

// pass subscribes to a channel in a group and unsubscribes.
type pass func(topic, group string, options ...client.SubscriptionOption) error

// visit registers a client on the session's own connection, with which f can pass: that makes channels, and ends durable
// groups that have no other members. It looks at ctx's deadline only, since the library knows no contexts.
func (s *session) visit(ctx context.Context, f func(pass) error) error {
	nc, timeout := s.wire.Control().Conn(), s.options.ConnectTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	sc, err := s.register(nc, s.clientID(kit.Key{Role: kit.Control}), timeout, nil)
	if err != nil {
		return err
	}
	defer sc.Close() // an error leaves it to the server to notice
	return f(func(topic, group string, options ...client.SubscriptionOption) error {
		sub, err := sc.QueueSubscribe(s.channel(topic), group, func(*client.Msg) {}, append(options, client.SetManualAckMode())...)
		if err == nil {
			err = sub.Unsubscribe()
		}
		if err != nil {
			return wrap(permission(nc, err), "subscribe to %q in group %q and unsubscribe", s.channel(topic), group)
		}
		return nil
	})
}

// Provision implements driver.Session. It brings the channels into being by
// subscribing to them, so that what the server refuses is refused here.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if t.Keep && len(t.Groups) > 0 && t.Consumers > 0 && !s.options.Durable {
		return driver.Semantics{}, fmt.Errorf("stan: groups that go on with what is kept: %w: the server forgets the place of a group that loses its last member, and the next one would get all again; give option durable, or leave nothing (lifetime run)", driver.ErrUnsupported)
	}
	if s.Target.Given && s.options.HTTPURL == "" {
		return driver.Semantics{}, s.Option("http_url", "the server makes a channel that is missing, and only its monitoring tells whether it exists; give the option, or leave the channel out (--topic)")
	}
	err := s.check(ctx, t)
	if err == nil {
		err = kit.Await(ctx, "stan: provision", passes, func() error {
			return s.visit(ctx, func(p pass) error {
				for _, topic := range t.Topics {
					if err := p(topic, ""); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	var told server
	if err == nil {
		told, err = s.readServer(ctx)
	}
	if err != nil {
		return driver.Semantics{}, err
	}
	s.mu.Lock()
	s.topology = t
	s.mu.Unlock()
	return s.semantics(told), nil
}

// check refuses names and sizes that a message cannot have, and what is not there.
func (s *session) check(ctx context.Context, t driver.Topology) error {
	for _, topic := range t.Topics {
		err := natswire.CheckName(product, "topic", topic)
		if err == nil {
			err = s.carries(s.channel(topic), t.MaxSize)
		}
		if err == nil && (t.Existing || s.Target.Given) {
			err = s.find(ctx, s.channel(topic))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Deprovision implements driver.Session. It ends durable groups; channels stay
// until the server forgets them.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	t := s.topology
	s.topology = driver.Topology{}
	s.mu.Unlock()
	if !s.options.Durable || len(t.Groups) == 0 || t.Keep || s.Target.Given {
		return nil
	}
	end := func(p pass) (errs []error) {
		for _, topic := range t.Topics {
			for _, group := range t.Groups {
				err := p(topic, group, client.DurableName(durableOfGroups))
				errs = append(errs, driver.LeaveAll(err, "durable group", []string{s.channel(topic) + " " + group})...)
			}
		}
		return errs
	}
	var errs []error
	if err := s.visit(ctx, func(p pass) error { errs = end(p); return nil }); err != nil {
		errs = end(func(string, string, ...client.SubscriptionOption) error { return err })
	}
	return errors.Join(errs...)
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	return s.Base.Close(ctx, func(ctx context.Context) {
		s.links.Close(ctx) // which leave the server
		_ = s.wire.Close(ctx)
	})
}
