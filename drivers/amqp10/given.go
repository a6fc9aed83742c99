package amqp10

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
)

// planGiven notes a topology whose topics are the operator's.
func (s *session) planGiven(t driver.Topology) error {
	refuse := func(what, why string) error {
		return fmt.Errorf("amqp10: topic %q: %w: %s", what, driver.ErrUnsupported, why)
	}
	if s.options.Address != "" {
		return s.Option("address", "the scenario names topics that exist, too (target.topic, --topic); give one of the two")
	}
	for _, topic := range t.Topics {
		exchange, key := s.given(topic)
		switch {
		case len(topic) > 255 || strings.ContainsAny(topic, "\x00\r\n"):
			return refuse(topic, "names have up to 255 bytes, and no line ends")
		case !s.is(rabbitMQProduct):
		case exchange == "" && key != "" && len(t.Groups) > 0 && t.Groups[0] != key:
			return refuse(topic, "it is a queue, so that its consumers are of the group "+key+", and of no other")
		case exchange != "" && len(t.Groups) == 0 && t.Consumers > 0:
			return refuse(topic, "it is an exchange with a key, and no queue is made; name the queue that they lead to as a group (--group)")
		}
	}
	if len(t.Groups) == 0 && t.Consumers > len(t.Topics) && s.is(rabbitMQProduct) {
		return refuse(t.Topics[0], "a queue gives each message to one of its consumers, and these would each want all; name the queue as a group, too (--group)")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topology, s.anycast = t, false
	return nil
}

// given returns the exchange and the key that a topic of the operator's names on RabbitMQ, or a queue as a
// key without an exchange. Both are empty where the topic is an address as it is.
func (s *session) given(topic string) (exchange, key string) {
	switch i := strings.LastIndexByte(topic, '/'); {
	case !s.is(rabbitMQProduct) || strings.HasPrefix(topic, "/"):
		return "", ""
	case i > 0:
		return topic[:i], topic[i+1:]
	}
	return "", topic
}

// givenAddress returns what messages for a topic of the operator's are sent to.
func (s *session) givenAddress(topic string) string {
	switch exchange, key := s.given(topic); {
	case key == "":
		return topic
	case exchange == "":
		return s.queueAddress(key)
	case s.plugin:
		return "/exchange/" + url.PathEscape(exchange) + "/" + url.PathEscape(key)
	default:
		return exchangePath(exchange) + "/" + url.PathEscape(key)
	}
}

// givenSource returns what consumers of the operator's topic attach to: the queue that is their group.
func (s *session) givenSource(topic, group string) string {
	switch {
	case group == "":
		return s.givenAddress(topic)
	case strings.HasPrefix(group, "/"):
		return group
	case s.is(rabbitMQProduct):
		return s.queueAddress(group)
	case s.is(artemisProduct) && !strings.Contains(group, "::"):
		return topic + "::" + group
	}
	return group
}

// queueAddress is that of a queue on RabbitMQ, which is not made by who attaches to it.
func (s *session) queueAddress(name string) string {
	if s.plugin {
		return "/amq/queue/" + url.PathEscape(name)
	}
	return queuePath(name)
}

// findGiven looks for what a topic of the operator's names. Artemis makes addresses and queues for who
// attaches to them, if the user may; who may not ask its management is not told what there is.
func (s *session) findGiven(ctx context.Context, c *conn, topic string, t driver.Topology) error {
	if s.is(artemisProduct) {
		address, _, _ := strings.Cut(topic, "::")
		broker := artemis{c.manager}
		err := broker.exists(ctx, "address."+address, "RoutingTypesAsJSON")
		for _, group := range t.Groups {
			if err == nil {
				err = broker.exists(ctx, "queue."+group, "messageCount")
			}
		}
		if errors.Is(err, driver.ErrForbidden) {
			return nil // what may be made is then the user's rights to say
		}
		return err
	}
	if t.Consumers == 0 {
		return nil // who sends is told
	}
	for _, group := range append(t.Groups, "")[:max(1, len(t.Groups))] {
		session, err := c.begin(ctx)
		if err != nil {
			return err
		}
		_, err = session.NewReceiver(ctx, s.givenSource(topic, group), &amqp.ReceiverOptions{Credit: manualCredit})
		c.quit(ctx, session)
		if err != nil {
			return err
		}
	}
	return nil
}
