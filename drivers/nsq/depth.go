package nsq

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"sixnines/driver"
)

// topicStats is what nsqd counts of a topic.
type topicStats struct {
	Name     string         `json:"topic_name"`
	Depth    int64          `json:"depth"` // messages that are in no channel yet
	Channels []channelStats `json:"channels"`
}

type channelStats struct {
	Name     string `json:"channel_name"`
	Depth    int64  `json:"depth"`
	InFlight int64  `json:"in_flight_count"` // sent, and not finished
	Deferred int64  `json:"deferred_count"`
}

// needs returns an error if the topic has no such channel.
func (t topicStats) needs(channel string) error {
	if !t.has(channel) {
		return fmt.Errorf("nsq: channel %q of topic %q: %w", channel, t.Name, driver.ErrNoTopic)
	}
	return nil
}

// stats asks nsqd by its HTTP address for what it counts of a topic; driver.ErrNoTopic: there is
// none.
func (s *session) stats(ctx context.Context, at, topic string) (topicStats, error) {
	text, err := s.ask(ctx, at, http.MethodGet, "/stats", url.Values{"format": {"json"}, "topic": {topic}, "include_clients": {"false"}, "include_mem": {"false"}})
	if err != nil {
		return topicStats{}, wrap(err, "ask what topic %q holds", topic)
	}
	type list struct {
		Topics []topicStats `json:"topics"`
	}
	var answer struct {
		list
		Data list `json:"data"` // of nsqd before 1.0
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return topicStats{}, fmt.Errorf("nsq: ask what topic %q holds: %w: %w", topic, driver.ErrUnsupported, err)
	}
	for _, t := range append(answer.Topics, answer.Data.Topics...) {
		if t.Name == topic {
			return t, nil
		}
	}
	return topicStats{}, fmt.Errorf("nsq: topic %q: %w", topic, driver.ErrNoTopic)
}

// Depth implements driver.DepthTeller: what is in the channel, sent and not finished
// included, and what the topic has not put there yet.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	name, err := s.topic(topic)
	switch {
	case err != nil:
		return driver.Depth{}, err
	case s.http == "":
		return driver.Depth{}, fmt.Errorf("nsq: depth of %q: %w: only nsqd's HTTP address tells; give option http_url", name, driver.ErrUnsupported)
	}
	channel := s.channel(spec.Group)
	if spec.Group == "" {
		if channel = s.channelOf(spec.ID); channel == "" {
			return driver.Depth{}, fmt.Errorf("nsq: depth of %q: %w: a consumer on its own has a channel only while it is there", name, driver.ErrNotConnected)
		}
	}
	t, err := s.stats(ctx, s.http, name)
	if err != nil {
		return driver.Depth{}, err
	}
	for _, c := range t.Channels {
		if c.Name == channel {
			return driver.Depth{Messages: t.Depth + c.Depth + c.InFlight + c.Deferred, Unacknowledged: true}, nil
		}
	}
	return driver.Depth{}, fmt.Errorf("nsq: depth of %q: %w: it has no channel %q", name, driver.ErrNotConnected, channel)
}

// find looks for a topic that must exist, with what the groups have not consumed.
// A channel that is made now would begin empty, unless it is the first: messages lie
// in the topic until then.
func (s *session) find(ctx context.Context, topic string, groups []string) error {
	t, err := s.stats(ctx, s.http, topic)
	if err != nil {
		return err
	}
	if len(t.Channels) == 0 && len(groups) == 1 {
		return nil
	}
	for _, group := range groups {
		if err := t.needs(group); err != nil {
			return err
		}
	}
	return nil
}

// findGiven looks for a topic of the operator's, with the groups' channels. The first channel gets what lies in
// the topic: it cannot be one of our own, which is removed with what it holds.
func (s *session) findGiven(ctx context.Context, topic string, want driver.Topology) error {
	t, err := s.stats(ctx, s.http, topic)
	if err != nil {
		return err
	}
	if len(t.Channels) == 0 && len(want.Groups) == 0 && want.Consumers > 0 {
		return fmt.Errorf("nsq: topic %q: %w: it has no channel yet, and a consumer on its own would take what lies in it; name a channel that exists (--group)", topic, driver.ErrUnsupported)
	}
	for _, group := range want.Groups {
		if err := t.needs(group); err != nil {
			return err
		}
	}
	return nil
}

// channelOf returns the channel of a consumer on its own; empty: it is not there.
func (s *session) channelOf(id int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.alone[id]; c != nil {
		return c.channel
	}
	return ""
}
