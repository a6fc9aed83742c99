package stan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"sixnines/driver"
)

// server is what the monitoring of a streaming server tells; the protocol has no
// question for it.
type server struct {
	known   bool
	Version string `json:"version"`
	ID      string `json:"server_id"`
	State   string `json:"state"` // STANDALONE, CLUSTERED, …
	Role    string `json:"role"`
	Go      string `json:"go"`
	store   store
}

type store struct {
	Type   string `json:"type"`
	Limits struct {
		Channels      int   `json:"max_channels"`
		Messages      int   `json:"max_msgs"`
		Bytes         int64 `json:"max_bytes"`
		Age           int64 `json:"max_age"`        // ns
		Inactivity    int64 `json:"max_inactivity"` // ns
		Subscriptions int   `json:"max_subscriptions"`
	} `json:"limits"`
}

// readServer asks the server's monitoring, if an option says where that is.
func (s *session) readServer(ctx context.Context) (server, error) {
	var told server
	if s.options.HTTPURL == "" {
		return told, nil
	}
	transport := &http.Transport{DialContext: s.target.Dial, TLSClientConfig: s.tls, DisableKeepAlives: true}
	for page, into := range map[string]any{"serverz": &told, "storez": &told.store} {
		if err := s.read(ctx, transport, page, into); err != nil {
			return told, fmt.Errorf("stan: option \"http_url\": read %s of the server's monitoring: %w: %w", page, driver.ErrNotConnected, err)
		}
	}
	told.known = true
	return told, nil
}

// errNotFound: the monitoring knows nothing of that.
var errNotFound = errors.New("the server says that there is none")

func (s *session) read(ctx context.Context, transport *http.Transport, page string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.options.HTTPURL, "/")+"/streaming/"+page, nil)
	if err != nil {
		return err
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return errNotFound
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server says %s", answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}
