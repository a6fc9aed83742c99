package kit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"sixnines/driver"
)

// answerMost bounds what is read of a web service's answer, in bytes.
const answerMost = 16 << 20

// mostRedirects is how often a web service may send one on.
const mostRedirects = 10

// WebAddress completes the address of a broker's web service, without a slash at the end.
// One without a scheme has the given one; empty: it must have one. An error is about the option, and repeats
// nothing of what may be a login.
func (e *Errors) WebAddress(option, text, scheme, example string) (string, error) {
	if !strings.Contains(text, "://") {
		text = scheme + "://" + text
	}
	u, err := driver.ParseURL(text)
	switch {
	case err == nil && u.Scheme != "http" && u.Scheme != "https":
		return "", e.Option(option, fmt.Sprintf("scheme %q: want one such as %s", u.Scheme, example))
	case err != nil || u.Hostname() == "":
		return "", e.Option(option, "this is no address of a web service; want one such as "+example)
	case u.User != nil:
		return "", e.Option(option, "a login does not belong in the address, where others see it")
	case u.RawQuery != "" || u.Fragment != "":
		return "", e.Option(option, "want the address alone, such as "+example)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// errBared refuses to send a login unencrypted.
var errBared = fmt.Errorf("%w: it would get the login over a connection that is not encrypted, as the broker's is; give an https:// address", driver.ErrOption)

// bares reports whether a request shows a login that is encrypted otherwise.
func (b *Base) bares(r *http.Request) bool {
	return b.TLS != nil && r.URL.Scheme != "https" && r.Header.Get("Authorization") != ""
}

// Ask makes a request to a broker's web service, over a connection of its own, and
// returns the answer and its status. An error is of class driver.ErrNotConnected and does
// not name the driver, or of class driver.ErrOption where a login would go there, or to
// where the service sends one on, unencrypted, and the broker's connections are encrypted.
func (b *Base) Ask(ctx context.Context, method, address string, header http.Header, body []byte) (answer []byte, status int, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, 0, fmt.Errorf("%w: the web service: %w", driver.ErrNotConnected, err)
	}
	if header != nil {
		request.Header = header
	}
	if b.bares(request) {
		return nil, 0, fmt.Errorf("the web service: %w", errBared)
	}
	dialer := onceDialer{dial: b.Target.Dial}
	defer dialer.close()
	client := http.Client{Transport: &http.Transport{DialContext: dialer.dialContext, TLSClientConfig: b.TLS.Clone(), DisableKeepAlives: true},
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			switch first := via[0]; {
			case b.bares(to), first.URL.Scheme == "https" && to.URL.Scheme != "https" && first.Header.Get("Authorization") != "":
				return errBared
			case len(via) >= mostRedirects:
				return fmt.Errorf("it sends one on for more than %d times", mostRedirects)
			}
			return nil
		}}
	response, err := client.Do(request)
	if err == nil {
		defer response.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(response.Body, answerMost))
	}
	switch {
	case errors.Is(err, errBared):
		return nil, 0, fmt.Errorf("the web service: %w", err)
	case err != nil:
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
