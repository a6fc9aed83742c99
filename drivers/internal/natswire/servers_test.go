package natswire

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sixnines/driver"
)

func TestParseServers(t *testing.T) {
	for _, tt := range []struct {
		target  string
		schemes []string
		want    []string
		fails   string // what the error says
	}{
		{"nats://a:4222", []string{"nats", "tls"}, []string{"nats://a:4222"}, ""},
		{"a, tls://b:1 ,c:2", []string{"nats", "tls"}, []string{"nats://a", "tls://b:1", "nats://c:2"}, ""},
		{"ws://a", []string{"nats", "tls", "ws", "wss"}, []string{"ws://a"}, ""},
		{"ws://u:secret@a", []string{"nats", "tls"}, nil, `scheme "ws" of ws://u:xxxxx@a: want nats or tls`},
		{"http://a", []string{"nats", "tls", "ws", "wss"}, nil, `scheme "http" of http://a: want nats, tls, ws or wss`},
		{"nats://:4222", []string{"nats", "tls"}, nil, "no host"},
		{"", []string{"nats", "tls"}, nil, "no host"},
		{"nats://u:secret@a:port", []string{"nats", "tls"}, nil, "cannot be read"},
	} {
		got, err := ParseServers("test", tt.target, tt.schemes...)
		if !slices.Equal(got, tt.want) || (err != nil) != (tt.fails != "") {
			t.Errorf("%q: %q, %v, want %q", tt.target, got, err, tt.want)
		}
		if err != nil && (!errors.Is(err, driver.ErrOption) || !strings.HasPrefix(err.Error(), "test: ") ||
			!strings.Contains(err.Error(), tt.fails) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: %v, want an error of the option that says %q", tt.target, err, tt.fails)
		}
	}
}

func TestRedact(t *testing.T) {
	if got, want := Redact([]string{"nats://u:secret@a:1", "tls://token@b", "nats://c"}), "nats://xxxxx@a:1,tls://xxxxx@b,nats://c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
