package jetstream_test

import (
	"maps"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/natswire/natswiretest"
	"sixnines/drivers/jetstream"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

func TestConformance(t *testing.T) {
	// Each stream reserves 1 GiB, and by itself the server grants what the disk has free at its start.
	b := startBroker(t, brokers.Options{User: "ada", Password: "lovelace", MaxMessage: 1_000_000, Settings: map[string]string{"jetstream.max_file_store": "64GB"}})
	for _, variant := range []struct {
		name    string
		options map[string]any
	}{
		{"as it comes", nil},
		{"library", map[string]any{"client": "library"}},
		{"push", map[string]any{"consume": "push"}},
		{"push by the library", map[string]any{"client": "library", "consume": "push"}},
		{"pull", map[string]any{"consume": "pull", "storage": "memory"}},
		{"pull by the library", map[string]any{"client": "library", "consume": "pull", "pull_batch": 2000, "pull_threshold": 1500}},
		{"fetch by the library", map[string]any{"client": "library", "consume": "fetch", "double_ack": true}},
		{"interest", map[string]any{"retention": "interest"}},
	} {
		if variant.options != nil && testing.Short() {
			continue
		}
		t.Run(variant.name, func(t *testing.T) {
			login := map[string]any{"user": "ada", "password": "lovelace"}
			for name, value := range variant.options {
				login[name] = value
			}
			impatient := maps.Clone(login)
			impatient["ping_interval"], impatient["heartbeat"] = "500ms", "500ms"
			drivertest.Run(t, drivertest.Harness{
				Entry:  jetstream.Entry(),
				Target: driver.Target{URL: b.URL, Options: login},
				At: func(address string) driver.Target {
					return driver.Target{URL: "nats://" + address, Options: login}
				},
				WrongPassword: &driver.Target{URL: b.URL, Options: map[string]any{"user": "ada", "password": "byron"}},
				MaxPayload:    1_000_000,
				TooLarge:      1_000_001,
				Freeze:        brokertest.Freeze(t, b),
				Thaw:          brokertest.Thaw(t, b),
				Restart:       brokertest.Restart(t, b),
				Leftovers:     streams(b, client.UserInfo("ada", "lovelace")),
				Observe:       natswiretest.Observe(b.URL, client.UserInfo("ada", "lovelace")),
				Unacked:       unacked(b, client.UserInfo("ada", "lovelace")),
				Encrypted: brokertest.Encrypted(t, "nats", builtIn(t, brokers.Options{User: "ada", Password: "lovelace"}), func(c *brokers.Cluster) driver.Target {
					return driver.Target{URL: c.URL, Options: login}
				}),
				Impatient: &driver.Target{URL: b.URL, Options: impatient},
				Silence:   time.Second,
				Leaks:     []string{"jetstream.(*jetStream).resetPendingAcksOnReconnect"},
			})
		})
	}
}
