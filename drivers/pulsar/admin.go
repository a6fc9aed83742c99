package pulsar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"sixnines/driver"
)

// errExists is the web service's answer about what exists already.
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
	path := s.domain() + "/" + s.place(topic)
	if what != "" {
		path += "/" + what
	}
	return path
}

// ask makes a request to the web service. into gets the answer; a
// *string gets one that is no JSON as it is.
func (s *session) ask(ctx context.Context, method, path string, body, into any) error {
	header := http.Header{"Content-Type": {"application/json"}}
	if s.token != nil {
		token, err := s.token(ctx)
		if err != nil {
			return fmt.Errorf("pulsar: %w", err)
		}
		header.Set("Authorization", "Bearer "+token)
	}
	var sent []byte
	if method == http.MethodPut {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return err
		}
	}
	text, status, err := s.Ask(ctx, method, s.web+"/admin/v2/"+path, header, sent)
	if err != nil {
		return fmt.Errorf("pulsar: %w", err)
	}
	class := driver.ErrRejected
	switch status {
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
	case http.StatusUnauthorized:
		class = driver.ErrUnauthorized
	case http.StatusForbidden:
		class = driver.ErrForbidden
	}
	var why struct {
		Reason string `json:"reason"` // the broker's, with the trace of a stack at times
	}
	if json.Unmarshal(text, &why) != nil {
		why.Reason = string(text)
	}
	return fmt.Errorf("%w: of %s the web service says %d: %.200s; is this Pulsar's?", class, path, status, strings.Join(strings.Fields(why.Reason), " "))
}

// topicStats is what the broker counts of a topic.
type topicStats struct {
	Subscriptions map[string]struct {
		Backlog int64 `json:"msgBacklog"` // entries that are not acknowledged: batches, or messages
	} `json:"subscriptions"`
}

// stats asks for what the broker counts of a topic; driver.ErrNoTopic: it does not exist.
func (s *session) stats(ctx context.Context, topic string) (stats topicStats, err error) {
	what := "stats"
	if s.options.Partitions > 0 {
		what = "partitioned-stats"
	}
	err = s.ask(ctx, http.MethodGet, s.path(topic, what+"?getPreciseBacklog=true"), nil, &stats)
	if s.Target.Given && what == "stats" && errors.Is(err, driver.ErrNoTopic) { // it may have partitions
		err = s.ask(ctx, http.MethodGet, s.path(topic, "partitioned-stats?getPreciseBacklog=true"), nil, &stats)
	}
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
		return driver.Depth{}, fmt.Errorf("pulsar: depth of %q: %w: the broker counts batches, not messages; set option batching to never to have it count messages", s.topic(topic), driver.ErrUnsupported)
	}
	stats, err := s.stats(ctx, topic)
	if err != nil {
		return driver.Depth{}, s.Wrap(err, "depth of %q", s.topic(topic))
	}
	names := []string{spec.Group}
	if spec.Group == "" {
		names = []string{s.own(spec.ID), s.hold()}
	}
	for _, name := range names {
		if told, ok := stats.Subscriptions[name]; ok {
			return driver.Depth{Messages: told.Backlog, Unacknowledged: true}, nil
		}
	}
	return driver.Depth{}, fmt.Errorf("pulsar: depth of %q: %w: it has no subscription %q", s.topic(topic), driver.ErrNotConnected, names[0])
}
