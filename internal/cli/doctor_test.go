package cli

import (
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
		got, err := brokerHosts(c.address)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", c.address, err, diff)
		}
	}
	for _, bad := range []string{"mem://", "nats://:4222", "nats://a:1,", "nats://a b:1", "://"} {
		if got, err := brokerHosts(bad); err == nil {
			t.Errorf("%q gives %q", bad, got)
		}
	}
}
