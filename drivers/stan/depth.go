package stan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"sixnines/driver"
)

// channelState is what the monitoring tells of a channel.
type channelState struct {
	Messages      int64  `json:"msgs"`
	Last          uint64 `json:"last_seq"`
	Subscriptions []struct {
		Client  string `json:"client_id"`
		Queue   string `json:"queue_name"`
		Inbox   string `json:"inbox"`
		Last    uint64 `json:"last_sent"`
		Pending int64  `json:"pending_count"` // sent, and not acknowledged
	} `json:"subscriptions"`
}

// readChannel asks the monitoring for the state of a channel.
func (s *session) readChannel(ctx context.Context, channel string) (channelState, error) {
	var state channelState
	if s.options.HTTPURL == "" {
		return state, fmt.Errorf("stan: state of channel %q: %w: only the server's monitoring tells; give option http_url", channel, driver.ErrUnsupported)
	}
	transport := &http.Transport{DialContext: s.target.Dial, TLSClientConfig: s.tls, DisableKeepAlives: true}
	err := s.read(ctx, transport, "channelsz?"+url.Values{"channel": {channel}, "subs": {"1"}}.Encode(), &state)
	if errors.Is(err, errNotFound) {
		return state, fmt.Errorf("stan: channel %q: %w", channel, driver.ErrNoTopic)
	}
	if err != nil {
		return state, fmt.Errorf("stan: state of channel %q: %w: %w", channel, driver.ErrNotConnected, err)
	}
	return state, nil
}

// find looks for a channel that is to be there, where anybody can tell: to ask the
// server itself would make it.
func (s *session) find(ctx context.Context, channel string) error {
	_, err := s.readChannel(ctx, channel)
	if errors.Is(err, driver.ErrUnsupported) {
		return nil
	}
	return err
}

// Depth implements driver.DepthTeller: what has not been sent to the subscription,
// or to any member of the group, and what was sent and not acknowledged.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	channel, err := s.channel(topic)
	if err != nil {
		return driver.Depth{}, err
	}
	state, err := s.readChannel(ctx, channel)
	if err != nil {
		return driver.Depth{}, err
	}
	queue := spec.Group
	if queue != "" && s.options.Durable {
		queue = durableOfGroups + ":" + queue
	}
	inbox := s.inboxOf(spec.ID)
	var sent uint64
	var pending int64
	found := false
	for _, sub := range state.Subscriptions {
		if spec.Group != "" && sub.Queue == queue || spec.Group == "" && inbox != "" && strings.HasPrefix(sub.Inbox, inbox) {
			found = true
			sent = max(sent, sub.Last)
			pending += sub.Pending
		}
	}
	if !found {
		return driver.Depth{}, fmt.Errorf("stan: depth of %q: %w: the server knows the place of who has subscribed only", channel, driver.ErrNotConnected)
	}
	return driver.Depth{Messages: int64(state.Last-min(sent, state.Last)) + pending, Unacknowledged: true}, nil
}

// inboxOf returns what the inboxes of a consumer begin with; empty: it is not there.
func (s *session) inboxOf(id int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.consumers {
		if inbox := c.inbox.Load(); c.id == id && inbox != nil {
			return *inbox
		}
	}
	return ""
}
