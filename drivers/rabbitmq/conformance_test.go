package rabbitmq_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/rabbit/rabbittest"
	"sixnines/drivers/rabbitmq"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

const (
	user, password = "ada", "lovelace"
	maxMessage     = 1 << 20
)

// TestRabbitMQ is all that one broker does for: to start one takes long.
func TestRabbitMQ(t *testing.T) {
	b := &broker{brokertest.Start(t, "rabbitmq", brokers.Options{User: user, Password: password, MaxMessage: maxMessage})}
	limited, secured := brokertest.Secured(t, "rabbitmq", rabbitmq.Entry(), brokers.Options{})
	t.Run("conformance", func(t *testing.T) { testConformance(t, b.Cluster, secured) })
	t.Run("secured", func(t *testing.T) { testSecured(t, secured) })
	t.Run("little is allowed", func(t *testing.T) { testLittle(t, limited, secured) })
	if testing.Short() {
		t.Skip("the rest is variants")
	}
	t.Run("leftovers are seen", func(t *testing.T) { testLeftoversAreSeen(t, b) })
	t.Run("options", func(t *testing.T) { testOptions(t, b) })
	t.Run("unroutable", func(t *testing.T) { testUnroutable(t, b) })
	t.Run("alarm", func(t *testing.T) { testAlarm(t, b) })
	t.Run("immediate", func(t *testing.T) { testImmediate(t, b) })
}

func testConformance(t *testing.T, c *brokers.Cluster, secured driver.Target) {
	modes := []struct {
		name    string
		options map[string]any
		brief   bool // also in the short run
	}{
		{"direct", nil, true},
		{"direct without confirms", map[string]any{"confirms": false, "durable": false, "ack_every": 3, "prefetch": 10}, false},
		{"library", map[string]any{"client": "library"}, false},
	}
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			if testing.Short() && !mode.brief {
				t.Skip("a variant")
			}
			h := harness(t, c, mode.options)
			if mode.brief {
				h.Restart = brokertest.Restart(t, c)
				h.Unacked = func(run string) (int, error) { return unacked(t, c, run) } // takes seconds
				h.Impatient, h.Silence = &driver.Target{URL: c.URL, Options: with(mode.options, "heartbeat", "1s")}, 2*time.Second
			}
			over := as(secured, mode.options)
			h.Encrypted = &over
			drivertest.Run(t, h)
		})
	}
}

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

func harness(t *testing.T, c *brokers.Cluster, options map[string]any) drivertest.Harness {
	return drivertest.Harness{
		Entry:  rabbitmq.Entry(),
		Target: driver.Target{URL: c.URL, Options: with(options)},
		At: func(address string) driver.Target {
			return driver.Target{URL: "amqp://" + address, Options: with(options)}
		},
		WrongPassword: &driver.Target{URL: c.URL, Options: with(options, "password", "byron")},
		MaxPayload:    maxMessage,
		TooLarge:      maxMessage + 1,
		Freeze:        brokertest.Freeze(t, c),
		Thaw:          brokertest.Thaw(t, c),
		Given: func(run, topic string) (string, string) {
			return "s9." + run + "/" + topic + "/" + topic, "s9." + run + "/" + topic + "/g0"
		},
		Leftovers: func(run string) ([]string, error) { return leftovers(c, run) },
		Observe:   observe(c),
	}
}

// observe has a client look by a queue of its own.
func observe(c *brokers.Cluster) func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
	return func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
		conn, err := amqp.Dial(strings.Replace(c.URL, "://", "://"+user+":"+password+"@", 1))
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		ch, err := conn.Channel()
		if err != nil {
			return nil, err
		}
		q, err := ch.QueueDeclare("", false, true, true, false, nil)
		if err != nil {
			return nil, err
		}
		if err := ch.QueueBind(q.Name, topic, "s9."+run+"/"+topic, false, nil); err != nil {
			return nil, err
		}
		deliveries, err := ch.Consume(q.Name, "", true, true, false, false, nil)
		if err != nil {
			return nil, err
		}
		return rabbittest.Observing(deliveries), nil
	}
}

// leftovers lists the queues and exchanges of a run, by asking for all names
// that one can have.
func leftovers(c *brokers.Cluster, run string) ([]string, error) {
	conn, err := amqp.Dial(strings.Replace(c.URL, "://", "://"+user+":"+password+"@", 1))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var found []string
	prefix := "s9." + run
	for _, topic := range []string{"t0", "t1"} {
		for _, name := range []string{prefix + "/" + topic, prefix + "/" + topic + "/g0", prefix + "/" + topic + "//sink",
			prefix + "//consumer-0", prefix + "//consumer-1"} {
			for _, ask := range []func(ch *amqp.Channel) error{
				func(ch *amqp.Channel) error {
					return ch.ExchangeDeclarePassive(name, "direct", true, false, false, false, nil)
				},
				func(ch *amqp.Channel) error {
					_, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
					return err
				},
			} {
				ch, err := conn.Channel()
				if err != nil {
					return nil, err
				}
				if ask(ch) == nil {
					found = append(found, name)
				}
				ch.Close()
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// testLeftoversAreSeen makes sure that the conformance test's look at the
// broker would find something, and all of it.
func testLeftoversAreSeen(t *testing.T, b *broker) {
	s := b.open(t, nil, nil)
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, Consumers: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(driver.Message) {}); err != nil {
		t.Fatal(err)
	}
	found, err := leftovers(b.Cluster, "test")
	if err != nil || len(found) != 3 {
		t.Errorf("found %q, %v", found, err)
	}
	if all := b.list(t); len(all) != len(found) {
		t.Errorf("the broker knows of %q, and the look finds %q", all, found)
	}
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
	if all := b.list(t); len(all) != 0 {
		t.Errorf("Deprovision leaves %q", all)
	}

	// The exchange is made, and then the queue is refused.
	s = b.open(t, map[string]any{"queue_arguments": "x-max-priority=1000"}, nil)
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, Consumers: 1}); !errors.Is(err, driver.ErrRejected) {
		t.Fatalf("a queue with impossible arguments: %v", err)
	}
	if all := b.list(t); len(all) != 1 {
		t.Fatalf("after half of the set-up: %q", all)
	}
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
	if all := b.list(t); len(all) != 0 {
		t.Errorf("Deprovision leaves %q of half of the set-up", all)
	}
}

// list asks the broker itself for everything of the run "test".
func (b *broker) list(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, what := range []string{"list_queues", "list_exchanges"} {
		lines, err := brokertest.RabbitMQControl(t, b.Cluster, what, "name")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if strings.HasPrefix(line, "s9.test") {
				all = append(all, line)
			}
		}
	}
	return all
}

// unacked counts what consumers of the run have and have not acknowledged.
func unacked(t *testing.T, c *brokers.Cluster, run string) (int, error) {
	lines, err := brokertest.RabbitMQControl(t, c, "list_queues", "name", "messages_unacknowledged")
	total := 0
	for _, line := range lines {
		if name, count, ok := strings.Cut(line, "\t"); ok && strings.Contains(name, run) {
			n, err := strconv.Atoi(count)
			if err != nil {
				return 0, err
			}
			total += n
		}
	}
	return total, err
}
