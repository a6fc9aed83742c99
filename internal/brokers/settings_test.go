package brokers

import (
	"errors"
	"maps"
	"os"
	"slices"
	"testing"
)

// With these settings a broker would outlive us, or listen on another port than expected.
func TestSettingsThatAreOurs(t *testing.T) {
	for product, name := range map[string]string{
		"redis": "daemonize", "mosquitto": "listener", "nsq": "tcp-address", "nats": "Listen", "nats-streaming": "port",
		"rabbitmq": "listeners.tcp.default", "artemis": "acceptor.port", "kafka": "controller.quorum.voters", "kafka-0.8": "broker.id", "kafka-0.9": "broker.id", "null": "listen", "pulsar": "brokerServicePortTls",
	} {
		p, _ := Lookup(product)
		o := &Options{Nodes: 1, Dir: t.TempDir(), Home: natsHome(), Settings: map[string]string{name: "1"}}
		if _, err := p.deploy(t.Context(), Installation{Version: "4.3.1"}, o); !errors.Is(err, ErrSetting) {
			t.Errorf("%s: %s is not refused: %v", product, name, err)
		}
		if files, err := os.ReadDir(o.Dir); err != nil || len(files) > 0 {
			t.Errorf("%s: before it is refused there are %v, %v", product, files, err)
		}
	}
	if err := refuse(map[string]string{"listeners": "x", "a.b": "y"}, "listeners.tcp*", "a", "a.*.c"); err != nil {
		t.Errorf("a name that only begins alike: %v", err)
	}
}

// If settings enable encryption, the broker's URL has the scheme for it.
func TestSettingsThatEncrypt(t *testing.T) {
	for _, tt := range []struct {
		product, want string
		settings      map[string]string
	}{
		{"redis", "rediss://127.0.0.1:7777", map[string]string{"tls-cert-file": "c", "tls-key-file": "k"}},
		{"redis", "rediss://127.0.0.1:7778", map[string]string{"tls-port": "7778", "port": "0"}},
		{"redis", "redis://127.0.0.1:7777", map[string]string{"tls-port": "7778"}},
		{"redis", "redis://127.0.0.1:7777", nil},
		{"mosquitto", "mqtts://127.0.0.1:7777", map[string]string{"certfile": "c", "keyfile": "k"}},
		{"mosquitto", "mqtt://127.0.0.1:7777", nil},
		{"nats", "tls://127.0.0.1:7777", map[string]string{"tls.cert_file": "c", "tls.key_file": "k"}},
		{"nats", "nats://127.0.0.1:7777", nil},
		{"nats-streaming", "tls://127.0.0.1:7777", map[string]string{"tls": "true"}},
		{"nsq", "nsq+tls://127.0.0.1:7777", map[string]string{"tls-required": "tcp-https"}},
		{"nsq", "nsq://127.0.0.1:7777", map[string]string{"tls-cert": "c"}},
	} {
		p, _ := Lookup(tt.product)
		o := &Options{Nodes: 1, Port: 7777, Dir: t.TempDir(), Home: natsHome(), Settings: maps.Clone(tt.settings)}
		d, err := p.deploy(t.Context(), Installation{Path: "none"}, o)
		if err != nil {
			t.Errorf("%s %v: %v", tt.product, tt.settings, err)
			continue
		}
		if got := d.url; len(got) < len(tt.want) || got[:len(tt.want)] != tt.want {
			t.Errorf("%s %v is at %s, want %s", tt.product, slices.Sorted(maps.Keys(tt.settings)), got, tt.want)
		}
	}
}
