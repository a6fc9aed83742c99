package stan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

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
		Channels   int64 `json:"max_channels"`
		Messages   int64 `json:"max_msgs"`
		Bytes      int64 `json:"max_bytes"`
		Age        int64 `json:"max_age"`        // ns
		Inactivity int64 `json:"max_inactivity"` // ns
	} `json:"limits"`
}

// channelState is what it tells of a channel.
type channelState struct {
	Last          uint64 `json:"last_seq"`
	Subscriptions []struct {
		Client  string `json:"client_id"`
		Queue   string `json:"queue_name"`
		Last    uint64 `json:"last_sent"`
		Pending int64  `json:"pending_count"` // sent, and not acknowledged
	} `json:"subscriptions"`
}

// ask reads a page of the monitoring, which may be of a channel.
func (s *session) ask(ctx context.Context, page, channel string, into any) error {
	if s.options.HTTPURL == "" {
		return fmt.Errorf("stan: state of the server: %w: only its monitoring tells; give option http_url", driver.ErrUnsupported)
	}
	address, err := s.options.monitoring()
	if err != nil {
		return err
	}
	address += "/streaming/" + page
	if channel != "" {
		address += "?" + url.Values{"channel": {channel}, "subs": {"1"}}.Encode()
	}
	text, status, err := s.Ask(ctx, http.MethodGet, address, nil, nil)
	switch {
	case err != nil:
	case status == http.StatusNotFound && channel != "":
		return fmt.Errorf("stan: channel %q: %w", channel, driver.ErrNoTopic)
	case status != http.StatusOK:
		err = fmt.Errorf("the server says %d", status)
	default:
		err = json.Unmarshal(text, into)
	}
	return wrap(err, "option \"http_url\": read %s of the server's monitoring", page)
}

// readServer asks for the server, if an option says where its monitoring is.
func (s *session) readServer(ctx context.Context) (told server, err error) {
	if s.options.HTTPURL == "" {
		return told, nil
	}
	told.known = true
	if err = s.ask(ctx, "serverz", "", &told); err == nil {
		err = s.ask(ctx, "storez", "", &told.store)
	}
	return told, err
}

// find looks for a channel that is to be there, where anybody can tell: to ask the
// server itself would make it.
func (s *session) find(ctx context.Context, channel string) error {
	err := s.ask(ctx, "channelsz", channel, new(channelState))
	if errors.Is(err, driver.ErrUnsupported) {
		return nil
	}
	return err
}

// Depth implements driver.DepthTeller: what has not been sent to the subscription,
// or to any member of the group, and what was sent and not acknowledged.
func (s *session) Depth(ctx context.Context, topic string, spec driver.ConsumerSpec) (driver.Depth, error) {
	var state channelState
	if err := s.ask(ctx, "channelsz", s.channel(topic), &state); err != nil {
		return driver.Depth{}, err
	}
	queue, client := spec.Group, s.clientID(consumerKey(spec))
	if queue != "" && s.options.Durable && !s.Target.Given {
		queue = durableOfGroups + ":" + queue
	}
	var sent uint64
	var pending int64
	found := 0
	for _, sub := range state.Subscriptions {
		if sub.Queue == queue && (queue != "" || sub.Client == client) {
			found++
			sent = max(sent, sub.Last)
			pending += sub.Pending
		}
	}
	switch {
	case found == 0:
		return driver.Depth{}, fmt.Errorf("stan: depth of %q: %w: the server knows the place of who has subscribed only", topic, driver.ErrNotConnected)
	case found > 1 && queue == "":
		return driver.Depth{}, fmt.Errorf("stan: depth of %q: %w: the server does not tell the subscribers of one connection apart; give each its own", topic, driver.ErrUnsupported)
	}
	return driver.Depth{Messages: int64(state.Last-min(sent, state.Last)) + pending, Unacknowledged: true}, nil
}
