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

// answerLimit is how long a broker that may not be there yet has for one
// question. It decides only how soon it is asked again.
const answerLimit = 2 * time.Second

// dial connects to ask one question: the connection takes no longer than
// answerLimit from now, whatever is said on it.
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

// listens returns a readiness that only asks whether the address accepts
// connections.
func listens(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := dial(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

// fetch returns what is at the URL. An answer that is not 200 is an error.
func fetch(ctx context.Context, url string) ([]byte, error) { return fetchWith(ctx, url, nil) }

// fetchWith is fetch with the header, if it is not nil.
func fetchWith(ctx context.Context, url string, header http.Header) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if header != nil {
		q.Header = header
	}
	q.Close = true // nothing stays open behind the start
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if a.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %.200q", url, a.Status, bytes.TrimSpace(text))
	}
	return text, nil
}

// ask reads the JSON at the URL.
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

// greet sends a greeting and returns the beginning of the answer. Where clients must
// show certificates it returns nothing: without one a client only learns that the
// server encrypts.
func greet(ctx context.Context, address string, t *ServerTLS, greeting string, length int) ([]byte, error) {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if t != nil {
		config := &tls.Config{InsecureSkipVerify: true} // it is our own
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
