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
	schemes := []Scheme{{Name: "test", Port: "1"}, {Name: "tests", Port: "2", TLS: true}, {Name: "ws", Refused: "use test"}}
	for _, test := range []struct {
		url, servers, user, path, err string
		class                         error
	}{
		{url: "host", servers: "host:1"},
		{url: "test://host:9/queue", servers: "host:9", path: "queue"},
		{url: "tests://u:secret@[::1], other:3", servers: "[::1]:2,other:3", user: "u"},
		{url: "host/?web=http://other:80", servers: "host:1"},
		{url: "http://host", err: `scheme "http" of http://host: want test or tests`, class: driver.ErrOption},
		{url: "ws://host", err: `scheme "ws": use test`, class: driver.ErrUnsupported},
		{url: "test://u:secret@:5", err: "want one such as test://host:1", class: driver.ErrOption},
		{url: "test://u:secret@host:port", err: "the URL cannot be read", class: driver.ErrOption},
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
	a, _ := e.ParseURL("a,b,c", schemes...)
	if got := a.From(4); !slices.Equal(got, []Server{{"b:1", "b", false, "test"}, {"c:1", "c", false, "test"}, {"a:1", "a", false, "test"}}) {
		t.Errorf("from the fifth of three: %v", got)
	}
}
