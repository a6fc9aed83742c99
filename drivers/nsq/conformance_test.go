package nsq_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/nsq"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// stats is what nsqd tells of its topics, as far as it is looked at here.
type stats struct {
	Topics []struct {
		Name     string `json:"topic_name"`
		Depth    int    `json:"depth"`
		Channels []struct {
			Name     string `json:"channel_name"`
			Depth    int    `json:"depth"`
			InFlight int    `json:"in_flight_count"`
			Deferred int    `json:"deferred_count"`
		} `json:"channels"`
	} `json:"topics"`
}

func ask(c *brokers.Cluster) (stats, error) {
	var s stats
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(c.Info["http"] + "/stats?format=json")
	if err != nil {
		return s, err
	}
	defer answer.Body.Close()
	return s, json.NewDecoder(answer.Body).Decode(&s)
}

// topics lists those of the run.
func topics(c *brokers.Cluster, run string) ([]string, error) {
	s, err := ask(c)
	var found []string
	for _, topic := range s.Topics {
		if strings.Contains(topic.Name, run) {
			found = append(found, topic.Name)
		}
	}
	return found, err
}

// unacked counts the run's messages that nobody has finished.
func unacked(c *brokers.Cluster, run string) (n int, err error) {
	s, err := ask(c)
	for _, topic := range s.Topics {
		if strings.Contains(topic.Name, run) {
			n += topic.Depth
			for _, channel := range topic.Channels {
				n += channel.Depth + channel.InFlight + channel.Deferred
			}
		}
	}
	return n, err
}

func harness(t *testing.T, c *brokers.Cluster, url string, options map[string]any) drivertest.Harness {
	return drivertest.Harness{
		Entry:  nsq.Entry(),
		Target: driver.Target{URL: url, Options: options},
		At: func(address string) driver.Target {
			return driver.Target{URL: "nsq://" + address, Options: options}
		},
		MaxPayload: 1 << 20,
		TooLarge:   1<<20 + 1,
		Freeze:     brokertest.Freeze(t, c),
		Thaw:       brokertest.Thaw(t, c),
		Restart:    brokertest.Restart(t, c),
		Leftovers:  func(run string) ([]string, error) { return topics(c, run) },
		Unacked:    func(run string) (int, error) { return unacked(c, run) },
		Encrypted: brokertest.Encrypted(t, "nsq", brokers.Options{}, func(c *brokers.Cluster) driver.Target {
			return driver.Target{URL: c.URL, Options: options}
		}),
	}
}

func TestConformance(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{MaxMessage: 1 << 20})
	t.Run("default", func(t *testing.T) {
		h := harness(t, c, c.URL, nil)
		h.Impatient = &driver.Target{URL: c.URL, Options: map[string]any{"heartbeat_interval": "1s"}}
		h.Silence = 2 * time.Second
		drivertest.Run(t, h)
	})
	if testing.Short() {
		t.Skip("the default only")
	}
	for _, name := range []string{"snappy", "deflate"} {
		t.Run(name, func(t *testing.T) {
			drivertest.Run(t, harness(t, c, c.URL, map[string]any{name: true}))
		})
	}
	t.Run("ephemeral", func(t *testing.T) {
		h := harness(t, c, fmt.Sprintf("nsq://%s", brokertest.Address(t, c.URL)), nil)
		drivertest.Run(t, h)
	})
	t.Run("library", func(t *testing.T) {
		h := harness(t, c, c.URL, map[string]any{"client": "library"})
		h.Impatient = &driver.Target{URL: c.URL, Options: map[string]any{"client": "library", "heartbeat_interval": "1s"}}
		h.Silence = 2 * time.Second
		drivertest.Run(t, h)
	})
}
