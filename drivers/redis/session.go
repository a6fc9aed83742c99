package redis

import (
	"context"
	"fmt"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/resp"
)

// session implements driver.Session.
type session struct {
	*resp.Session
	options   Options
	producers *resp.Producers
	consumers *kit.Pool[resp.LinkKey, *receiver]
	awaited   atomic.Bool // there are consumers: publishes should reach somebody
	limited   atomic.Bool // a sender may wait for acknowledgements
	places    atomic.Pointer[[]driver.Destination]
}

func newSession(t driver.Target, o Options) (*session, error) {
	base, err := resp.NewSession(t, "redis", o.Client, o.Options, resp.OutputLimits)
	if err != nil {
		return nil, err
	}
	if o.Acks == none && o.Sharded && base.Clustered() {
		base.Stop()
		return nil, base.New(driver.ErrOption, "options \"acks\" and \"sharded\"", "a server of a cluster says in its answers that a channel has moved to another server; without answers leave sharded out")
	}
	s := &session{Session: base, options: o}
	s.consumers = kit.NewPool("redis", s.receiver, func(ctx context.Context, in *receiver) { _ = in.link.Close(ctx) })
	s.producers = resp.NewProducers(base, "publish", resp.PipelineOptions{Silent: o.Acks == none,
		Late: func() bool { return s.awaited.Load() && !s.limited.Load() }},
		func(name string) resp.Watch { return &subscriberWatch{session: s, name: name} })
	return s, nil
}

// naming is that of channels.
func naming() driver.Naming {
	return driver.Naming{Separator: ".", Allowed: "._-:/{}=@", Longest: 100, GivenTopic: "a channel"}
}

// channel returns the channel of a topic.
func (s *session) channel(topic string) (string, error) {
	if err := s.CheckName("topic", topic); err != nil {
		return "", err
	}
	return naming().TopicName(s.Target, topic), nil
}

// Provision implements driver.Session. Channels need no making; it checks that
// the server carries the payloads and reports its settings.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	var places []driver.Destination
	for _, topic := range t.Topics {
		channel, err := s.channel(topic)
		if err != nil {
			return driver.Semantics{}, err
		}
		places = append(places, driver.Destination{Topic: topic, Name: channel})
	}
	if len(t.Groups) > 0 {
		return driver.Semantics{}, fmt.Errorf("redis: groups %q: %w: every subscriber of a channel gets every message; groups are what the driver redis-streams has", t.Groups, driver.ErrUnsupported)
	}
	if err := s.Look(ctx); err != nil {
		return driver.Semantics{}, err
	}
	if err := s.Check(t.MaxSize); err != nil {
		return driver.Semantics{}, err
	}
	if s.options.Acks == none && t.Producers > 0 {
		var channels []string
		for _, at := range places {
			channels = append(channels, at.Name)
		}
		if err := s.Allowed(ctx, s.options.publish(), channels...); err != nil {
			return driver.Semantics{}, err
		}
	}
	s.awaited.Store(t.Consumers > 0)
	s.places.Store(&places)
	return s.semantics(t), nil
}

// Destinations implements driver.DestinationNamer: each channel has a slot, whose master it is published at.
func (s *session) Destinations() []driver.Destination {
	if all := s.places.Load(); all != nil {
		return *all
	}
	return nil
}

// Deprovision implements driver.Session. The server forgets a channel with its
// last subscriber, so nothing is left to remove.
func (s *session) Deprovision(context.Context) error { return nil }

// refusals says how producers learn of refusals: a server without replies is asked
// for one now and then.
func (s *session) refusals() driver.Refusals {
	if s.options.Acks == none {
		return driver.RefusalsReported
	}
	return driver.RefusalsAnswered
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	return s.Session.Close(ctx, s.producers.Close, s.consumers.Close)
}
