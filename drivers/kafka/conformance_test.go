package kafka_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/kafka"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// quick are settings of a broker that comes back soon after it was killed: the
// others take it for alive until its session is over.
func quick(more ...string) map[string]string {
	settings := map[string]string{"java.heap": "256m", "broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"}
	for _, line := range more {
		name, value, _ := strings.Cut(line, "=")
		settings[name] = value
	}
	return settings
}

// harness is for a cluster whose clients need the options and tls.
func harness(t *testing.T, c *brokers.Cluster, tls *driver.TLS, options map[string]any) drivertest.Harness {
	return drivertest.Harness{
		Entry:  kafka.Entry(),
		Target: driver.Target{URL: c.URL, TLS: tls, Options: options},
		At: func(address string) driver.Target {
			return driver.Target{URL: address, TLS: tls, Options: options}
		},
		TooLarge:  1<<20 + 1,
		Freeze:    brokertest.Freeze(t, c),
		Thaw:      brokertest.Thaw(t, c),
		Restart:   brokertest.Restart(t, c),
		Leftovers: leftovers(t, c),
		Unacked:   unacked(t, c),
		Observe:   observe(c.Info["internal"]),
	}
}

// leftovers lists a run's topics and groups by way of the listener for nodes,
// which asks for no login.
func leftovers(t *testing.T, c *brokers.Cluster) func(run string) ([]string, error) {
	return func(run string) ([]string, error) {
		client, err := kgo.NewClient(kgo.SeedBrokers(c.Info["internal"]))
		if err != nil {
			return nil, err
		}
		defer client.Close()
		admin := kadm.NewClient(client)
		topics, err := admin.ListTopics(context.Background())
		if err != nil {
			return nil, err
		}
		groups, err := admin.ListGroups(context.Background())
		if err != nil {
			return nil, err
		}
		var found []string
		for _, name := range append(topics.Names(), groups.Groups()...) {
			if strings.Contains(name, run) {
				found = append(found, name)
			}
		}
		return found, nil
	}
}

// observe has a client look that asks for no login.
func observe(address string) func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
	return func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
		client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumeTopics("s9."+run+"."+topic),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, client.Close)
		return func() (o drivertest.Observed, err error) {
			fetches := client.PollRecords(ctx, 1)
			if err := fetches.Err(); err != nil {
				return o, err
			}
			r := fetches.Records()[0]
			o = drivertest.Observed{Payload: r.Value, Key: r.Key, Headers: map[string]string{}}
			for _, h := range r.Headers {
				o.Headers[h.Key] = string(h.Value)
			}
			return o, nil
		}, nil
	}
}

// TestConformance starts one broker for the suite and for what options change:
// starting them is what takes the time.
func TestConformance(t *testing.T) {
	c := brokertest.Start(t, "kafka", brokers.Options{User: "ada", Password: "lovelace",
		Settings: quick("group.consumer.min.heartbeat.interval.ms=200", "group.consumer.heartbeat.interval.ms=200")})
	if !testing.Short() {
		// The listener for nodes asks for no login.
		t.Run("variants", func(t *testing.T) { variants(t, c.Info["internal"]) })
	}
	login := map[string]any{"user": "ada", "password": "lovelace"}
	h := harness(t, c, nil, login)
	h.WrongPassword = &driver.Target{URL: c.URL, Options: map[string]any{"user": "ada", "password": "byron"}}
	// At a secured broker, with a user that has the driver's rights and no others.
	_, secured := brokertest.Secured(t, "kafka", kafka.Entry(), brokers.Options{Settings: quick()})
	h.Encrypted = &secured
	drivertest.Run(t, h)
	t.Run("leftovers are listed", func(t *testing.T) {
		sessiontest.Cleans(t, kafka.Entry().Driver, driver.Target{URL: c.URL, Options: login}, true, "g0")
	})
	for name, options := range map[string]map[string]any{"secured": nil, "secured, transactions": {"transactions": true}} {
		t.Run(name, func(t *testing.T) {
			target := secured
			target.Options = maps.Clone(target.Options)
			maps.Copy(target.Options, options)
			drivertest.RunLimited(t, drivertest.Harness{Entry: kafka.Entry(), Target: target,
				Given: func(run, topic string) (string, string) {
					return secured.Prefix + run + "." + topic, secured.Prefix + run + ".g0"
				}})
		})
	}
}
