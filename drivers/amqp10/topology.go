package amqp10

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
)

// is reports whether the broker's product has the name in its own.
func (s *session) is(name string) bool { return s.server.is(name) }

// isManaged reports whether the driver makes and deletes what it needs.
func (s *session) isManaged() bool {
	return s.options.Address == "" && !s.Target.Given && s.server.isManageable()
}

// isAnycast reports whether a topic is one queue.
func (s *session) isAnycast() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.anycast
}

// plan notes a topology, or says why it cannot be had.
func (s *session) plan(t driver.Topology) error {
	if s.Target.Given {
		return s.planGiven(t)
	}
	for _, topic := range t.Topics {
		if err := s.CheckName("topic", topic); err != nil {
			return err
		}
	}
	for _, group := range t.Groups {
		if err := s.CheckName("group", group); err != nil {
			return err
		}
	}
	o := &s.options
	one := o.Routing == anycast || o.Routing == auto && !s.isManaged() && (len(t.Groups) > 0 || o.Address != "" || !s.is(rabbitMQProduct))
	switch groups := len(t.Groups); {
	case one && (groups > 1 || groups == 0 && t.Consumers > 1):
		return fmt.Errorf("amqp10: several consumers, or groups, that each get every message: %w: with routing anycast a topic is one queue; set routing to multicast, or workload.groups to 1", driver.ErrUnsupported)
	case !one && groups > 0 && !s.isManaged() && !strings.Contains(o.Source, "{group}"):
		return fmt.Errorf("amqp10: groups, with routing multicast: %w: the driver has queues of groups made by Artemis and by RabbitMQ from 4.0 on only; set routing to anycast, or options address and source to addresses that are there", driver.ErrUnsupported)
	case !one && groups == 0 && (t.Late || t.Keep || t.Existing):
		return fmt.Errorf("amqp10: messages that are kept, without a group: %w: the queue of a consumer on its own comes and goes with it; set workload.groups to 1", driver.ErrUnsupported)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topology, s.anycast = t, one
	return nil
}

// name returns what a topic is called at the broker.
func (s *session) name(topic string) string { return naming().Name(s.Target, topic) }

// naming is that of addresses and queues.
func naming() driver.Naming {
	return driver.Naming{Separator: ".", Allowed: "._-", Longest: 100,
		GivenTopic: "an address; on RabbitMQ a queue or EXCHANGE/KEY, or its own notation from a slash on", GivenGroup: "a queue"}
}

// queue returns the name of a consumer's queue that the driver makes.
func (s *session) queue(topic string, spec driver.ConsumerSpec) string {
	switch name := s.name(topic); {
	case s.isAnycast():
		return name
	case spec.Group != "":
		return name + "/" + spec.Group
	default:
		return name + "//consumer-" + strconv.Itoa(spec.ID)
	}
}

// address returns what messages of the topic are sent to.
func (s *session) address(topic string) string {
	if s.Target.Given {
		return s.givenAddress(topic)
	}
	switch name := s.name(topic); {
	case s.options.Address != "":
		return s.expand(s.options.Address, topic, driver.ConsumerSpec{})
	case !s.is(rabbitMQProduct):
		return name
	case s.plugin && s.isAnycast():
		return "/queue/" + name
	case s.plugin:
		return "/topic/" + name
	case s.isAnycast():
		return queuePath(name)
	default:
		return exchangePath(name)
	}
}

// source returns what a consumer attaches to.
func (s *session) source(topic string, spec driver.ConsumerSpec) string {
	switch {
	case s.Target.Given:
		return s.givenSource(topic, spec.Group)
	case s.options.Source != "":
		return s.expand(s.options.Source, topic, spec)
	case s.isManaged() && s.is(rabbitMQProduct):
		return queuePath(s.queue(topic, spec))
	case s.isManaged() && !s.isAnycast():
		return s.name(topic) + "::" + s.queue(topic, spec)
	}
	return s.address(topic)
}

func (s *session) expand(pattern, topic string, spec driver.ConsumerSpec) string {
	return strings.NewReplacer("{run}", s.Target.Run, "{topic}", topic, "{group}", spec.Group,
		"{consumer}", strconv.Itoa(spec.ID)).Replace(pattern)
}

// capability is what an address must be able to, in Artemis' words.
func (s *session) capability() []string {
	switch {
	case !s.isManaged() || !s.is(artemisProduct):
		return nil
	case s.isAnycast():
		return []string{"queue"}
	}
	return []string{"topic"}
}

// groups returns the groups of the topology as consumers of the topic: one without a
// name where a topic is one queue.
func (s *session) groups() []driver.ConsumerSpec {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.anycast {
		return make([]driver.ConsumerSpec, 1)
	}
	var specs []driver.ConsumerSpec
	for _, group := range s.topology.Groups {
		specs = append(specs, driver.ConsumerSpec{Group: group})
	}
	return specs
}

// sinkLength is how many messages a queue without consumers keeps, unless they are read back.
const sinkLength = 1000

// sinkOf returns the name of that queue of an address.
func sinkOf(address string) string { return address + "//sink" }

// topicAt returns what a topic is at the broker, unless it is one queue.
func (s *session) topicAt(topic string) thing {
	if s.is(rabbitMQProduct) {
		return thing{anExchange, s.name(topic)}
	}
	return thing{anAddress, s.name(topic)} // on Artemis with its queues
}

// create makes a topic, empty, with the queues of groups. Where the driver cannot, those who attach do, or others have.
func (s *session) create(ctx context.Context, c *conn, topic string) error {
	if !s.isManaged() {
		return nil
	}
	if what := s.topicAt(topic); !s.isAnycast() || what.what == anAddress {
		if err := c.broker.delete(ctx, what); err != nil {
			return err
		}
		s.note(what) // what follows may be done although no answer comes
	}
	if !s.isAnycast() {
		if err := c.broker.createTopic(ctx, s.name(topic)); err != nil {
			return err
		}
	}
	groups := s.groups()
	for _, group := range groups {
		if err := s.createQueue(ctx, c, topic, group); err != nil {
			return err
		}
	}
	s.mu.Lock()
	sink, length := len(groups) == 0 && s.topology.Consumers == 0, sinkLength
	if s.topology.ReadBack {
		length = -1
	}
	s.mu.Unlock()
	if !sink {
		return nil
	}
	return s.makeQueue(ctx, c, s.name(topic), sinkOf(s.name(topic)), length) // else nothing would be stored
}

// createQueue makes a consumer's queue.
func (s *session) createQueue(ctx context.Context, c *conn, topic string, spec driver.ConsumerSpec) error {
	of := s.name(topic)
	if s.isAnycast() {
		of = ""
	}
	return s.makeQueue(ctx, c, of, s.queue(topic, spec), -1)
}

// makeQueue makes a queue, empty. On Artemis it goes with its address.
func (s *session) makeQueue(ctx context.Context, c *conn, topic, name string, latest int) error {
	if queue := (thing{aQueue, name}); s.is(rabbitMQProduct) {
		if err := c.broker.delete(ctx, queue); err != nil {
			return err
		}
		s.note(queue)
	}
	return c.broker.createQueue(ctx, topic, name, latest)
}

// find looks for what groups consume of a topic, which Deprovision is to remove.
func (s *session) find(ctx context.Context, c *conn, topic string) error {
	if what := s.topicAt(topic); !s.isAnycast() || what.what == anAddress {
		s.note(what)
	}
	for _, group := range s.groups() {
		if s.isManaged() {
			name := s.queue(topic, group)
			if s.is(rabbitMQProduct) {
				s.note(thing{aQueue, name})
			}
			if _, _, err := c.broker.count(ctx, name); err != nil {
				return err
			}
			continue
		}
		source := s.source(topic, group)
		if s.options.Address == "" && s.plugin {
			source = "/amq" + source // it makes none
		}
		session, err := c.begin(ctx)
		if err != nil {
			return err
		}
		_, err = session.NewReceiver(ctx, source, &amqp.ReceiverOptions{Credit: manualCredit})
		c.quit(ctx, session)
		if err != nil {
			return err
		}
	}
	return nil
}

// frameRest is what a frame needs beside a payload, and headers if they are few.
const frameRest = 1 << 10

// rabbitFrame is the largest frame that RabbitMQ takes from 4.0 on, unless its frame_max says otherwise.
const rabbitFrame = 128 << 10

// try attaches to a topic as producers do, and finds payloads that are too large. To
// RabbitMQ's plugin, which does not tell its limit but ends the session of who exceeds it, it
// sends one, to nowhere.
func (s *session) try(ctx context.Context, c *conn, topic string, size int) error {
	session, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer c.leave(session)
	link, err := session.NewSender(ctx, s.address(topic), s.senderOptions())
	if err != nil {
		return err
	}
	if limit := link.MaxMessageSize(); limit > 0 && uint64(size) > limit {
		return fmt.Errorf("%w: the broker takes %d bytes", driver.ErrTooLarge, limit)
	}
	if s.is(rabbitMQProduct) && !s.plugin && s.options.Settled && size+frameRest > rabbitFrame {
		return fmt.Errorf("%w: go-amqp says in the last frame only that a message is settled, which RabbitMQ refuses, so that it must fit into one of 128 KiB; leave option settled out", driver.ErrTooLarge)
	}
	if s.options.Address != "" || s.Target.Given || !s.plugin {
		return nil
	}
	if s.options.Settled && size+frameRest > int(s.options.FrameMax) {
		return fmt.Errorf("%w: RabbitMQ's plugin takes settled messages in one frame only; set frame_max to more", driver.ErrTooLarge)
	}
	if link, err = session.NewSender(ctx, "/topic/"+s.name(topic)+"%2Fnowhere", nil); err != nil {
		return err
	}
	return link.Send(ctx, amqp.NewMessage(make([]byte, size)), nil)
}
