package kit

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sixnines/driver"
)

// closing is a connection that says when it is closed.
type closing struct {
	net.Conn
	closed *atomic.Int32
}

func (c closing) Close() error {
	c.closed.Add(1)
	return c.Conn.Close()
}

func TestAsk(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, r.Method+" "+r.URL.Path+" "+r.Header.Get("Kind")+" "+string(body))
	}))
	defer server.Close()
	dialled := 0
	var closed atomic.Int32
	b := NewPlainBase(&Errors{Driver: "test"}, driver.Target{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled++
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return closing{c, &closed}, err
	}})
	answer, status, err := b.Ask(t.Context(), http.MethodPut, server.URL+"/pot", http.Header{"Kind": {"green"}}, []byte("tea"))
	if err != nil || status != http.StatusTeapot || string(answer) != "PUT /pot green tea" {
		t.Errorf("%q, %d, %v", answer, status, err)
	}
	if dialled != 1 || closed.Load() == 0 {
		t.Errorf("%d connections, closed %d times", dialled, closed.Load())
	}
	server.Close()
	if _, _, err := b.Ask(t.Context(), http.MethodGet, server.URL, nil, nil); !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("of a server that is gone: %v", err)
	}
}

// TestLoginsStayEncrypted has a listener record what comes over connections that are not
// encrypted.
func TestLoginsStayEncrypted(t *testing.T) {
	var heard []string
	plain := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		heard = append(heard, r.URL.Path+" "+r.Header.Get("Authorization"))
	}))
	defer plain.Close()
	encrypted := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+"/on", http.StatusTemporaryRedirect)
	}))
	defer encrypted.Close()
	login := http.Header{"Authorization": {"Bearer hunter2"}}
	trusting := &tls.Config{InsecureSkipVerify: true}
	for _, tt := range []struct {
		what    string
		over    *tls.Config
		address string
		header  http.Header
		refused bool
	}{
		{"a login in clear as the broker's", nil, plain.URL, login, false},
		{"a login that the broker gets encrypted", trusting, plain.URL, login, true},
		{"a login that is sent on", trusting, encrypted.URL, login, true},
		{"no login", trusting, plain.URL, nil, false},
		{"no login that is sent on", trusting, encrypted.URL, nil, false},
	} {
		heard = nil
		b := NewPlainBase(&Errors{Driver: "test"}, driver.Target{})
		b.TLS = tt.over
		_, _, err := b.Ask(t.Context(), http.MethodGet, tt.address, tt.header.Clone(), nil)
		if errors.Is(err, driver.ErrOption) != tt.refused || (len(heard) == 0) != tt.refused {
			t.Errorf("%s: %v; in clear: %q", tt.what, err, heard)
		}
	}
}

func TestWebAddress(t *testing.T) {
	e := &Errors{Driver: "test"}
	for _, tt := range []struct{ text, scheme, want string }{
		{"host:1", "http", "http://host:1"},
		{"host:1/", "https", "https://host:1"},
		{"http://host/sub/", "https", "http://host/sub"},
		{"host:1", "", ""},
		{"ftp://host", "http", ""},
		{"http://ada:hunter2@host", "http", ""},
		{"http://:hunter2/a@host", "http", ""},
		{"http://hunter2?a@host", "http", ""},
		{"http://host?token=hunter2", "http", ""},
		{"http://host:hunter2", "http", ""},
		{"http://", "http", ""},
	} {
		got, err := e.WebAddress("web", tt.text, tt.scheme, "http://host:1")
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %q, %v", tt.text, got, err)
		}
		if err != nil && (!errors.Is(err, driver.ErrOption) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}
