package stan

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/stan.go/pb"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// session implements driver.Session and driver.ServerInfo.
type session struct {
	target      driver.Target
	options     Options
	servers     []string
	tls         *tls.Config
	writeBuffer int
	notify      func(driver.Event)
	name        string          // of its clients at the server, unique
	life        context.Context // ends when the session closes
	cancel      context.CancelFunc
	links       *kit.Pool[linkKey, *link]
	control     *link

	mu        sync.Mutex
	consumers map[*consumer]struct{}
	topology  driver.Topology
	server    server // as read in Provision
}

func newSession(t driver.Target, o Options) (*session, error) {
	s := &session{target: t, options: o, writeBuffer: o.writeBuffer(t.Batch), notify: t.Notify,
		consumers: map[*consumer]struct{}{}}
	s.links = kit.NewPool("stan", s.connect, func(ctx context.Context, l *link) { l.close(ctx) })
	if s.notify == nil {
		s.notify = func(driver.Event) {}
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	var err error
	if s.servers, err = natswire.ParseServers("stan", t.URL, "nats", "tls"); err != nil {
		return nil, err
	}
	encrypted := slices.ContainsFunc(s.servers, func(server string) bool { return strings.HasPrefix(server, "tls://") })
	if t.TLS != nil || encrypted {
		// The client fills in the name of the server that it comes to.
		if s.tls, err = t.TLS.Config(""); err != nil {
			return nil, fmt.Errorf("stan: %w", err)
		}
	}
	if err := checkName("run", t.Run); err != nil {
		return nil, err
	}
	// Two sessions of one run must not pass for the same client.
	s.name = fmt.Sprintf("sixnines-%s-%s", t.Run, strings.ToLower(rand.Text()[:8]))
	s.life, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// checkName refuses names that are no plain part of a channel's.
func checkName(what, name string) error {
	if name == "" || strings.ContainsAny(name, "*>/\\ \t\r\n") || strings.HasPrefix(name, ".") ||
		strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return fmt.Errorf("stan: %s %q: %w: names are not empty and have no spaces, slashes, wildcards or empty parts between dots", what, name, driver.ErrUnsupported)
	}
	return nil
}

func (s *session) channel(topic string) (string, error) {
	if err := checkName("topic", topic); err != nil {
		return "", err
	}
	return "sixnines." + s.target.Run + "." + topic, nil
}

// clientID is the name of a link's client at the server, which allows letters,
// digits, hyphens and underscores.
func (s *session) clientID(key linkKey) string { return s.name + "-" + key.String() }

// keep lets the session's Close wait for c, unless it is over.
func (s *session) keep(c *consumer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return false
	}
	s.consumers[c] = struct{}{}
	return true
}

func (s *session) forget(c *consumer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.consumers, c)
}

// Provision implements driver.Session. It brings the channels into being by
// subscribing to them, so that what the server refuses is refused here.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	for _, group := range t.Groups {
		if err := checkName("group", group); err != nil {
			return driver.Semantics{}, err
		}
	}
	if t.Keep && len(t.Groups) > 0 && t.Consumers > 0 && !s.options.Durable {
		return driver.Semantics{}, fmt.Errorf("stan: groups that go on with what is kept: %w: the server forgets the place of a group that loses its last member, and the next one would get all again; give option durable, or leave nothing (lifetime run)", driver.ErrUnsupported)
	}
	var channels []string
	for _, topic := range t.Topics {
		channel, err := s.channel(topic)
		if err != nil {
			return driver.Semantics{}, err
		}
		channels = append(channels, channel)
	}
	if t.Existing {
		for _, channel := range channels {
			if err := s.find(ctx, channel); err != nil {
				return driver.Semantics{}, err
			}
		}
	}
	var st *streaming
	if err := kit.Await(ctx, "stan: provision", passes, func() (err error) {
		st, err = s.touchAll(ctx, channels, t.MaxSize)
		return err
	}); err != nil {
		return driver.Semantics{}, err
	}
	server, err := s.readServer(ctx)
	if err != nil {
		return driver.Semantics{}, err
	}
	s.mu.Lock()
	s.topology, s.server = t, server
	s.mu.Unlock()
	return s.semantics(st, server), nil
}

// touchAll makes the channels by a registration, which it returns.
func (s *session) touchAll(ctx context.Context, channels []string, size int) (*streaming, error) {
	st := s.control.live.Load()
	switch {
	case s.life.Err() != nil:
		return nil, fmt.Errorf("stan: provision: session %w", driver.ErrClosed)
	case st == nil:
		return nil, fmt.Errorf("stan: provision: %w", driver.ErrNotConnected)
	}
	for _, channel := range channels {
		if err := s.carries(st, channel, size); err != nil {
			return nil, err
		}
	}
	for _, channel := range channels {
		if err := s.touch(ctx, st, channel); err != nil {
			return nil, wrap(err, "make the channel %q", channel)
		}
	}
	return st, nil
}

// touch subscribes to a channel and unsubscribes.
func (s *session) touch(ctx context.Context, st *streaming, channel string) error {
	request := &pb.SubscriptionRequest{ClientID: st.id, Subject: channel, Inbox: st.acks + ".unused",
		MaxInFlight: 1, AckWaitInSecs: 1, StartPosition: pb.StartPosition_NewOnly}
	var response pb.SubscriptionResponse
	err := st.request(ctx, st.info.SubRequests, request, &response)
	if err == nil {
		err = refusal(response.Error)
	}
	if err != nil {
		return st.permission(err)
	}
	end := &pb.UnsubscribeRequest{ClientID: st.id, Subject: channel, Inbox: response.AckInbox}
	return st.request(ctx, st.info.UnsubRequests, end, &response)
}

// dissolve joins a durable group and unsubscribes, by which one that has no
// other members ends.
func (s *session) dissolve(ctx context.Context, st *streaming, channel, group string) error {
	c := &consumer{link: s.control, channels: []string{channel}, group: group, durable: durableOfGroups,
		every: 1, deliver: func(driver.Message) {}, last: []uint64{0}}
	if err := c.attach(ctx, st); err != nil {
		return err
	}
	return c.stop(func() {}).end(ctx, c, true)
}

// Deprovision implements driver.Session. It ends durable groups; channels stay
// until the server forgets them.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	t := s.topology
	s.topology = driver.Topology{}
	s.mu.Unlock()
	if !s.options.Durable || len(t.Groups) == 0 || t.Keep {
		return nil
	}
	st := s.control.live.Load()
	if st == nil {
		return fmt.Errorf("stan: deprovision: %w", driver.ErrNotConnected)
	}
	for _, topic := range t.Topics {
		channel, err := s.channel(topic)
		if err != nil {
			return err
		}
		for _, group := range t.Groups {
			if err := s.dissolve(ctx, st, channel, group); err != nil {
				return wrap(err, "remove the durable group %q of %q", group, channel)
			}
		}
	}
	return nil
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	// Ends what is being dialled; established connections live on until their
	// links are closed.
	s.cancel()
	s.mu.Lock()
	consumers := s.consumers
	s.consumers = map[*consumer]struct{}{}
	s.mu.Unlock()
	s.links.Close(ctx)
	for c := range consumers {
		c.Close(ctx) // by now there is nothing to wait for but a running Deliver
	}
	return nil
}
