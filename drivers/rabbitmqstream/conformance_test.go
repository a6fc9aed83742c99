package rabbitmqstream_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/internal/rabbit/rabbittest"
	"sixnines/drivers/rabbitmqstream"
	"sixnines/drivers/rabbitmqstream/wire"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

const user, password = "ada", "lovelace"

// The check of a restart is not among these but in TestRecovery, with a broker
// of its own: 3.10.8, when it has been killed, starts every stream again that it
// ever had, those that were deleted included, and after the suite's dozens was
// seen not to come to an end with it.
func TestConformance(t *testing.T) {
	c := brokertest.Start(t, "rabbitmq", brokers.Options{User: user, Password: password})
	_, secured := brokertest.Secured(t, "rabbitmq", rabbitmqstream.Entry(), brokers.Options{})
	as := func(options map[string]any) driver.Target {
		to := secured
		to.Options = maps.Clone(secured.Options)
		maps.Copy(to.Options, options)
		return to
	}
	entries := map[string]any{"sub_entry_size": 7, "compression": "gzip", "deduplication": true}
	for _, mode := range []struct {
		name      string
		options   map[string]any
		brief     bool   // also in the short run
		heartbeat string // the shortest that the client takes
		silence   time.Duration
	}{
		{"direct", nil, true, "1s", 2 * time.Second},
		{"direct, sub-entries", merged(entries, "write_buffer", "16KiB"), false, "1s", 2 * time.Second},
		{"library", map[string]any{"client": "library"}, false, "3s", 6 * time.Second},
		{"library, sub-entries", merged(entries, "client", "library"), false, "3s", 6 * time.Second},
	} {
		t.Run(mode.name, func(t *testing.T) {
			if testing.Short() && !mode.brief {
				t.Skip("a variant")
			}
			over := as(mode.options)
			url, options := c.URLFor("rabbitmq-stream"), with(mode.options)
			h := drivertest.Harness{
				Entry:  rabbitmqstream.Entry(),
				Target: driver.Target{URL: url, Options: options},
				At: func(address string) driver.Target {
					return driver.Target{URL: "rabbitmq-stream://" + address, Options: options}
				},
				WrongPassword: &driver.Target{URL: url, Options: merged(options, "password", "byron")},
				TooLarge:      2 << 20,
				Freeze:        brokertest.Freeze(t, c),
				Thaw:          brokertest.Thaw(t, c),
				Leftovers:     func(run string) ([]string, error) { return leftovers(t, c, run) },
				Observe:       observe(c),
				Unacked:       func(run string) (int, error) { return unacked(t, c, run) },
				Impatient:     &driver.Target{URL: url, Options: merged(options, "heartbeat", mode.heartbeat)},
				Silence:       mode.silence,
				Encrypted:     &over,
			}
			if mode.options["sub_entry_size"] != nil {
				h.Observe = nil // AMQP 0-9-1 is not given what lies in such entries
			}
			drivertest.Run(t, h)
		})
	}
	// With an account that has the driver's rights and no others.
	for _, client := range []string{"direct", "library"} {
		t.Run("secured, "+client, func(t *testing.T) {
			drivertest.RunLimited(t, drivertest.Harness{Entry: rabbitmqstream.Entry(), Target: as(map[string]any{"client": client})})
		})
	}
}

// observe has a client look that speaks AMQP 0-9-1.
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
		if err := ch.Qos(1000, 0, false); err != nil { // more than there are messages
			return nil, err
		}
		deliveries, err := ch.Consume("s9."+run+"."+topic, "", false, false, false, false, amqp.Table{"x-stream-offset": "first"})
		if err != nil {
			return nil, err
		}
		return rabbittest.Observing(deliveries), nil
	}
}

func with(more map[string]any) map[string]any {
	all := map[string]any{"user": user, "password": password}
	maps.Copy(all, more)
	return all
}

// merged returns options with one more, or another value of it.
func merged(options map[string]any, name string, value any) map[string]any {
	all := maps.Clone(options)
	all[name] = value
	return all
}

// ask runs f with a connection of the test's own.
func ask(t *testing.T, c *brokers.Cluster, f func(c *wire.Conn) error) error {
	n, err := net.Dial("tcp", brokertest.Address(t, c.URLFor("rabbitmq-stream")))
	if err != nil {
		return err
	}
	conn, err := wire.Open(kit.Conn{Conn: n, Raw: n}, rabbit.Config{VHost: "/", User: user, Password: password})
	if err != nil {
		return err
	}
	defer conn.Close(t.Context())
	return f(conn)
}

// leftovers lists those of the streams that a run can have which exist.
func leftovers(t *testing.T, c *brokers.Cluster, run string) ([]string, error) {
	var found []string
	err := ask(t, c, func(conn *wire.Conn) error {
		for _, topic := range []string{"t0", "t1"} {
			stream := "s9." + run + "." + topic
			if _, err := conn.Locate(t.Context(), stream); err == nil {
				found = append(found, stream)
			} else if e := new(wire.Error); !errors.As(err, &e) || e.Code != wire.NoStream {
				return err
			}
		}
		return nil
	})
	return found, err
}

// ends notes the offset after the last message that it gets.
type ends struct{ after chan uint64 }

func (e ends) Deliver(offset uint64, _ []byte) {
	select {
	case <-e.after:
	default:
	}
	e.after <- offset + 1
}

func (ends) End(error) {}

// rest counts the messages from some place on, up to the one before after.
type rest struct {
	after uint64
	n     int
	whole chan int
}

func (r *rest) Deliver(offset uint64, _ []byte) {
	if offset < r.after {
		r.n++
	}
	if offset+1 == r.after {
		r.whole <- r.n
	}
}

func (*rest) End(error) {}

// unacked counts the messages of a run's first topic beyond the offset that its
// first consumer has stored. The suite has sent some when it asks. Offsets alone
// do not tell: what the server notes of stored ones takes up some among them.
func unacked(t *testing.T, c *brokers.Cluster, run string) (int, error) {
	var open int
	err := ask(t, c, func(conn *wire.Conn) error {
		stream := "s9." + run + ".t0"
		e := ends{make(chan uint64, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in, err := conn.Subscribe(ctx, stream, wire.Last, 0, 1, e)
		if err != nil {
			return err
		}
		after := <-e.after
		in.Close(ctx)
		select {
		case after = <-e.after:
		default:
		}
		var from uint64
		stored, err := conn.StoredOffset(ctx, "s9."+run+".consumer-0", stream)
		switch answer := new(wire.Error); {
		case err == nil:
			from = stored + 1
		case !errors.As(err, &answer) || answer.Code != wire.NoOffset:
			return err
		}
		if from >= after {
			return nil
		}
		r := &rest{after: after, whole: make(chan int, 1)}
		const chunks = 1000 // more than there are messages
		if in, err = conn.Subscribe(ctx, stream, wire.Offset, from, chunks, r); err != nil {
			return err
		}
		select {
		case open = <-r.whole:
		case <-time.After(10 * time.Second):
			return fmt.Errorf("%s: the message at %d did not come again", stream, after-1)
		}
		in.Close(ctx)
		return nil
	})
	return open, err
}
