package kit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"sixnines/driver"
)

// answerMost bounds what is read of a web service's answer, in bytes.
const answerMost = 16 << 20

// Ask makes a request to a broker's web service, over a connection of its own, and
// returns the answer and its status. An error is of class driver.ErrNotConnected and does
// not name the driver.
func (b *Base) Ask(ctx context.Context, method, address string, header http.Header, body []byte) (answer []byte, status int, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, 0, fmt.Errorf("%w: the web service: %w", driver.ErrNotConnected, err)
	}
	if header != nil {
		request.Header = header
	}
	dialer := onceDialer{dial: b.Target.Dial}
	defer dialer.close()
	client := http.Client{Transport: &http.Transport{DialContext: dialer.dialContext, TLSClientConfig: b.TLS.Clone(), DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err == nil {
		defer response.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(response.Body, answerMost))
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: the web service: %w", driver.ErrNotConnected, err)
	}
	return answer, response.StatusCode, nil
}

// onceDialer keeps the connections that are made for one request: the client closes
// them when it gets round to it, not before it returns.
type onceDialer struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu    sync.Mutex
	over  bool
	conns []net.Conn
}

func (d *onceDialer) dialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		c.Close()
	}
	d.conns = append(d.conns, c)
	return c, nil
}

func (d *onceDialer) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	for _, c := range d.conns {
		c.Close()
	}
}
