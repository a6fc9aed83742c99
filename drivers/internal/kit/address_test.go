package kit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sixnines/driver"
)

func TestParseURL(t *testing.T) {
	e := &Errors{Driver: "test"}
	schemes := []Scheme{{Name: "test", Port: "1"}, {Name: "tests", Port: "2", TLS: true}, {Name: "unix", Socket: true}}
	for _, test := range []struct {
		url, servers, user, path, err string
		class                         error
	}{
		{url: "host", servers: "host:1"},
		{url: "test://host:9/queue", servers: "host:9", path: "queue"},
		{url: "tests://u:secret@[::1], other:3", servers: "[::1]:2,other:3", user: "u"},
		{url: "host/?web=http://other:80", servers: "host:1"},
		{url: "unix:///run/test.sock", servers: "/run/test.sock"},
		{url: "unix://u:secret@/run/test.sock?n=1", servers: "/run/test.sock", user: "u"},
		{url: "unix://run/test.sock", err: "no path in the URL", class: driver.ErrOption},
		{url: "unix://u:secret@/", err: "want one such as unix:///path", class: driver.ErrOption},
		{url: "http://host", err: `scheme "http" of the URL: want test, tests or unix`, class: driver.ErrOption},
		{url: "test://u:secret@:5", err: "want one such as test://host:1", class: driver.ErrOption},
		{url: "test://u:secret@host:port", err: "the URL cannot be read", class: driver.ErrOption},
		{url: "test://:secret/abc@host", err: "the port is no number; in a login or a path write %40 for @, %2F for /", class: driver.ErrOption},
		{url: "test://u:6379/secret@host", err: "%2F for /", class: driver.ErrOption}, // else host u
		{url: "test://secret?x@host", err: "%3F for ?", class: driver.ErrOption},      // else host secret
		{url: "test://u:secret@a/secret@host", err: "%40 for @", class: driver.ErrOption},
		{url: "test://u:%secret@host", err: "%25 for it", class: driver.ErrOption},
		{url: "test://u:secret\x01@host", err: "the URL cannot be read", class: driver.ErrOption},
		{url: "test://u:secret[@host", err: "the URL cannot be read", class: driver.ErrOption},
		{url: "unix:///u:secret@/run/x", err: "the URL cannot be read", class: driver.ErrOption},
	} {
		a, err := e.ParseURL(test.url, schemes...)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || !errors.Is(err, test.class) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v, want %q of class %v without the password", test.url, err, test.err, test.class)
			}
			continue
		}
		if err != nil || a.String() != test.servers || a.Path != test.path || (a.User == nil) != (test.user == "") || a.User != nil && a.User.Username() != test.user {
			t.Errorf("%s: %+v, %v", test.url, a, err)
		}
	}
	if a, err := e.ParseURL("unix:///a,b", schemes...); err != nil || a.Servers[0].Network() != "unix" || a.Servers[1].Network() != "tcp" {
		t.Errorf("a socket and a host: %+v, %v", a, err)
	}
	a, _ := e.ParseURL("a,b,c", schemes...)
	if got := a.From(4); !slices.Equal(got, []Server{{"b:1", "b", false, "test"}, {"c:1", "c", false, "test"}, {"a:1", "a", false, "test"}}) {
		t.Errorf("from the fifth of three: %v", got)
	}
}
