package brokers_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/netns"
)

// Nodes that are apart run each in a namespace of their own, answer at their address there, come back
// there after they were killed, and leave nothing behind.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		product string // Kafka and RabbitMQ are in runs, see package cli
		nodes   int
	}{
		{"nats", 3}, {"redis", 1}, {"mosquitto", 1}, {"nsq", 1}, {"nats-streaming", 1}, {"null", 1}, {"artemis", 1}, {"pulsar", 1},
	} {
		t.Run(fmt.Sprint(c.product, " ", c.nodes), func(t *testing.T) {
			var device string
			t.Run("runs", func(t *testing.T) {
				cluster := startApart(t, c.product, c.nodes)
				device = cluster.Network().Interface()
				addresses := cluster.Addresses()
				if len(addresses) != c.nodes {
					t.Fatalf("addresses %v", addresses)
				}
				url := cluster.URL
				spaces := spacesOf(t, cluster)
				for i, a := range addresses {
					if !strings.Contains(cluster.URL, a.String()) {
						t.Errorf("%s does not name node %d at %s", cluster.URL, i, a)
					}
				}
				if strings.Contains(fmt.Sprint(cluster.URL, cluster.Info), "127.0.0.1") {
					t.Errorf("%s %v name loopback", cluster.URL, cluster.Info)
				}
				if virtualMachine := c.product == "artemis" || c.product == "pulsar"; virtualMachine {
					return // it would take long, and does nothing else
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				_, killed := cluster.Kill(ctx)
				_, resumed := cluster.Resume(ctx)
				if err := errors.Join(killed, resumed); err != nil {
					t.Fatal(err)
				}
				if again := spacesOf(t, cluster); fmt.Sprint(again) != fmt.Sprint(spaces) || cluster.URL != url {
					t.Errorf("after it was killed it runs in %v at %s, before in %v at %s", again, cluster.URL, spaces, url)
				}
			})
			if device == "" {
				return // skipped, or failed
			}
			if _, err := net.InterfaceByName(device); err == nil {
				t.Errorf("the interface %s is left over", device)
			}
		})
	}
}

// startApart starts a cluster whose nodes are apart, or skips the test where that cannot be.
func startApart(t *testing.T, product string, nodes int) *brokers.Cluster {
	t.Helper()
	n, err := netns.New()
	if errors.Is(err, netns.ErrUnavailable) {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	h := brokertest.Home(t)
	h.Self, h.Environ = []string{os.Args[0]}, append(h.Environ, "SIXNINES_TEST_ROLE=nats", "GORACE=atexit_sleep_ms=0")
	return brokertest.Start(t, product, brokers.Options{Nodes: nodes, Apart: true, Home: h})
}

// spacesOf returns the network namespace of each node's process: none is that of the test, none that of
// another node.
func spacesOf(t *testing.T, c *brokers.Cluster) (all []string) {
	t.Helper()
	seen := map[string]bool{spaceOf(t, os.Getpid()): true}
	for _, n := range c.Nodes() {
		s := spaceOf(t, n.PID)
		if seen[s] {
			t.Errorf("%s is in a namespace with others", n.Name)
		}
		seen[s] = true
		all = append(all, s)
	}
	return all
}

func spaceOf(t *testing.T, pid int) string {
	t.Helper()
	s, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
