package brokers

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// answerLimit is how long a starting broker has to answer one readiness check. A
// check that fails is repeated.
const answerLimit = 2 * time.Second

// dial connects for one readiness check. Connecting and all reads and writes must be done
// within answerLimit from now.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	limit := time.Now().Add(answerLimit)
	c, err := (&net.Dialer{Deadline: limit}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if err := c.SetDeadline(limit); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// listens returns a readiness check that succeeds if the address accepts connections.
func listens(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := dial(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

// fetch returns the body at the URL. A status other than 200 is an error.
func fetch(ctx context.Context, url string) ([]byte, error) { return fetchWith(ctx, url, nil) }

// fetchWith is fetch with the header, if it is not nil.
func fetchWith(ctx context.Context, url string, header http.Header) ([]byte, error) {
	text, status, err := call(ctx, http.MethodGet, url, header, nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s: %d: %.200q", url, status, bytes.TrimSpace(text))
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// call makes a request and returns what is answered, with the status.
func call(ctx context.Context, method, url string, header http.Header, body []byte) (text []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	if header != nil {
		q.Header = header
	}
	q.Close = true // no connection stays open after the start
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, 0, err
	}
	defer a.Body.Close()
	if text, err = io.ReadAll(a.Body); err != nil {
		err = fmt.Errorf("%s: %w", url, err)
	}
	return text, a.StatusCode, err
}

// ask reads the JSON at the URL into answer.
func ask(ctx context.Context, url string, answer any) error {
	text, err := fetch(ctx, url)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}

// greet sends a greeting and returns the first length bytes of the answer. If the server
// asks for client certificates it returns nil after the handshake: without a certificate
// it cannot do more.
func greet(ctx context.Context, address string, t *ServerTLS, greeting string, length int) ([]byte, error) {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if t != nil {
		config := &tls.Config{InsecureSkipVerify: true} // the server is one that we started
		encrypted := tls.Client(c, config)
		if err := encrypted.HandshakeContext(ctx); err != nil || t.CA != "" {
			return nil, err
		}
		c = encrypted
	}
	if _, err := io.WriteString(c, greeting); err != nil {
		return nil, err
	}
	answer := make([]byte, length)
	if _, err := io.ReadFull(c, answer); err != nil {
		return nil, fmt.Errorf("no answer to a greeting: %w", err)
	}
	return answer, nil
}
