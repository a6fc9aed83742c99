package amqp10

import (
	"context"
	"strings"
)

// broker is what a driver can have made at a broker, by its management.
type broker interface {
	// createTopic makes what messages are sent to, without queues.
	createTopic(ctx context.Context, name string) error
	// createQueue makes a queue that gets the messages of the topic and outlives its consumers; without a topic it is sent to
	// by its own name. It keeps the latest messages, up to that number; -1: all.
	createQueue(ctx context.Context, topic, name string, latest int) error
	// delete deletes it, if it is there.
	delete(ctx context.Context, t thing) error
	// count returns how many messages a queue has, and whether those are among them that consumers have not accepted yet.
	count(ctx context.Context, queue string) (n int64, unaccepted bool, err error)
}

// thing is something at a broker, in its words.
type thing struct{ what, name string }

// What things are.
const (
	anAddress  = "address"
	anExchange = "exchange"
	aQueue     = "queue"
)

// replyPart begins what follows the run in the name of the address of a management's replies.
const replyPart = "reply-"

// The products whose management is known, as they are in the brokers' own names.
const (
	artemisProduct  = "artemis"
	rabbitMQProduct = "rabbitmq"
)

// identity is what a broker says that it is.
type identity map[string]any

// is reports whether the broker's product has the name in its own.
func (i identity) is(name string) bool {
	called, _ := i["product"].(string)
	return strings.Contains(strings.ToLower(called), name)
}

// isPlugin reports whether it is RabbitMQ before 4.0, which has AMQP 1.0 by a plugin.
func (i identity) isPlugin() bool {
	version, _ := i["version"].(string)
	return i.is(rabbitMQProduct) && strings.HasPrefix(version, "3.")
}

// isManageable reports whether a client can have things made and deleted.
func (i identity) isManageable() bool {
	return i.is(artemisProduct) || i.is(rabbitMQProduct) && !i.isPlugin()
}

// manage has the connection ask the management of its broker, if that is known.
func (s *session) manage(c *conn) {
	switch i := identity(c.Properties()); {
	case !i.isManageable():
	case i.is(artemisProduct):
		c.manager = newManager(c, artemisPair(s.name(replyPart)))
		c.broker = artemis{c.manager}
	default:
		c.manager = newManager(c, rabbitPair())
		c.broker = rabbit{c.manager}
	}
}
