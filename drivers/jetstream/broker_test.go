package jetstream_test

import (
	"context"
	"os"
	"strings"
	"testing"

	client "github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// become makes the test binary the NATS server that is built in.
const become = "__broker-nats"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == become {
		os.Exit(brokers.ServeNATS(os.Stdin, os.Stderr, os.Args[2:]))
	}
	os.Exit(m.Run())
}

// startBroker starts a server, or a cluster of them, that ends with the test.
func startBroker(t testing.TB, o brokers.Options) *brokers.Cluster {
	t.Helper()
	return brokertest.Start(t, "nats", builtIn(t, o))
}

// builtIn returns the options with the server that the test binary is.
func builtIn(t testing.TB, o brokers.Options) brokers.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Home.Self = []string{self, become}
	return o
}

// look calls f with every stream of the server that has run in its name.
func look(c *brokers.Cluster, run string, o []client.Option, f func(js.Stream) error) error {
	ctx := context.Background()
	nc, err := client.Connect(c.URL, o...)
	if err != nil {
		return err
	}
	defer nc.Close()
	j, err := js.New(nc)
	if err != nil {
		return err
	}
	names := j.StreamNames(ctx)
	for name := range names.Name() {
		if !strings.Contains(name, run) {
			continue
		}
		s, err := j.Stream(ctx, name)
		if err != nil {
			return err
		}
		if err := f(s); err != nil {
			return err
		}
	}
	return names.Err()
}

// streams lists the streams with run in their name that the server has.
func streams(c *brokers.Cluster, o ...client.Option) func(run string) ([]string, error) {
	return func(run string) (found []string, err error) {
		err = look(c, run, o, func(s js.Stream) error {
			found = append(found, s.CachedInfo().Config.Name)
			return nil
		})
		return found, err
	}
}

// unacked counts what consumers have not acknowledged of the run's streams.
func unacked(c *brokers.Cluster, o ...client.Option) func(run string) (int, error) {
	return func(run string) (n int, err error) {
		err = look(c, run, o, func(s js.Stream) error {
			all := s.ListConsumers(context.Background())
			for info := range all.Info() {
				if info.Config.AckPolicy != js.AckNonePolicy {
					n += info.NumAckPending + int(info.NumPending)
				}
			}
			return all.Err()
		})
		return n, err
	}
}
