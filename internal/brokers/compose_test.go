package brokers

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"go.yaml.in/yaml/v4"
)

// The containers of compose.yaml have the versions that are installed here,
// listen on loopback only and say when they are ready.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Image       string
			Ports       []string
			Healthcheck struct{ Test []string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{
		"nats": server.VERSION, "nats-streaming": stanVersion, "kafka": kafkaVersion, "nsq": nsqVersion, "artemis": artemisVersion, "pulsar": pulsarVersion,
	}
	published := map[string]string{}
	for name, s := range file.Services {
		if _, ok := Lookup(name); !ok {
			t.Errorf("%s is no product of this package", name)
		}
		if want := versions[name]; !strings.Contains(s.Image, want) {
			t.Errorf("%s is %s, not version %s", name, s.Image, want)
		}
		if _, tag, ok := strings.Cut(s.Image, ":"); !ok || strings.Contains(tag, "latest") {
			t.Errorf("%s: the image %s names no version", name, s.Image)
		}
		if len(s.Healthcheck.Test) < 2 {
			t.Errorf("%s has no health check", name)
		}
		for _, port := range s.Ports {
			host, _, _ := strings.Cut(strings.TrimPrefix(port, "127.0.0.1:"), ":")
			if !strings.HasPrefix(port, "127.0.0.1:") || published[host] != "" {
				t.Errorf("%s publishes %s, where %q does, too", name, port, published[host])
			}
			published[host] = name
		}
	}
	without := []string{"kafka-0.8", "kafka-0.9", "null", "zeromq", "redis-cluster"} // no image; built in; no broker; servers name each other
	for _, p := range Products() {
		if _, there := file.Services[p.Name]; there == slices.Contains(without, p.Name) {
			t.Errorf("%s: in compose.yaml: %v", p.Name, there)
		}
	}
}
