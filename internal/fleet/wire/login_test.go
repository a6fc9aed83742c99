package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestBeyondLoopbackTheConnectionIsEncryptedAndAuthenticated(t *testing.T) {
	pin := strings.Repeat("ab", 32)
	for _, tt := range []struct {
		login Login
		says  string // "": it can be used
	}{
		{Login{URL: "nats://127.0.0.1:4222"}, ""},
		{Login{URL: "nats://localhost"}, ""},
		{Login{URL: "nats://[::1]:4222"}, ""},
		{Login{URL: "tls://h1:4222", Token: "t"}, ""},
		{Login{URL: "nats://h1:4222", Token: "t", Pin: pin}, ""},
		{Login{URL: "tls://user:password@h1"}, ""},
		{Login{URL: "tls://h1", Cert: "c", Key: "k"}, ""},
		{Login{URL: "tls://h1,tls://h2", NKey: "f"}, ""},
		{Login{URL: "nats://h1"}, "encrypted (tls://) and authenticated"},
		{Login{URL: "nats://h1", Token: "t"}, "must be encrypted: tls://h1"},
		{Login{URL: "nats://user:password@h1"}, "must be encrypted"},
		{Login{URL: "tls://h1"}, "must log in"},
		{Login{URL: "nats://127.0.0.1,nats://10.0.0.1", Token: "t"}, "10.0.0.1:4222"},
		{Login{URL: "nats://127.0.0.1.example.org", Token: "t"}, "must be encrypted"},
		{Login{URL: ""}, "begins with"},
		{Login{URL: "http://h1", Token: "secret"}, "begins with"},
		{Login{URL: "h1:4222"}, "begins with"},
		{Login{URL: "nats://"}, "no host"},
		{Login{URL: "nats://127.0.0.1/path"}, "more than a host"},
		{Login{URL: "nats://127.0.0.1", Token: "t", Creds: "f"}, "a token and credentials"},
		{Login{URL: "nats://127.0.0.1", Cert: "c"}, "belong together"},
		{Login{URL: "tls://h1", Token: "t", Pin: "ab"}, "64 hexadecimal digits"},
		{Login{URL: "tls://h1", Token: "t", Pin: pin, CA: "f"}, "give one of them"},
	} {
		switch err := tt.login.Check(); {
		case tt.says == "" && err != nil:
			t.Errorf("%+v: %v", tt.login, err)
		case tt.says != "" && (!errors.Is(err, ErrLogin) || !strings.Contains(err.Error(), tt.says)):
			t.Errorf("%+v: %v; want %q in it", tt.login, err, tt.says)
		}
	}
}

func TestAddressesAreShownWithoutSecrets(t *testing.T) {
	for _, tt := range []struct{ url, shown string }{
		{"tls://user:hunter2@h1:4333,nats://hunter2@h2", "tls://h1:4333,nats://h2:4222"},
		{"hunter2://", "the address"},
		{"nats://a:hunter2%zz@h", "the address"},
	} {
		l := Login{URL: tt.url, Token: "hunter2"}
		if got := l.Shown(); got != tt.shown {
			t.Errorf("%s is shown as %s", tt.url, got)
		}
		if err := l.Check(); err != nil && strings.Contains(err.Error(), "hunter2:") {
			t.Errorf("%s: %v", tt.url, err)
		}
	}
}
