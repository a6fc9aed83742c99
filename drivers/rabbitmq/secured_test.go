package rabbitmq_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"regexp"
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/rabbitmq"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// testSecured is the suite at a secured broker, with a user that has the driver's rights and no others.
func testSecured(t *testing.T, secured driver.Target) {
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			drivertest.RunLimited(t, drivertest.Harness{Entry: rabbitmq.Entry(), Target: as(secured, map[string]any{"client": client}),
				Given: func(run, topic string) (string, string) {
					return secured.Prefix + run + "/" + topic + "/" + topic, secured.Prefix + run + "/" + topic + "/g0"
				}})
		})
	}
}

// testLittle lets the account have what every run needs, and not what some do: to publish by queues' names. Nothing is tried
// again with each message.
func testLittle(t *testing.T, c *brokers.Cluster, target driver.Target) {
	own := "^" + regexp.QuoteMeta(target.Prefix)
	allow(t, c, own, own, own)
	for _, confirms := range []bool{true, false} {
		var asked atomic.Int64
		counting := as(target, map[string]any{"confirms": confirms})
		counting.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil && driver.RoleOf(ctx) == driver.RoleControl {
				raw = &counted{raw, &asked}
			}
			return raw, err
		}
		s := sessiontest.Open(t, rabbitmq.Entry().Driver, counting)
		if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Producers: 1, MaxSize: 64}); err != nil {
			t.Fatal(err)
		}
		var acks sessiontest.Counter
		p := sessiontest.Produce(t, s, &acks)
		before := asked.Load()
		const n = 20
		send(t, p, 1, n)
		if failed := acks.Await(t, n); failed != nil {
			t.Error(failed)
		}
		if more := asked.Load() - before; more >= n {
			t.Errorf("confirms %t: %d messages are sent, and the connection that declares is written to %d times", confirms, n, more)
		}
		if err := s.Deprovision(t.Context()); err != nil {
			t.Error(err)
		}
	}
	// Who may make nothing has left nothing.
	allow(t, c, "^$", own, own)
	s := sessiontest.Open(t, rabbitmq.Entry().Driver, target)
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Consumers: 2}); !errors.Is(err, driver.ErrForbidden) {
		t.Errorf("an account that may make nothing: %v", err)
	}
	if err := s.Deprovision(t.Context()); err != nil {
		t.Errorf("nothing was made: %v", err)
	}
}

// allow gives the account the rights to configure, write and read.
func allow(t *testing.T, c *brokers.Cluster, rights ...string) {
	t.Helper()
	if _, err := brokertest.RabbitMQControl(t, c, append([]string{"set_permissions", "bench"}, rights...)...); err != nil {
		t.Fatal(err)
	}
}

// counted counts writes.
type counted struct {
	net.Conn
	writes *atomic.Int64
}

func (c *counted) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// as returns the target with more options.
func as(t driver.Target, options map[string]any) driver.Target {
	t.Options = maps.Clone(t.Options)
	maps.Copy(t.Options, options)
	return t
}
