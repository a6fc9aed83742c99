package resp

import (
	"errors"
	"strings"
	"testing"

	"sixnines/driver"
)

func TestAddress(t *testing.T) {
	open := func(text string, database int) (*Client, error) {
		o := DefaultOptions()
		o.Database = database
		return newClient(driver.Target{URL: text, Run: "test"}, "redis", Direct, o)
	}
	for text, want := range map[string]struct {
		network, address, user, secret string
		tls                            bool
		database                       int
		master                         string
	}{
		"redis+sentinel://ada:pw@a,b:7/main/3": {network: "tcp", address: "a:26379,b:7", user: "ada", secret: "pw", database: 3, master: "main"},
		"rediss+sentinel://a,b/main":           {network: "tcp", address: "a:26379,b:26379", tls: true, master: "main"},
		"redis+cluster://ada:pw@a,b:7,c":       {network: "tcp", address: "a:6379,b:7,c:6379", user: "ada", secret: "pw"},
		"rediss+cluster://a/0":                 {network: "tcp", address: "a:6379", tls: true},
		"redis://host":                         {network: "tcp", address: "host:6379"},
		"host:7000":                            {network: "tcp", address: "host:7000"},
		" rediss://ada:a%40b@host:1/3 ":        {network: "tcp", address: "host:1", tls: true, user: "ada", secret: "a@b", database: 3},
		"redis://:secret@[::1]:7":              {network: "tcp", address: "[::1]:7", secret: "secret"},
		"redis://host/?db=4":                   {network: "tcp", address: "host:6379", database: 4},
		"unix:///run/redis.sock":               {network: "unix", address: "/run/redis.sock"},
		"unix://ada:pw@/run/redis.sock?db=12":  {network: "unix", address: "/run/redis.sock", user: "ada", secret: "pw", database: 12},
	} {
		cl, err := open(text, -1)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		s := cl.Servers[0]
		if s.Network() != want.network || cl.Address.String() != want.address || (cl.TLS != nil) != want.tls || cl.User != want.user || cl.Secret != want.secret || cl.Options.Database != want.database || cl.master != want.master {
			t.Errorf("%q: %+v, TLS %t, user %q, secret %q, database %d; want %+v", text, s, cl.TLS != nil, cl.User, cl.Secret, cl.Options.Database, want)
		}
	}
	if cl, err := open("redis://host/3", 7); err != nil || cl.Options.Database != 7 {
		t.Errorf("the option does not win over the URL: %v", err)
	}
	for _, text := range []string{
		"", "redis://", "http://host", "redis://host/x", "redis://host/-1", "redis://a:1,b:2", "redis+sentinel://a", "redis+cluster://a/1", "redis+cluster://a,redis://b", "redis+sentinel://a,redis+cluster://b/m", "redis+sentinel://a/main/x", "unix://run/redis.sock", "unix:///", "redis://ada:secret@host:port",
		"redis://ada:secret@host/1?db=2", "redis://ada:secret@host?timeout=1", "://", "redis://ada:secret@ho st",
	} {
		_, err := open(text, -1)
		if !errors.Is(err, driver.ErrOption) {
			t.Errorf("%q: %v", text, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows the password: %v", text, err)
		}
	}
}
