package all_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// guardSTAN starts a NATS Streaming server that is a client of a NATS server within the
// test: who may do what is the NATS server's.
func guardSTAN(t *testing.T) guard {
	g := guardNATS(t).(*natsGuard)
	g.denies = map[deed]string{publishing: "_STAN.pub.>", subscribing: "_STAN.sub.>"}
	product, ok := brokers.Lookup("nats-streaming")
	if !ok {
		t.Fatal("no such product")
	}
	installed, err := product.Find(t.Context(), brokertest.Home(t))
	if err != nil {
		brokertest.Missing(t, err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "stan.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(installed.Path, "--nats_server", strings.Replace(g.s.ClientURL(), "://", "://root:root@", 1), "--store", "memory")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it keeps nothing
		_ = cmd.Wait()
		log.Close()
	})
	for limit := time.Now().Add(refusalPatience); ; time.Sleep(5 * time.Millisecond) {
		z, err := g.s.Subsz(&server.SubszOptions{Subscriptions: true, Limit: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(z.Subs, func(s server.SubDetail) bool { // its last one
			return strings.HasPrefix(s.Subject, "_STAN.discover.") && strings.HasSuffix(s.Subject, ".pings")
		}) {
			return g
		}
		if time.Now().After(limit) {
			text, _ := os.ReadFile(log.Name()) // if there is any
			t.Fatalf("the streaming server is not ready:\n%s", text)
		}
	}
}
