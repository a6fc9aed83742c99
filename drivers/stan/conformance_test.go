package stan_test

import (
	"maps"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/stan"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// maxPayload is a size in bytes that the test's server is configured to carry.
const maxPayload = 1_000_000

// conform runs the suite against a server of its own.
func conform(t *testing.T, o brokers.Options, target driver.Target) {
	o.MaxMessage = maxPayload
	if o.Settings == nil {
		o.Settings = map[string]string{}
	}
	// No client can delete a channel; the server can forget it.
	o.Settings["max_inactivity"] = "5s" // long enough for what is kept to be used again
	c := brokertest.Start(t, "nats-streaming", o)
	m := monitor{c.Info["monitoring"]}
	target.URL = c.URL
	target.Options = maps.Clone(target.Options)
	if target.Options == nil {
		target.Options = map[string]any{}
	}
	target.Options["http_url"] = c.Info["monitoring"]
	at := func(address string) driver.Target {
		scheme := "nats://"
		if target.TLS != nil {
			scheme = "tls://"
		}
		elsewhere := target
		elsewhere.URL = scheme + address
		return elsewhere
	}
	h := drivertest.Harness{
		Entry:      stan.Entry(),
		Target:     target,
		At:         at,
		MaxPayload: maxPayload,
		TooLarge:   maxPayload + 8<<10,
		Freeze:     brokertest.Freeze(t, c),
		Thaw:       brokertest.Thaw(t, c),
		Restart:    brokertest.Restart(t, c),
		Leftovers:  m.leftovers,
		Unacked:    m.unacked,
		Forgets:    true,
	}
	if o.TLS == nil {
		options := map[string]any{"ping_interval": "1s"}
		maps.Copy(options, target.Options)
		h.Impatient, h.Silence = &driver.Target{URL: c.URL, Options: options}, 2*time.Second
		h.Encrypted = brokertest.Encrypted(t, "nats-streaming", o, func(c *brokers.Cluster) driver.Target {
			return driver.Target{URL: c.URL, Options: target.Options}
		})
	}
	if o.Password != "" {
		h.WrongPassword = &driver.Target{URL: c.URL, Options: map[string]any{"user": o.User, "password": "byron"}}
	}
	drivertest.Run(t, h)
}

func TestConformance(t *testing.T) {
	conform(t, brokers.Options{User: "ada", Password: "lovelace"},
		driver.Target{Options: map[string]any{"user": "ada", "password": "lovelace"}})
}

func TestConformanceOfVariants(t *testing.T) {
	if testing.Short() {
		t.Skip("variants are left out of short runs")
	}
	certificates := brokertest.NewCertificates(t)
	for name, v := range map[string]struct {
		broker brokers.Options
		target driver.Target
	}{
		"file store, durable, TLS with client certificates": {
			brokers.Options{Settings: map[string]string{"store": "file", "file_sync": "false"}, TLS: certificates.Server(true)},
			driver.Target{Options: map[string]any{"durable": true}, TLS: certificates.Client(true)},
		},
	} {
		t.Run(name, func(t *testing.T) { conform(t, v.broker, v.target) })
	}
}

// TestUnackedIsSeen makes sure that the conformance test's look at the server
// would find something.
func TestUnackedIsSeen(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	s := open(t, driver.Target{URL: c.URL})
	var got sessiontest.Counter
	sessiontest.Consume(t, s, driver.ConsumerSpec{Group: "g0", Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 7}}, got.Deliver)
	p := sessiontest.Produce(t, s, new(sessiontest.Counter))
	for i := range 10 {
		if err := p.Send(uint64(i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	got.Await(t, 10)
	for {
		n, err := monitor{c.Info["monitoring"]}.unacked("test")
		switch {
		case err != nil || n < 3:
			t.Fatalf("%d messages of 10 are not acknowledged where every 7 are, %v", n, err)
		case n == 3:
			return
		}
	}
}
