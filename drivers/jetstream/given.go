package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// provisionGiven looks for streams and groups of the operator's, and takes over how the streams are made.
func (s *session) provisionGiven(ctx context.Context, t driver.Topology) (none driver.Semantics, err error) {
	var info js.StreamInfo
	given := map[string]stream{}
	var streams []stream
	for _, topic := range t.Topics {
		st, err := s.lookUp(ctx, topic)
		if err != nil {
			return none, err
		}
		var there bool
		if info, there, err = s.api.streamInfo(ctx, st.name); err == nil && !there {
			err = fmt.Errorf("%s: stream %s: %w", product, st.name, driver.ErrNoTopic)
		}
		if err == nil {
			err = s.adopt(info.Config, t)
		}
		if err != nil {
			return none, err
		}
		given[topic], streams = st, append(streams, st)
	}
	s.mu.Lock()
	s.topology, s.given = t, given
	s.mu.Unlock()
	for _, group := range t.Groups {
		if _, err := s.groupOf(ctx, oneEach(streams), driver.ConsumerSpec{Group: group}); err != nil {
			return none, err
		}
	}
	if err := errors.Join(s.CheckHeaders(t.Headers), s.checkSize(t.MaxSize, t.Headers)); err != nil {
		return none, err
	}
	sem := s.semantics(ctx, t, info)
	sem.Topic = streams[0].subject
	return sem, nil
}

// lookUp returns the stream of a topic of the operator's: a subject, whose stream the server names, or one
// with its stream before it. Before a subject with slashes in it there is another slash.
func (s *session) lookUp(ctx context.Context, topic string) (stream, error) {
	name, subject, _ := strings.Cut(topic, "/")
	if !strings.Contains(topic, "/") {
		name, subject = "", topic
	}
	if err := natswire.CheckName(product, "topic", subject); err != nil {
		return stream{}, err
	}
	if name != "" {
		return stream{topic, subject, name}, checkPart("stream", name)
	}
	var found struct {
		Streams []string `json:"streams"`
	}
	ask := struct {
		Subject string `json:"subject"`
	}{subject}
	if err := s.api.request(ctx, "STREAM.NAMES", ask, &found); err != nil {
		return stream{}, wrap(err, "look for the stream of subject %s, which --topic STREAM/%s would name", subject, subject)
	}
	if len(found.Streams) != 1 {
		return stream{}, fmt.Errorf("%s: subject %s: %w: %d streams store it; name the one that is meant as STREAM/%s", product, subject, driver.ErrNoTopic, len(found.Streams), subject)
	}
	return stream{topic, subject, found.Streams[0]}, nil
}

// checkPart refuses names that no stream and no consumer can have: nobody would answer.
func checkPart(what, name string) error {
	if name == "" || strings.ContainsAny(name, ".*>/\\ \t\r\n") {
		return fmt.Errorf("%s: %s %q: %w: names of streams and consumers have no dots, slashes, wildcards or spaces", product, what, name, driver.ErrUnsupported)
	}
	return nil
}

// adopt takes over a stream's settings in place of the options that would have made it.
func (s *session) adopt(c js.StreamConfig, t driver.Topology) error {
	o := &s.options
	if c.NoAck && o.Acknowledge {
		return fmt.Errorf("%s: option \"acknowledge\": %w: stream %s acknowledges nothing; set the option to false", product, driver.ErrOption, c.Name)
	}
	if c.Retention == js.WorkQueuePolicy && len(t.Groups) == 0 && t.Consumers > 0 {
		return fmt.Errorf("%s: stream %s: %w: it is a work queue, from which a consumer on its own would take the messages of others; name its durable consumer (--group)", product, c.Name, driver.ErrUnsupported)
	}
	o.Storage, o.Retention, o.Discard = strings.ToLower(c.Storage.String()), "limits", "old"
	switch c.Retention {
	case js.InterestPolicy:
		o.Retention = "interest"
	case js.WorkQueuePolicy:
		o.Retention = "workqueue"
	}
	if c.Discard == js.DiscardNew {
		o.Discard = "new"
	}
	o.MaxMessageSize = driver.ByteSize(max(0, c.MaxMsgSize))
	return nil
}

// groupOf returns how the operator has made a durable consumer, which is the same in each of the streams.
func (s *session) groupOf(ctx context.Context, streams []stream, spec driver.ConsumerSpec) (config js.ConsumerConfig, err error) {
	refuse := func(why string) error {
		return fmt.Errorf("%s: consumer %s: %w: %s", product, spec.Group, driver.ErrUnsupported, why)
	}
	if err := checkPart("consumer", spec.Group); err != nil {
		return config, err
	}
	for i, st := range streams {
		info, err := s.api.consumerInfo(ctx, st.name, spec.Group)
		if err != nil && (refused(err, codeNoConsumer) || refused(err, codeNoStream)) {
			err = fmt.Errorf("%w: %w", driver.ErrNoTopic, err)
		}
		if err != nil {
			return config, err
		}
		if next := info.Config; i > 0 && (next.AckPolicy != config.AckPolicy || next.DeliverSubject != config.DeliverSubject) {
			return config, refuse("the streams have it with different settings; use one stream")
		}
		config = info.Config
	}
	s.mu.Lock()
	several := s.topology.Consumers > 1
	s.mu.Unlock()
	switch acknowledges := config.AckPolicy != js.AckNonePolicy; {
	case config.DeliverSubject != "" && config.DeliverGroup == "" && several:
		return config, refuse("it is pushed without a deliver group, so that each of several consumers would get every message; use one")
	case spec.Ack.Mode == driver.AckNone && acknowledges:
		return config, refuse("its messages are to be acknowledged, and would come again")
	case (spec.Ack.Mode == driver.AckEach || spec.Ack.Mode == driver.AckEvery) && !acknowledges:
		return config, refuse("it takes no acknowledgements")
	}
	return config, nil
}

// wayOf says how members of a group of the operator's get their messages.
func (s *session) wayOf(c js.ConsumerConfig) string {
	switch {
	case c.DeliverSubject != "":
		return push
	case s.options.Consume == fetch:
		return fetch
	}
	return pull
}

// isGuest reports whether the consumer is of a group of the operator's.
func (c *consumer) isGuest() bool { return c.session.Target.Given && c.spec.Group != "" }

// oneEach returns the streams without those that have the same one: a group has one consumer in each.
func oneEach(streams []stream) (all []stream) {
	seen := map[string]bool{}
	for _, st := range streams {
		if !seen[st.name] {
			all = append(all, st)
		}
		seen[st.name] = true
	}
	return all
}
