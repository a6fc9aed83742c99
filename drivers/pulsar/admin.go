package pulsar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	"sixnines/driver"
)

// errExists is what the web service says of what is there already.
var errExists = errors.New("it exists")

// position is a place in a topic as the web service reads it.
type position struct {
	Ledger    int64 `json:"ledgerId"`
	Entry     int64 `json:"entryId"`
	Partition int   `json:"partitionIndex"`
}

// The ends of a topic.
func earliest() position { return position{-1, -1, -1} }
func latest() position   { return position{math.MaxInt64, math.MaxInt64, -1} }

// path is where the web service has one of the run's topics, or something of it.
func (s *session) path(topic, what string) string {
	path := s.domain() + "/" + s.options.Namespace + "/" + s.local(topic)
	if what != "" {
		path += "/" + what
	}
	return path
}

// answerMost bounds what is read of an answer of the web service, in bytes.
const answerMost = 16 << 20

// ask makes a request to the web service. into gets the answer; a
// *string gets one that is no JSON as it is.
func (s *session) ask(ctx context.Context, method, path string, body, into any) error {
	var sent io.Reader
	if method == http.MethodPut {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.web+"/admin/v2/"+path, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if s.options.Token != "" {
		request.Header.Set("Authorization", "Bearer "+s.options.Token)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: s.TLS.Clone(), DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("pulsar: %w: the web service: %w", driver.ErrNotConnected, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerMost))
	if err != nil {
		return fmt.Errorf("pulsar: %w: the web service: %w", driver.ErrNotConnected, err)
	}
	class := driver.ErrRejected
	switch answer.StatusCode {
	case http.StatusOK, http.StatusNoContent:
		if into == nil {
			return nil
		}
		if err := json.Unmarshal(text, into); err != nil {
			plain, ok := into.(*string)
			if !ok {
				return fmt.Errorf("pulsar: %w: the web service's answer to %s: %w", driver.ErrRejected, path, err)
			}
			*plain = string(bytes.TrimSpace(text))
		}
		return nil
	case http.StatusConflict:
		class = errExists
	case http.StatusNotFound:
		class = driver.ErrNoTopic
	case http.StatusUnauthorized, http.StatusForbidden:
		class = driver.ErrUnauthorized
	}
	var why struct {
		Reason string `json:"reason"` // the broker's, with the trace of a stack at times
	}
	if json.Unmarshal(text, &why) != nil {
		why.Reason = string(text)
	}
	return fmt.Errorf("%w: %s says %d: %.200s; is this Pulsar's web service?", class, request.URL.Redacted(), answer.StatusCode, strings.Join(strings.Fields(why.Reason), " "))
}

// topicStats is what the broker counts of a topic.
type topicStats struct {
	Subscriptions map[string]struct {
		Backlog int64 `json:"msgBacklog"` // entries that are not acknowledged: batches, or messages
	} `json:"subscriptions"`
}

// stats asks for what the broker counts of a topic; driver.ErrNoTopic: there is none.
func (s *session) stats(ctx context.Context, topic string) (stats topicStats, err error) {
	what := "stats"
	if s.options.Partitions > 0 {
		what = "partitioned-stats"
	}
	err = s.ask(ctx, http.MethodGet, s.path(topic, what+"?getPreciseBacklog=true"), nil, &stats)
	return stats, err
}

// Depth implements driver.DepthTeller: what the subscription has not acknowledged.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	s.mu.Lock()
	existing := s.topology.Existing
	s.mu.Unlock()
	o := &s.options
	switch {
	case !o.Persistent:
		return driver.Depth{}, fmt.Errorf("pulsar: depth of %q: %w: non-persistent topics keep nothing", s.topic(topic), driver.ErrUnsupported)
	case o.batches(s.Target.Batch), existing && o.Batching != "never":
		return driver.Depth{}, fmt.Errorf("pulsar: depth of %q: %w: the broker counts batches, not messages; where there are none set option batching to never", s.topic(topic), driver.ErrUnsupported)
	}
	stats, err := s.stats(ctx, topic)
	if err != nil {
		return driver.Depth{}, s.Wrap(err, "depth of %q", s.topic(topic))
	}
	names := []string{spec.Group}
	if spec.Group == "" {
		names = []string{s.own(spec.ID), hold}
	}
	for _, name := range names {
		if told, ok := stats.Subscriptions[name]; ok {
			return driver.Depth{Messages: told.Backlog, Unacknowledged: true}, nil
		}
	}
	return driver.Depth{}, fmt.Errorf("pulsar: depth of %q: %w: it has no subscription %q", s.topic(topic), driver.ErrNotConnected, names[0])
}
