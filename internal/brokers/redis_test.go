package brokers_test

import (
	"net"
	"os"
	"strings"
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

func TestRedisRunsAndComesBack(t *testing.T) {
	c := brokertest.Start(t, "redis", brokers.Options{})
	t.Logf("%s %s (%s) at %s in %s", c.Product, c.Version, c.Origin, c.URL, c.Dir)
	address := brokertest.Address(t, c.URL)
	ask := func() string {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write([]byte("PING\r\n"))
		b := make([]byte, 16)
		n, _ := conn.Read(b)
		return strings.TrimSpace(string(b[:n]))
	}
	if got := ask(); got != "+PONG" {
		t.Errorf("the server says %q", got)
	}
	before := c.Nodes()[0].PID
	brokertest.Restart(t, c)()
	if got := ask(); got != "+PONG" || c.Nodes()[0].PID == before {
		t.Errorf("after a restart process %d, which was %d, says %q", c.Nodes()[0].PID, before, got)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", c.Dir, err)
	}
}
