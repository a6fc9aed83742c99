package resp

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"sixnines/driver"
)

// A Sentinel that asks for a login gets its own, or that of the servers.
func TestLoginAtSentinels(t *testing.T) {
	for _, test := range []struct {
		name, wants  string // the password of the Sentinel
		own, servers string // passwords in the options
		refused      bool
	}{
		{name: "none", servers: "lovelace"},
		{name: "its own", wants: "secret", own: "secret", servers: "lovelace"},
		{name: "that of the servers", wants: "lovelace", servers: "lovelace"},
		{name: "another", wants: "secret", servers: "lovelace", refused: true},
		{name: "missing", wants: "secret", refused: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := DefaultOptions()
			o.Password, o.SentinelPassword, o.ConnectTimeout = test.servers, test.own, patience
			cl, err := newClient(driver.Target{URL: "redis+sentinel://" + sentinelAt(t, test.wants) + "/main", Run: "test", Dial: new(net.Dialer).DialContext}, "test", Direct, o)
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Stop()
			at, err := cl.askSentinels(t.Context())
			switch {
			case test.refused && !errors.Is(err, driver.ErrUnauthorized):
				t.Errorf("%v, %v", at, err)
			case !test.refused && (err != nil || at.Address != "10.0.0.1:6379"):
				t.Errorf("%v, %v", at, err)
			}
		})
	}
}

// sentinelAt returns the address of a Sentinel that wants a password, unless it is empty.
func sentinelAt(t *testing.T, password string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { answerAsSentinel(c, password) })
		}
	})
	t.Cleanup(func() { l.Close(); serving.Wait() })
	return l.Addr().String()
}

// answerAsSentinel serves a connection until the client ends it.
func answerAsSentinel(c net.Conn, password string) {
	defer c.Close()
	r, in := NewReader(c, nil), password == ""
	for {
		n, err := r.Array()
		if err != nil {
			return
		}
		var words []string
		for range n {
			w, err := r.Bulk()
			if err != nil {
				return
			}
			words = append(words, string(w))
		}
		answer := "-NOAUTH Authentication required.\r\n"
		switch {
		case words[0] == "AUTH" && words[len(words)-1] == password:
			in, answer = true, "+OK\r\n"
		case words[0] == "AUTH":
			answer = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
		case in && words[0] == "PING":
			answer = "+PONG\r\n"
		case in:
			answer = "*2\r\n$8\r\n10.0.0.1\r\n$4\r\n6379\r\n"
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}
