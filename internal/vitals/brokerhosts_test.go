package vitals

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBrokerHosts(t *testing.T) {
	for _, c := range []struct {
		address string
		want    []string
	}{
		{"", nil},
		{"nats://a.example:4222", []string{"a.example"}},
		{"nats://user:p@ss@a:1,nats://b:2", []string{"a", "b"}},
		{"kafka://a:9092,b:9092", []string{"a", "b"}},
		{"amqp://u:p@[2001:db8::1]:5672/vhost?x=1", []string{"2001:db8::1"}},
		{"localhost:4222", []string{"localhost"}},
		{"redis://a", []string{"a"}},
		{"tcp://[::1]", []string{"::1"}},
		{"ipc:///tmp/socket", []string{"localhost"}},
	} {
		got, err := BrokerHosts(c.address)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", c.address, err, diff)
		}
	}
	for _, bad := range []string{"mem://", "nats://:4222", "nats://a:1,", "nats://a b:1", "://"} {
		if got, err := BrokerHosts(bad); err == nil {
			t.Errorf("%q gives %q", bad, got)
		}
	}
}

// TestOnThisMachine has every way in which an address can mean this machine.
func TestOnThisMachine(t *testing.T) {
	here := []string{"unix:///run/redis.sock", "unix://u:p@/run/redis.sock", "localhost:1", "nats://LOCALHOST:4222", "nats://0.0.0.0:4222", "nats://[::]:4222",
		"redis://[::ffff:127.0.0.1]:6379", "amqp://u:p@127.3.4.5/v", "tcp://[::1]", "nats://198.51.100.1:1,nats://127.0.0.1:2"}
	if name, err := os.Hostname(); err == nil {
		here = append(here, "kafka://"+name+":9092", strings.ToUpper(name)+":1")
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			here = append(here, "nats://"+net.JoinHostPort(n.IP.String(), "4222"))
			if v4 := n.IP.To4(); v4 != nil {
				here = append(here, "nats://[::ffff:"+v4.String()+"]:4222")
			}
		}
	}
	for _, address := range here {
		if !OnThisMachine(t.Context(), address) {
			t.Errorf("%s is taken for another machine's", address)
		}
	}
	for _, address := range []string{"nats://198.51.100.1:4222", "198.51.100.1", "[2001:db8::1]:1", "mem://", ""} {
		if OnThisMachine(t.Context(), address) {
			t.Errorf("%q is taken for this machine's", address)
		}
	}
}
