package brokers

import (
	"context"
	"errors"
	"fmt"
)

// natsGroup is a Raft group as one server describes it.
type natsGroup struct {
	Leader   string `json:"leader"`
	Size     int    `json:"cluster_size"`
	Replicas []struct {
		Name    string `json:"name"`
		Current bool   `json:"current"`
	} `json:"replicas"`
}

// natsStreams is what a server says of JetStream: of its own streams and their consumers.
type natsStreams struct {
	Meta     natsGroup `json:"meta_cluster"`
	Accounts []struct {
		Streams []natsAsset `json:"stream_detail"`
	} `json:"account_details"`
}

// natsAsset is a stream or a consumer.
type natsAsset struct {
	Name      string      `json:"name"`
	Cluster   *natsGroup  `json:"cluster"`
	Consumers []natsAsset `json:"consumer_detail"`
}

// led returns an error unless the asset and all below it have a leader.
func (a natsAsset) led() error {
	if a.Cluster != nil && a.Cluster.Leader == "" {
		return fmt.Errorf("%s has no leader", a.Name)
	}
	for _, c := range a.Consumers {
		if err := c.led(); err != nil {
			return err
		}
	}
	return nil
}

// agreed returns nil when the servers have elected a leader of JetStream's meta
// group, all of them are up to date, and every stream and consumer has a leader.
// After all servers were killed that takes some seconds.
func agreed(ctx context.Context, nodes []natsNode) error {
	led := false
	for _, n := range nodes {
		var js natsStreams
		if err := monitored(ctx, n, "/jsz?accounts=1&streams=1&consumers=1", &js); err != nil {
			return err
		}
		m := js.Meta
		if m.Leader == "" || m.Size != len(nodes) {
			return fmt.Errorf("%s reports the leader %q of %d servers, but there are %d", n.name, m.Leader, m.Size, len(nodes))
		}
		for _, a := range js.Accounts {
			for _, s := range a.Streams {
				if err := s.led(); err != nil {
					return fmt.Errorf("%s: %w", n.name, err)
				}
			}
		}
		if m.Leader != n.name {
			continue
		}
		led = true
		if len(m.Replicas) != len(nodes)-1 {
			return fmt.Errorf("%s leads %d servers, but there are %d", n.name, 1+len(m.Replicas), len(nodes))
		}
		for _, r := range m.Replicas {
			if !r.Current {
				return fmt.Errorf("%s is not up to date", r.Name)
			}
		}
	}
	if !led {
		return errors.New("the servers do not agree on the leader")
	}
	for _, n := range nodes {
		if err := monitored(ctx, n, "/healthz", new(any)); err != nil {
			return err
		}
	}
	return nil
}

// monitored reads the JSON answer of a node's monitoring endpoint into answer.
func monitored(ctx context.Context, n natsNode, path string, answer any) error {
	return ask(ctx, "http://"+n.place.at(n.monitor)+path, answer)
}
