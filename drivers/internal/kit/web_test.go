package kit

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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
