package amqp10_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/amqp10"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

const user, password = "ada", "lovelace"

func login() brokers.Options { return brokers.Options{User: user, Password: password} }

func with(more map[string]any, pairs ...any) map[string]any {
	all := map[string]any{"user": user, "password": password}
	for name, value := range more {
		all[name] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i].(string)] = pairs[i+1]
	}
	return all
}

// mode is a variant of the driver's options.
type mode struct {
	name    string
	options map[string]any
	brief   bool                       // also in the short run
	claim   func(*driver.Capabilities) // nil: all that the driver claims
}

// try puts the driver on trial in each mode.
func try(t *testing.T, c *brokers.Cluster, encrypted *driver.Target, modes []mode, more func(*drivertest.Harness)) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			if testing.Short() && !m.brief {
				t.Skip("a variant")
			}
			h := drivertest.Harness{
				Entry:  amqp10.Entry(),
				Target: driver.Target{URL: c.URL, Options: with(m.options)},
				At: func(address string) driver.Target {
					return driver.Target{URL: "amqp://" + address, Options: with(m.options)}
				},
				WrongPassword: &driver.Target{URL: c.URL, Options: with(m.options, "password", "byron")},
				Freeze:        brokertest.Freeze(t, c),
				Thaw:          brokertest.Thaw(t, c),
				Encrypted:     over(encrypted, m.options),
			}
			if m.claim != nil {
				m.claim(&h.Entry.Capabilities)
			}
			if m.brief {
				h.Restart = brokertest.Restart(t, c)
				h.Impatient, h.Silence = &driver.Target{URL: c.URL, Options: with(m.options, "idle_timeout", "4s")}, 4*time.Second
			}
			more(&h)
			drivertest.Run(t, h)
		})
	}
}

// over returns the encrypted target with more options.
func over(encrypted *driver.Target, options map[string]any) *driver.Target {
	t := *encrypted
	t.Options = with(options)
	maps.Copy(t.Options, encrypted.Options) // its login
	return &t
}

func target(c *brokers.Cluster) driver.Target { return driver.Target{URL: c.URL} }

func TestArtemis(t *testing.T) {
	c := brokertest.Start(t, "artemis", login())
	t.Run("clean", func(t *testing.T) {
		sessiontest.Cleans(t, amqp10.Entry().Driver, driver.Target{URL: c.URL, Options: with(nil)}, true)
	})
	_, secured := brokertest.Secured(t, "artemis", amqp10.Entry(), brokers.Options{})
	t.Run("secured", func(t *testing.T) {
		drivertest.RunLimited(t, drivertest.Harness{Entry: amqp10.Entry(), Target: secured, Given: func(run, topic string) (string, string) {
			name := secured.Prefix + run + "." + topic
			return name, name + "/g0"
		}})
	})
	try(t, c, &secured, []mode{
		{name: "unsettled", brief: true},
		{name: "settled", options: map[string]any{"settled": true, "ack_every": 0}},
		{name: "durable", options: map[string]any{"durable": true, "ack_every": 3, "credit": 40}},
	}, func(h *drivertest.Harness) {
		h.Leftovers = func(run string) ([]string, error) { return names(t, c, "getAddressNames", run) }
		h.Unacked = func(run string) (int, error) { return unacked(t, c, run) }
		h.Observe = observe(c, "s9.")
		h.Given = func(run, topic string) (string, string) {
			name := "s9." + run + "." + topic
			return name, name + "/g0"
		}
	})
	testWays(t, c, map[string]map[string]any{
		"anycast":              {"routing": "anycast"},
		"an address of others": {"address": "own.{run}.{topic}", "durable": true},
	})
}

// TestRabbitMQ leaves out what the broker holds after a run, since its plugin deletes
// nothing, and groups beside consumers on their own, which it cannot have. From 4.0 on, which RABBITMQ_HOME
// may name, it has both.
func TestRabbitMQ(t *testing.T) {
	c := brokertest.Start(t, "rabbitmq", login())
	if !strings.HasPrefix(c.Version, "3.") {
		testManaged(t, c)
		return
	}
	_, secured := brokertest.Secured(t, "rabbitmq", amqp10.Entry(), brokers.Options{})
	t.Run("secured", func(t *testing.T) {
		// The account may use all keys of amq.topic, so that only queues can be refused.
		sessiontest.Works(t, amqp10.Entry().Driver, secured)
		queue := secured
		queue.Options = with(nil, "routing", "anycast")
		maps.Copy(queue.Options, secured.Options)
		testLimited(t, queue, func(run, topic string) (string, string) {
			name := secured.Prefix + run + "." + topic
			return name, name
		})
	})
	t.Log("RabbitMQ before 4.0: what the driver does from 4.0 on is not tried")
	try(t, c, brokertest.Encrypted(t, "rabbitmq", login(), target), []mode{
		{name: "topics", brief: true, claim: func(c *driver.Capabilities) { c.Groups = false }},
		{name: "queues", claim: func(c *driver.Capabilities) { c.FanOut = false }},
		{name: "settled", options: map[string]any{"settled": true, "ack_every": 0, "frame_max": "2MiB"}, claim: func(c *driver.Capabilities) { c.Groups = false }},
	}, func(h *drivertest.Harness) {
		h.Observe = observe(c, "/topic/s9.")
		h.Given = func(run, topic string) (string, string) {
			name := "s9." + run + "." + topic
			if !h.Entry.Capabilities.Groups {
				name = "/topic/" + name // of which each consumer has a queue
			}
			return name, name
		}
		h.Keyed = !h.Entry.Capabilities.Groups
		h.WrongPassword = nil // it takes three seconds, see below
	})
	testWays(t, c, map[string]map[string]any{
		"anycast":              {"routing": "anycast", "durable": true},
		"an address of others": {"address": "/queue/own.{run}.{topic}"},
	})
	testWrongPassword(t, c)
}

// testLimited is the suite with a user of RabbitMQ that has the driver's rights and no others. With routing anycast consumers on
// their own do not each get every message.
func testLimited(t *testing.T, secured driver.Target, given func(run, topic string) (string, string)) {
	h := drivertest.Harness{Entry: amqp10.Entry(), Target: secured, Given: given}
	h.Entry.Capabilities.FanOut = secured.Options["routing"] != "anycast"
	drivertest.RunLimited(t, h)
}

// queues lists what RabbitMQ has that is a run's.
func queues(t *testing.T, c *brokers.Cluster, run string) (all []string, err error) {
	for _, what := range []string{"list_queues", "list_exchanges"} {
		lines, err := brokertest.RabbitMQControl(t, c, what, "name")
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			if strings.Contains(line, run) {
				all = append(all, line)
			}
		}
	}
	return all, nil
}

// testManaged is the suite at a RabbitMQ that makes and deletes what it is asked for.
func testManaged(t *testing.T, c *brokers.Cluster) {
	_, secured := brokertest.Secured(t, "rabbitmq", amqp10.Entry(), brokers.Options{})
	t.Run("secured", func(t *testing.T) {
		testLimited(t, secured, func(run, topic string) (string, string) {
			name := secured.Prefix + run + "." + topic
			return name + "/" + topic, name + "/g0"
		})
	})
	try(t, c, brokertest.Encrypted(t, "rabbitmq", login(), target), []mode{
		{name: "exchanges", brief: true},
		{name: "durable", options: map[string]any{"durable": true, "ack_every": 3, "credit": 40}},
	}, func(h *drivertest.Harness) {
		h.Observe = observe(c, "/exchange/s9.")
		h.Leftovers = func(run string) ([]string, error) { return queues(t, c, run) }
		h.Given = func(run, topic string) (string, string) {
			name := "s9." + run + "." + topic
			return name + "/" + topic, name + "/g0"
		}
		h.WrongPassword = nil // it takes three seconds, see below
	})
	testWays(t, c, map[string]map[string]any{
		"anycast":              {"routing": "anycast", "durable": true},
		"settled":              {"settled": true, "ack_every": 0, "routing": "anycast"},
		"an address of others": {"address": "/queue/own.{run}.{topic}"}, // of the first version, which 4.2 still takes
	})
	s := sessiontest.Open(t, amqp10.Entry().Driver, driver.Target{URL: c.URL, Options: with(nil, "settled", true)})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Producers: 1, MaxSize: 1 << 20}); !errors.Is(err, driver.ErrTooLarge) {
		t.Errorf("a settled message of several frames: %v", err)
	}
	testWrongPassword(t, c)
}

func testWrongPassword(t *testing.T, c *brokers.Cluster) {
	t.Run("wrong password", func(t *testing.T) {
		sessiontest.Refused(t, amqp10.Entry().Driver, driver.Target{URL: c.URL, Options: with(nil, "password", "byron")}, driver.ErrUnauthorized, "check user, password")
	})
}

// dial connects as a client that is not the driver's.
func dial(ctx context.Context, c *brokers.Cluster) (*amqp.Conn, *amqp.Session, error) {
	conn, err := amqp.Dial(ctx, c.URL, &amqp.ConnOptions{SASLType: amqp.SASLTypePlain(user, password)})
	if err != nil {
		return nil, nil, err
	}
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, session, nil
}

// ask asks Artemis' management.
func ask(t *testing.T, c *brokers.Cluster, properties map[string]any, result any) error {
	ctx := t.Context()
	conn, session, err := dial(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	replies, err := session.NewReceiver(ctx, "", &amqp.ReceiverOptions{DynamicAddress: true})
	if err != nil {
		return err
	}
	requests, err := session.NewSender(ctx, "activemq.management", nil)
	if err != nil {
		return err
	}
	to := replies.Address()
	if err := requests.Send(ctx, &amqp.Message{Properties: &amqp.MessageProperties{ReplyTo: &to}, ApplicationProperties: properties, Value: "[]"}, nil); err != nil {
		return err
	}
	reply, err := replies.Receive(ctx, nil)
	if err != nil {
		return err
	}
	text, _ := reply.Value.(string)
	if done, _ := reply.ApplicationProperties["_AMQ_OperationSucceeded"].(bool); !done {
		return fmt.Errorf("%v: %s", properties, text)
	}
	return json.Unmarshal([]byte(text), &result)
}

// names lists what an operation of the broker names that has the run in it.
func names(t *testing.T, c *brokers.Cluster, operation, run string) ([]string, error) {
	var all [][]string
	if err := ask(t, c, map[string]any{"_AMQ_ResourceName": "broker", "_AMQ_OperationName": operation}, &all); err != nil {
		return nil, err
	}
	var found []string
	for _, name := range all[0] {
		if strings.Contains(name, run) {
			found = append(found, name)
		}
	}
	return found, nil
}

// unacked counts the messages in the queues of a run: until they are accepted they
// are there.
func unacked(t *testing.T, c *brokers.Cluster, run string) (total int, err error) {
	queues, err := names(t, c, "getQueueNames", run)
	if err != nil {
		return 0, err
	}
	for _, queue := range queues {
		var count []int
		if err := ask(t, c, map[string]any{"_AMQ_ResourceName": "queue." + queue, "_AMQ_Attribute": "messageCount"}, &count); err != nil {
			return 0, err
		}
		total += count[0]
	}
	return total, nil
}

// observe has a client look by a subscription of its own, at what begins with prefix.
func observe(c *brokers.Cluster, prefix string) func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
	return func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
		conn, session, err := dial(ctx, c)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		r, err := session.NewReceiver(ctx, prefix+run+"."+topic, &amqp.ReceiverOptions{Credit: 1000, SourceCapabilities: []string{"topic"}})
		if err != nil {
			return nil, err
		}
		return func() (o drivertest.Observed, err error) {
			m, err := r.Receive(ctx, nil)
			if err != nil {
				return o, err
			}
			o = drivertest.Observed{Payload: m.GetData(), Headers: map[string]string{}}
			for name, value := range m.ApplicationProperties {
				o.Headers[name] = fmt.Sprint(value)
			}
			return o, r.AcceptMessage(ctx, m)
		}, nil
	}
}
