package mqtt_test

import (
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/mqtt"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// harness is the suite's, for Mosquitto with a login.
func harness(t *testing.T, c *brokers.Cluster, login map[string]any) drivertest.Harness {
	h := drivertest.Harness{
		Entry:  mqtt.Entry(),
		Target: driver.Target{URL: c.URL, Options: login},
		At: func(address string) driver.Target {
			return driver.Target{URL: "mqtt://" + address, Options: login}
		},
		WrongPassword: &driver.Target{URL: c.URL, Options: options(login, "password", "byron")},
		MaxPayload:    1 << 20,
		Freeze:        brokertest.Freeze(t, c),
		Thaw:          brokertest.Thaw(t, c),
		Restart:       brokertest.Restart(t, c),
		Leftovers: func(run string) ([]string, error) {
			return retained(brokertest.Address(t, c.URL), "ada", "lovelace", run)
		},
		Observe: observe(brokertest.Address(t, c.URL), "ada", "lovelace"),
		Encrypted: brokertest.Encrypted(t, "mosquitto", brokers.Options{User: "ada", Password: "lovelace"}, func(c *brokers.Cluster) driver.Target {
			return driver.Target{URL: c.URL, Options: login}
		}),
		Impatient: &driver.Target{URL: c.URL, Options: options(login, "keep_alive", "1s")},
		Silence:   1500 * time.Millisecond,
	}
	if login["client"] == "library" && login["version"] == "3.1.1" {
		// The library looks four times in keep_alive whether to ping, and Mosquitto counts
		// whole seconds: one second is too short for both.
		h.Impatient.Options["keep_alive"], h.Silence = "2s", 3*time.Second
	}
	if login["qos"] != nil {
		h.Impatient = nil // it takes seconds, and the quality changes nothing in it
	}
	if login["qos"] == 0 {
		h.Entry.Capabilities.ConsumerAck = false // there is nothing to acknowledge
	}
	if login["version"] != "3.1.1" && login["qos"] != 0 {
		h.TooLarge = 1<<20 + 1 // without a reason code nobody learns of it
	}
	return h
}

func TestConformance(t *testing.T) {
	c := mosquitto(t, brokers.Options{User: "ada", Password: "lovelace", MaxMessage: 1 << 20})
	login := map[string]any{"user": "ada", "password": "lovelace"}
	t.Run("default", func(t *testing.T) { drivertest.Run(t, harness(t, c, login)) })
	t.Run("websocket", func(t *testing.T) { testWebSocket(t, c, login) })
	if testing.Short() {
		t.Skip("the default only")
	}
	// Mosquitto looks messages in flight up one by one, which takes long if there
	// are many.
	for name, more := range map[string][]any{
		"5 with quality 0":                {"qos", 0},
		"5 by the library":                {"client", "library"},
		"5 by the library with quality 0": {"client", "library", "qos", 0},
		"5 by the library with quality 2, retained, with aliases, few in flight": {"client", "library", "qos", 2, "retain", true, "topic_alias", true, "max_inflight", 7},
		"3.1.1 by the library":                                    {"client", "library", "version", "3.1.1"},
		"3.1.1 by the library with quality 0":                     {"client", "library", "version", "3.1.1", "qos", 0},
		"3.1.1 by the library with quality 2, few in flight":      {"client", "library", "version", "3.1.1", "qos", 2, "max_inflight", 7},
		"3.1.1 with quality 1":                                    {"version", "3.1.1"},
		"3.1.1 with quality 2":                                    {"version", "3.1.1", "qos", 2, "max_inflight", 100},
		"5 with quality 2, retained, with aliases, few in flight": {"qos", 2, "retain", true, "topic_alias", true, "max_inflight", 7},
	} {
		t.Run(name, func(t *testing.T) { drivertest.Run(t, harness(t, c, options(login, more...))) })
	}
}
