package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/jetstream"
	"sixnines/internal/brokers"
)

// relay answers requests to an API of its own by what the server's own says, but
// refuses so many of the kind with an error of the number; without a number it
// does not answer them. It returns how many it has refused.
func relay(t *testing.T, b *brokers.Cluster, prefix, kind string, number int, times int32) *atomic.Int32 {
	t.Helper()
	nc, err := client.Connect(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	refused := new(atomic.Int32)
	if _, err := nc.Subscribe(prefix+".>", func(m *client.Msg) {
		subject := strings.TrimPrefix(m.Subject, prefix+".")
		if strings.HasPrefix(subject, kind) && refused.Load() < times {
			refused.Add(1)
			if number != 0 {
				m.Respond(fmt.Appendf(nil, `{"error":{"code":503,"err_code":%d,"description":"not yet"}}`, number))
			}
			return
		}
		if answer, err := nc.Request("$JS.API."+subject, m.Data, 10*time.Second); err == nil {
			m.Respond(answer.Data)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return refused
}

// TestPassingErrors has the API answer a few times with what goes away by itself,
// and wants a run set up all the same.
func TestPassingErrors(t *testing.T) {
	b := startBroker(t, brokers.Options{})
	for i, test := range []struct {
		name, kind string
		number     int
	}{
		{"no leader of the cluster at first", "INFO", 10008},
		{"a directory that goes", "STREAM.CREATE", 10049},
		{"no answer for a stream", "STREAM.DELETE", 0},
		{"no leader of a stream", "STREAM.INFO", 10009},
		{"a consumer that is not there yet", "CONSUMER.CREATE", 10119},
	} {
		t.Run(test.name, func(t *testing.T) {
			prefix := fmt.Sprintf("RELAY%d", i)
			refused := relay(t, b, prefix, test.kind, test.number, 8)
			works(t, driver.Target{URL: b.URL, Options: map[string]any{"api_prefix": prefix, "api_timeout": "50ms"}},
				driver.Topology{}, driver.ConsumerSpec{})
			if n := refused.Load(); n < 8 {
				t.Errorf("refused %d times only", n)
			}
		})
	}
	t.Run("for ever", func(t *testing.T) {
		relay(t, b, "RELAY", "STREAM.CREATE", 10049, 1<<30)
		s, err := jetstream.Entry().Driver.Open(t.Context(), driver.Target{URL: b.URL, Run: "ever", Options: map[string]any{"api_prefix": "RELAY"}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(context.Background())
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err = s.Provision(ctx, driver.Topology{Topics: []string{"t0"}})
		if !errors.Is(err, driver.ErrTimeout) || !strings.Contains(err.Error(), "not yet (10049)") {
			t.Errorf("%v; want a time-out that names the last cause", err)
		}
	})
}
