package rabbitmqstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit/rabbittest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/rabbitmqstream"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestRecovery kills the broker under a producer and a consumer, which come back
// by themselves. What was confirmed arrives once.
func TestRecovery(t *testing.T) {
	if testing.Short() {
		t.Skip("another broker takes a while")
	}
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) { testRecovery(t, client) })
	}
}

func testRecovery(t *testing.T, client string) {
	c := brokertest.Start(t, "rabbitmq", brokers.Options{User: user, Password: password})
	o := rabbittest.NewOutcomes()
	s := sessiontest.Open(t, rabbitmqstream.Entry().Driver, driver.Target{URL: c.URLFor("rabbitmq-stream"), Options: with(map[string]any{"client": client}), Notify: o.Notify})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); err != nil {
		t.Fatal(err)
	}
	if found, err := leftovers(t, c, "test"); err != nil || len(found) != 1 {
		t.Errorf("found %q, %v", found, err)
	}
	sessiontest.Consume(t, s, driver.ConsumerSpec{}, o.Deliver)
	p := sessiontest.Produce(t, s, o)
	sent := 0
	send := func() {
		token := uint64(sent)
		switch err := p.Send(token, fmt.Appendf(nil, "message %d", token)); {
		case err == nil:
			sent++
		case !errors.Is(err, driver.ErrNotConnected):
			t.Errorf("send: %v", err)
		}
	}
	for range 100 {
		send()
	}
	o.Until(t, "before the restart", func() bool { return len(o.Payloads) == 100 && len(o.Errs) == 100 }, nil)
	restart(t, c)()
	o.Until(t, "after the restart", func() bool {
		return o.Told(driver.Disconnected) >= 2 && o.Told(driver.Reconnected) >= 2 && len(o.Payloads) >= 200
	}, send)
	o.Until(t, "at the end", func() bool { return len(o.Errs) == sent }, nil)
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	seen := map[string]int{}
	o.Until(t, "what was confirmed", func() bool {
		clear(seen)
		for _, payload := range o.Payloads {
			seen[payload]++
		}
		for token, err := range o.Errs {
			if err == nil && seen[fmt.Sprintf("message %d", token)] == 0 {
				return false
			}
		}
		return true
	}, nil)
	for payload, n := range seen {
		if n > 1 {
			t.Errorf("%q was delivered %d times", payload, n)
		}
	}
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
	if found, err := leftovers(t, c, "test"); err != nil || len(found) != 0 {
		t.Errorf("after Deprovision found %q, %v", found, err)
	}
}

// restart kills the broker, but not before it has written down that it has a
// coordinator of streams: it does so half a second after it has made one, and
// when it is killed before, no stream ever comes back.
func restart(t *testing.T, c *brokers.Cluster) func() {
	return func() {
		t.Helper()
		limit := time.After(30 * time.Second) // only how long a failure takes
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for {
			files, err := filepath.Glob(filepath.Join(c.Dir, "*", "data", "*", "coordination", "*", "names.dets"))
			if err != nil || len(files) == 0 {
				t.Fatalf("the broker's register of coordinators is not where it was: %v", err)
			}
			if text, err := os.ReadFile(files[0]); err != nil {
				t.Fatal(err)
			} else if bytes.Contains(text, []byte("rabbit_stream_coordinator")) {
				break
			}
			select {
			case <-look.C:
			case <-limit:
				t.Fatal("the broker does not write down that it has a coordinator of streams")
			}
		}
		brokertest.Restart(t, c)()
	}
}
