package pulsar_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/prometheus/client_golang/prometheus"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/pulsar"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// login is for a broker that asks for a token.
func login() brokers.Options {
	return brokers.Options{User: "ada", Password: "lovelace", Settings: map[string]string{"java.heap": "512m"}}
}

// with returns the options of who may log in, and more.
func with(c *brokers.Cluster, more map[string]any) map[string]any {
	all := map[string]any{"token": c.Info["token"]}
	for name, value := range more {
		all[name] = value
	}
	return all
}

// ask reads what the web service has at the path.
func ask(c *brokers.Cluster, path string, into any) error {
	q, err := http.NewRequest(http.MethodGet, c.Info["http"]+"/admin/v2/"+path, nil)
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+c.Info["token"])
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// topics lists those of the run, without their domain.
func topics(c *brokers.Cluster, run string) ([]string, error) {
	var found []string
	for _, list := range []string{"persistent/public/default", "persistent/public/default/partitioned", "non-persistent/public/default"} {
		var all []string
		if err := ask(c, list, &all); err != nil {
			return nil, err
		}
		for _, topic := range all {
			if strings.Contains(topic, run) {
				found = append(found, topic)
			}
		}
	}
	return found, nil
}

// unacked counts the run's entries that a subscription has not acknowledged.
func unacked(c *brokers.Cluster, run string) (n int, err error) {
	var all []string
	if err := ask(c, "persistent/public/default", &all); err != nil {
		return 0, err
	}
	for _, topic := range all {
		if !strings.Contains(topic, run) {
			continue
		}
		var stats struct {
			Subscriptions map[string]struct {
				Backlog int `json:"msgBacklog"`
			} `json:"subscriptions"`
		}
		if err := ask(c, strings.Replace(topic, "://", "/", 1)+"/stats?getPreciseBacklog=true", &stats); err != nil {
			return 0, err
		}
		for _, s := range stats.Subscriptions {
			n += s.Backlog
		}
	}
	return n, nil
}

// observe has a reader of the client library look.
func observe(c *brokers.Cluster) func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
	return func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
		address, _, _ := strings.Cut(c.URL, "/?")
		conn, err := client.NewClient(client.ClientOptions{URL: address, Authentication: client.NewAuthenticationToken(c.Info["token"]),
			Logger: log.DefaultNopLogger(), MetricsRegisterer: prometheus.NewRegistry()})
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, conn.Close)
		reader, err := conn.CreateReader(client.ReaderOptions{Topic: "persistent://public/default/s9." + run + "." + topic,
			StartMessageID: client.EarliestMessageID()})
		if err != nil {
			return nil, err
		}
		return func() (drivertest.Observed, error) {
			m, err := reader.Next(ctx)
			if err != nil {
				return drivertest.Observed{}, err
			}
			o := drivertest.Observed{Payload: m.Payload(), Headers: m.Properties()}
			if m.Key() != "" {
				o.Key = []byte(m.Key())
			}
			return o, nil
		}, nil
	}
}

func harness(t *testing.T, c *brokers.Cluster, more map[string]any) drivertest.Harness {
	options := with(c, more)
	_, web, _ := strings.Cut(c.URL, "/?")
	h := drivertest.Harness{
		Entry:  pulsar.Entry(),
		Target: driver.Target{URL: c.URL, Options: options},
		At: func(address string) driver.Target {
			return driver.Target{URL: "pulsar://" + address + "/?" + web, Options: options}
		},
		WrongPassword: &driver.Target{URL: c.URL, Options: map[string]any{"token": c.Info["token"] + "x"}},
		TooLarge:      5<<20 + 1,
		Freeze:        brokertest.Freeze(t, c),
		Thaw:          brokertest.Thaw(t, c),
		Leftovers:     func(run string) ([]string, error) { return topics(c, run) },
		Unacked:       func(run string) (int, error) { return unacked(c, run) },
		Observe:       observe(c),
	}
	if !testing.Short() {
		// Where the race detector runs it finds one in the client library: a producer that
		// reconnects writes its name (grabCnx) while what it sent before is still written.
		h.Restart = brokertest.Restart(t, c)
	}
	return h
}

func TestConformance(t *testing.T) {
	c := brokertest.Start(t, "pulsar", login())
	_, secured := brokertest.Secured(t, "pulsar", pulsar.Entry(), brokers.Options{Settings: login().Settings})
	t.Run("clean", func(t *testing.T) {
		for _, more := range []map[string]any{nil, {"partitions": 2}} {
			sessiontest.Cleans(t, pulsar.Entry().Driver, driver.Target{URL: c.URL, Options: with(c, more)}, true)
		}
	})
	t.Run("default", func(t *testing.T) {
		h := harness(t, c, nil)
		h.Impatient = &driver.Target{URL: c.URL, Options: with(c, map[string]any{"keep_alive": "1s"})}
		h.Silence = 3 * time.Second
		h.Encrypted = &secured
		drivertest.Run(t, h)
	})
	// A role that has the driver's rights and no others.
	t.Run("secured", func(t *testing.T) {
		elsewhere := secured
		elsewhere.Options = maps.Clone(secured.Options)
		elsewhere.Options["namespace"] = "public/default"
		drivertest.RunLimited(t, drivertest.Harness{Entry: pulsar.Entry(), Target: secured, Elsewhere: &elsewhere})
	})
	if testing.Short() {
		t.Skip("the default only")
	}
	for name, more := range map[string]map[string]any{
		"partitions":          {"partitions": 3, "compression": "zstd"},
		"keys of subscribers": {"subscription": "key_shared", "batching": "always"},
		"each at once":        {"ack_group_size": 1, "receiver_queue": 1},
	} {
		t.Run(name, func(t *testing.T) {
			drivertest.Run(t, harness(t, c, more))
		})
	}
	t.Run("tokens of others", func(t *testing.T) { renewed(t, c) })
	t.Run("non-persistent", func(t *testing.T) { nonPersistent(t, c) })
	t.Run("failover", func(t *testing.T) { failsOver(t, c) })
}

// renewed: the token comes from a file, or from a service.
func renewed(t *testing.T, c *brokers.Cluster) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(c.Info["token"]), 0o600); err != nil {
		t.Fatal(err)
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "bench" || secret != "pw" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintf(w, `{"access_token":%q,"expires_in":60}`, c.Info["token"])
	}))
	defer service.Close()
	for _, options := range []map[string]any{{"token_file": file}, {"token_url": service.URL, "client_id": "bench", "client_secret": "pw"}} {
		sessiontest.Works(t, pulsar.Entry().Driver, driver.Target{URL: c.URL, Options: options, Run: "renewed"})
	}
	options := map[string]any{"token_url": service.URL, "client_id": "bench", "client_secret": "wrong"}
	if _, err := pulsar.Entry().Driver.Open(t.Context(), driver.Target{URL: c.URL, Options: options, Run: "renewed"}); !errors.Is(err, driver.ErrUnauthorized) {
		t.Errorf("a wrong secret: %v", err)
	}
}

// nonPersistent: topics that keep nothing deliver what their consumers are ready for.
// The suite asks for groups of acknowledgements, which they do not have.
func nonPersistent(t *testing.T, c *brokers.Cluster) {
	options := with(c, map[string]any{"persistent": false})
	target := driver.Target{URL: c.URL, Options: options, Run: "volatile"}
	if got := sessiontest.Works(t, pulsar.Entry().Driver, target); got.Durability != "memory of the broker" || len(got.Warnings) == 0 {
		t.Errorf("%+v", got)
	}
	s := sessiontest.Open(t, pulsar.Entry().Driver, target)
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Producers: 1, Consumers: 1, MaxSize: 64}); err != nil {
		t.Fatal(err)
	}
	var got, acks sessiontest.Counter
	sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
	p := sessiontest.Produce(t, s, &acks)
	const n = 500 // fewer than a consumer is ready for
	for range n {
		if err := p.Send(1, []byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	if failed := acks.Await(t, n); failed != nil {
		t.Error(failed)
	}
	got.Await(t, n)
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
}

// failsOver: of two consumers of a failover subscription one gets everything, and the
// other one what comes after the first has closed.
func failsOver(t *testing.T, c *brokers.Cluster) {
	target := driver.Target{URL: c.URL, Options: with(c, map[string]any{"subscription": "failover"}), Run: "failover"}
	s := sessiontest.Open(t, pulsar.Entry().Driver, target)
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, Producers: 1, Consumers: 2, MaxSize: 64}); err != nil {
		t.Fatal(err)
	}
	var got [2]sessiontest.Counter
	var all [2]driver.Consumer
	for id := range all {
		all[id] = sessiontest.Consume(t, s, driver.ConsumerSpec{ID: id, Conn: id, Group: "g0"}, got[id].Deliver)
	}
	var acks sessiontest.Counter
	p := sessiontest.Produce(t, s, &acks)
	send := func() {
		for range 100 {
			if err := p.Send(1, []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
	}
	send()
	acks.Await(t, 100)
	for limit := time.Now().Add(sessiontest.Patience); got[0].Count()+got[1].Count() < 100 && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	active := 0
	if got[1].Count() > 0 {
		active = 1
	}
	if got[active].Count() != 100 || got[1-active].Count() != 0 {
		t.Fatalf("the consumers got %d and %d of 100", got[0].Count(), got[1].Count())
	}
	if err := all[active].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	send()
	got[1-active].Await(t, 100)
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
}
