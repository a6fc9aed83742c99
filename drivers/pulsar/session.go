package pulsar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// session implements driver.Session and driver.DepthTeller.
type session struct {
	*kit.Base
	options Options
	web     string // address of Pulsar's web service, without a slash at the end
	links   *kit.Pool[kit.Key, *link]
	version string       // of the broker
	limit   atomic.Int64 // the largest message in bytes that the broker takes; 0: unknown

	token func(context.Context) (string, error) // for a login; nil: none is wanted. Fixed

	mu       sync.Mutex
	topology driver.Topology
	made     []string // topics that Deprovision removes
}

func newSession(t driver.Target, o Options) (*session, error) {
	b, err := kit.NewBase(failures(), t, "", o.Token, schemes()...)
	if err != nil {
		return nil, err
	}
	s := &session{Base: b, options: o}
	if o.Token != "" {
		s.token = func(context.Context) (string, error) { return o.Token, nil }
	} else if o.Given() {
		s.token = o.Bearer(o.ClientID, o.ClientSecret, o.ConnectTimeout).Token
	}
	if err := s.checkName("run", t.Run); err != nil {
		return nil, err
	}
	if s.web, err = o.web(&b.Address, b.TLS != nil); err != nil {
		return nil, err
	}
	s.links = kit.NewPool("pulsar", s.connect, func(ctx context.Context, l *link) { l.close(ctx) })
	return s, nil
}

// checkName refuses names that are not plain, or would be taken for a partition's.
func (s *session) checkName(what, name string) error {
	if strings.Contains(name, "-partition-") {
		return fmt.Errorf("pulsar: %s %q: %w: names do not have %q in them", what, name, driver.ErrUnsupported, "-partition-")
	}
	return s.CheckName(what, name)
}

// domain is what the names of topics begin with.
func (s *session) domain() string {
	if s.options.Persistent {
		return "persistent"
	}
	return "non-persistent"
}

// local returns the name of one of the run's topics in its namespace.
func (s *session) local(topic string) string { return naming().TopicName(s.Target, topic) }

// naming is that of topics and subscriptions.
func naming() driver.Naming {
	return driver.Naming{Separator: ".", Allowed: "._-", Longest: 100, Apart: true, GivenTopic: "a topic of the namespace, or TENANT/NAMESPACE/TOPIC", GivenGroup: "a subscription"}
}

// topic returns the full name of one of the run's topics.
func (s *session) topic(name string) string {
	return s.domain() + "://" + s.place(name)
}

// place returns the name of a topic with its namespace.
func (s *session) place(name string) string {
	if s.Target.Given && strings.Count(name, "/") == 2 {
		return name
	}
	return s.options.Namespace + "/" + s.local(name)
}

// reach asks the broker and the web service one question each. The client would ask
// until its time is over: the first failure of each server is enough here.
func (s *session) reach(ctx context.Context) error {
	l, err := s.connect(ctx, kit.Key{Role: kit.Control})
	if err != nil {
		return err
	}
	short, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		l.close(short) // what the client still does it ends by itself
	}()
	answered := make(chan error, 1)
	go func() {
		_, err := call(short, l, func() ([]string, error) { return l.client.TopicPartitions(s.topic("greeting")) }, func([]string) {})
		answered <- err
	}()
	select {
	case err = <-answered:
	case err = <-l.refused:
	}
	if err != nil && (driver.Class(err) != nil || classOf(err) != driver.ErrNoTopic) { // a missing topic is an answer
		return s.Wrap(err, "connect to %s", &s.Address)
	}
	return s.Wrap(s.ask(ctx, "GET", "brokers/version", nil, &s.version), "ask for the version")
}

// hold is a subscription without readers. It keeps messages in the topic for consumers
// without a group that read from the beginning, and for reading back.
const hold = "sixnines-hold"

func (s *session) hold() string { return s.Target.Prefix + hold }

// Provision implements driver.Session.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if err := s.check(t); err != nil {
		return driver.Semantics{}, err
	}
	s.mu.Lock()
	s.topology = t
	s.mu.Unlock()
	if s.Target.Given {
		return s.provisionGiven(ctx, t)
	}
	subscriptions, from := t.Groups, latest()
	switch {
	case t.Existing:
		from = earliest() // for a group that does not exist yet
	case holds(t):
		subscriptions = append([]string{s.hold()}, t.Groups...)
	}
	if !s.options.Persistent {
		subscriptions = nil // the broker keeps none without consumers
	}
	for _, topic := range t.Topics {
		err := s.provide(ctx, topic, t.Existing)
		if !t.Keep && !driver.Final(err) { // what was refused is not made
			s.mu.Lock()
			s.made = append(s.made, topic)
			s.mu.Unlock()
		}
		if err != nil {
			return driver.Semantics{}, err
		}
		for _, name := range subscriptions {
			if err := s.ask(ctx, "PUT", s.path(topic, "subscription/"+name), from, nil); err != nil && !errors.Is(err, errExists) {
				return driver.Semantics{}, s.Wrap(err, "make subscription %q of %q", name, s.topic(topic))
			}
		}
	}
	return s.semantics(ctx), nil
}

// provisionGiven looks for topics and subscriptions of the operator's.
func (s *session) provisionGiven(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	for _, topic := range t.Topics {
		stats, err := s.stats(ctx, topic)
		if err != nil {
			return driver.Semantics{}, s.Wrap(err, "look for topic %q", s.topic(topic))
		}
		for _, group := range t.Groups {
			if _, ok := stats.Subscriptions[group]; !ok {
				return driver.Semantics{}, fmt.Errorf("pulsar: subscription %q of %q: %w", group, s.topic(topic), driver.ErrNoTopic)
			}
		}
	}
	sem := s.semantics(ctx)
	if len(t.Topics) > 0 {
		sem.Topic = s.topic(t.Topics[0])
	}
	return sem, nil
}

// check refuses what topics of this kind cannot do.
func (s *session) check(t driver.Topology) error {
	for what, names := range map[string][]string{"topic": t.Topics, "group": t.Groups} {
		for _, name := range names {
			if s.Target.Given && what == "topic" {
				name = name[strings.LastIndexByte(name, '/')+1:]
			}
			if err := s.checkName(what, name); err != nil {
				return err
			}
		}
	}
	if !s.options.Persistent && (t.Late || t.Keep || t.Existing) {
		return fmt.Errorf("pulsar: messages that are kept: %w: non-persistent topics keep none", driver.ErrUnsupported)
	}
	size, limit := t.MaxSize+t.KeySize+kit.HeaderBytes(t.Headers), s.limit.Load()
	if limit > 0 && int64(size) > limit {
		return fmt.Errorf("pulsar: messages of %d bytes: %w: the broker's maxMessageSize is %d", size, driver.ErrTooLarge, limit)
	}
	return nil
}

// provide makes a topic, or looks for it. A non-persistent one comes into being with
// its first user.
func (s *session) provide(ctx context.Context, topic string, existing bool) error {
	var err error
	switch n := s.options.Partitions; {
	case existing:
		_, err = s.stats(ctx, topic)
	case n > 0:
		err = s.ask(ctx, "PUT", s.path(topic, "partitions"), n, nil)
	case s.options.Persistent:
		err = s.ask(ctx, "PUT", s.path(topic, ""), nil, nil)
	}
	if err != nil && !errors.Is(err, errExists) {
		return s.Wrap(err, "provide topic %q", s.topic(topic))
	}
	return nil
}

// maxPending returns how many messages without a receipt a producer may have for a
// partition. The client takes memory for all of them at once.
func (s *session) maxPending() int {
	if s.options.MaxPending > 0 {
		return s.options.MaxPending
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(1<<16, max(1<<12, 1<<22/(max(1, s.topology.Producers)*max(1, s.options.Partitions))))
}

// Deprovision implements driver.Session. A client that is left would make the topics
// again: connections that are left end here.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	made := s.made
	s.made = nil
	s.mu.Unlock()
	if len(made) == 0 {
		return nil
	}
	s.links.Drain(ctx)
	var errs []error
	for _, topic := range made {
		what := ""
		if s.options.Partitions > 0 {
			what = "partitions"
		}
		if err := s.ask(ctx, "DELETE", s.path(topic, what)+"?force=true", nil, nil); err != nil && !errors.Is(err, driver.ErrNoTopic) {
			errs = append(errs, &driver.Left{What: "topic", Name: s.topic(topic), Err: s.Wrap(err, "remove topic %q", s.topic(topic))})
		}
	}
	return errors.Join(errs...)
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error { return s.Base.Close(ctx, s.links.Close) }
