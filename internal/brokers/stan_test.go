package brokers_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// stored asks a NATS Streaming server for its store.
func stored(t *testing.T, c *brokers.Cluster) (kind string, channels int) {
	t.Helper()
	answer, err := http.Get(c.Info["monitoring"] + "/streaming/storez")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer answer.Body.Close()
	var store struct {
		Type   string
		Limits struct {
			Channels int `json:"max_channels"`
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&store); err != nil {
		t.Fatal(err)
	}
	return store.Type, store.Limits.Channels
}

func TestNATSStreamingRunsAndComesBack(t *testing.T) {
	for name, test := range map[string]struct {
		settings map[string]string
		store    string
		channels int
	}{
		"memory": {nil, "MEMORY", 0},
		"file":   {map[string]string{"store": "file", "file_sync": "false", "max_channels": "7"}, "FILE", 7},
	} {
		t.Run(name, func(t *testing.T) {
			c := brokertest.Start(t, "nats-streaming", brokers.Options{Settings: test.settings})
			t.Logf("%s %s (%s) at %s in %s", c.Product, c.Version, c.Origin, c.URL, c.Dir)
			before := c.Nodes()[0].PID
			brokertest.Restart(t, c)()
			if kind, channels := stored(t, c); kind != test.store || channels != test.channels {
				t.Errorf("the store is %s with up to %d channels", kind, channels)
			}
			if c.Nodes()[0].PID == before {
				t.Error("the restart has not replaced the process")
			}
		})
	}
}

func TestNATSStreamingRefusesItsOwnNonsense(t *testing.T) {
	p, _ := brokers.Lookup("nats-streaming")
	h := brokertest.Home(t)
	if _, err := p.Find(t.Context(), h); err != nil {
		brokertest.Missing(t, err)
	}
	for name, o := range map[string]brokers.Options{
		"unknown flag":      {Settings: map[string]string{"no_such_flag": "1"}},
		"too large message": {MaxMessage: 1 << 31},
		"two nodes":         {Nodes: 2},
	} {
		o.Home = h
		if c, err := brokers.Start(t.Context(), p, o); err == nil {
			c.Stop(t.Context())
			t.Errorf("%s: it starts", name)
		}
	}
}

func TestNATSStreamingPlan(t *testing.T) {
	p, _ := brokers.Lookup("nats-streaming")
	steps, err := p.Plan(t.Context(), brokers.Home{Dir: t.TempDir(), Environ: []string{"PATH="}})
	if err != nil || len(steps) != 1 {
		t.Fatalf("steps %v, %v", steps, err)
	}
	if len(steps[0].Moves) != 1 || steps[0].Root {
		t.Errorf("step %+v is not staged, or wants the administrator", steps[0])
	}
}
