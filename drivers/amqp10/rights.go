package amqp10

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"sixnines/driver"
)

// rights are those at the two products.
func rights(prefix string) []driver.Right {
	return append(atProduct(artemisProduct, artemisRights(prefix)), atProduct(rabbitMQProduct, rabbitRights(prefix))...)
}

func atProduct(name string, all []driver.Right) []driver.Right {
	for i := range all {
		all[i].At = name
	}
	return all
}

// rabbitRights are the regular expressions of rabbitmqctl set_permissions.
func rabbitRights(prefix string) []driver.Right {
	own := "^" + regexp.QuoteMeta(naming().Begins(prefix))
	const byName, plugin = "before 4.0, and option routing anycast", "before 4.0: consumers on their own"
	return []driver.Right{
		{Name: "configure", Value: own, For: "exchanges and queues, which a run makes; not with --topic"},
		{Name: "write", Value: own},
		{Name: "read", Value: own},
		{Name: "write", Value: `^amq\.default$`, For: byName},
		{Name: "write", Value: `^amq\.(topic$|gen-)`, For: plugin},
		{Name: "configure", Value: `^amq\.gen-`, For: plugin},
		{Name: "read", Value: `^amq\.(topic$|gen-)`, For: plugin},
	}
}

// artemisRights are permissions in Artemis' security-settings: the name of one and the match that it is for. Without
// management-message-rbac whoever may manage can make and delete all addresses; sending and consuming are checked always.
func artemisRights(prefix string) []driver.Right {
	own := naming().Begins(prefix) + "#"
	return []driver.Right{
		{Name: "send", Value: own},
		{Name: "consume", Value: own},
		{Name: "createAddress", Value: own, For: "answers of the management, not with --topic"},
		{Name: "createDurableQueue", Value: own, For: "answers of the management, not with --topic"},
		{Name: "createNonDurableQueue", Value: own, For: "--topic without --group"},
		{Name: "browse", Value: own, For: "reading back"},
		{Name: "send", Value: managementAddress, For: "making and removing addresses and queues, depth, not with --topic"},
		{Name: "manage", Value: managementAddress, For: "making and removing addresses and queues, depth, not with --topic"},
	}
}

// mayRead asks RabbitMQ before 4.0 whether the user may consume from the topic. When he may
// not its plugin says nothing to a consumer that attaches, and cuts the connection after three
// seconds: the reason is in the broker's log only. The broker itself tells it at once, by AMQP
// 0-9-1 at the same port.
func (s *session) mayRead(ctx context.Context, topic string) error {
	to := s.Servers[0]
	// The library notes the server's name in the configuration.
	config := amqp091.Config{Vhost: s.vhost, TLSClientConfig: s.TLS.Clone(), SASL: []amqp091.Authentication{&amqp091.PlainAuth{Username: s.User, Password: s.Secret}},
		Dial: func(network, address string) (net.Conn, error) {
			return s.Target.Dial(ctx, network, address)
		}}
	if config.Vhost == "" {
		config.Vhost = "/"
	}
	scheme := "amqp://"
	if to.TLS {
		scheme = "amqps://"
	}
	c, err := amqp091.DialConfig(scheme+to.Address, config)
	if err != nil {
		return nil // what cannot be asked is found out by attaching
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	channel, err := c.Channel()
	if err != nil {
		return nil
	}
	if s.isAnycast() {
		// The broker checks rights before it looks for the queue, which does not exist yet.
		_, _, err = channel.Get(s.name(topic), true)
	} else if queue, made := channel.QueueDeclare("", false, true, true, false, nil); made == nil {
		err = channel.QueueBind(queue.Name, s.name(topic), "amq.topic", false, nil)
	}
	var answer *amqp091.Error
	if errors.As(err, &answer) && answer.Code == amqp091.AccessRefused {
		return fmt.Errorf("amqp10: subscribe to %q: %w: the server says %d %s", topic, driver.ErrForbidden, answer.Code, answer.Reason)
	}
	return nil
}
