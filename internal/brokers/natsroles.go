package brokers

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// natsRoles asks the servers' monitoring for leaders, and JetStream's API to elect others.
func natsRoles(nodes []natsNode, o *Options) roles {
	return roles{
		placement: func(ctx context.Context, running []int, d Destination) (Placement, error) {
			return natsPlacement(ctx, nodes, running, d)
		},
		transfer: func(ctx context.Context, running []int, d Destination, p Placement) error {
			subject := "$JS.API.STREAM.LEADER.STEPDOWN." + d.Name
			if d.Consumer != "" {
				subject = "$JS.API.CONSUMER.LEADER.STEPDOWN." + d.Name + "." + d.Consumer
			}
			_, err := firstOf(running, func(k int) (struct{}, error) {
				return struct{}{}, stepDown(ctx, nodes[k].place.at(nodes[k].client), subject, o)
			})
			return err
		},
	}
}

// natsPlacement asks all servers that run and have the destination. The one that says that it leads itself
// knows its followers; what another says of the leader may be out of date.
func natsPlacement(ctx context.Context, nodes []natsNode, running []int, d Destination) (Placement, error) {
	number := func(name string) int { return slices.IndexFunc(nodes, func(n natsNode) bool { return n.name == name }) }
	var errs []error
	there := false
	for _, k := range running {
		a, err := natsAssetAt(ctx, nodes[k], d)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if a == nil || a.Cluster == nil {
			continue
		}
		there = true
		if a.Cluster.Leader != nodes[k].name {
			continue
		}
		p := Placement{Leader: k}
		for _, r := range a.Cluster.Replicas {
			f := number(r.Name)
			if f < 0 {
				return Placement{}, fmt.Errorf("server %q has a replica but is not one of the %d nodes", r.Name, len(nodes))
			}
			p.Followers = append(p.Followers, f)
			if r.Current {
				p.InSync = append(p.InSync, f)
			}
		}
		return p, nil
	}
	switch {
	case there:
		return Placement{}, ErrNoLeader
	case len(errs) > 0:
		return Placement{}, errors.Join(errs...)
	}
	return Placement{}, fmt.Errorf("%w: no running node has it", ErrNoLeader)
}

// natsAssetAt returns the stream or consumer as the server describes it; nil: the server does not have it.
func natsAssetAt(ctx context.Context, n natsNode, d Destination) (*natsAsset, error) {
	var js natsStreams
	if err := monitored(ctx, n, "/jsz?accounts=1&streams=1&consumers=1", &js); err != nil {
		return nil, err
	}
	for _, a := range js.Accounts {
		for _, s := range a.Streams {
			if s.Name != d.Name {
				continue
			}
			if d.Consumer == "" {
				return &s, nil
			}
			if i := slices.IndexFunc(s.Consumers, func(c natsAsset) bool { return c.Name == d.Consumer }); i >= 0 {
				return &s.Consumers[i], nil
			}
		}
	}
	return nil, nil
}

// stepDown sends a request without a body to the API of JetStream, and returns the error that it is answered
// with. It speaks the client protocol: https://docs.nats.io/reference/reference-protocols/nats-protocol.
func stepDown(ctx context.Context, address, subject string, o *Options) error {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	lines := bufio.NewReader(c)
	if _, err := lines.ReadString('\n'); err != nil { // INFO
		return err
	}
	if o.TLS != nil {
		if o.TLS.CA != "" {
			return fmt.Errorf("%w: the server requires a client certificate", ErrNoTransfer)
		}
		encrypted := tls.Client(c, &tls.Config{InsecureSkipVerify: true}) // the server is one that we started
		c, lines = encrypted, bufio.NewReader(encrypted)
	}
	login := map[string]any{"verbose": false, "pedantic": false, "name": "sixnines", "lang": "go", "version": "1"}
	switch {
	case o.User != "":
		login["user"], login["pass"] = o.User, o.Password
	case o.Password != "":
		login["auth_token"] = o.Password
	}
	said, err := json.Marshal(login)
	if err != nil {
		return err
	}
	const inbox = "_INBOX.sixnines"
	if _, err := fmt.Fprintf(c, "CONNECT %s\r\nSUB %s 1\r\nPUB %s %s 0\r\n\r\n", said, inbox, subject, inbox); err != nil {
		return err
	}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("%s does not answer: %w", subject, err)
		}
		words := strings.Fields(line)
		if len(words) > 0 && words[0] == "-ERR" {
			return fmt.Errorf("%s: %s", address, strings.TrimSpace(line))
		}
		if len(words) < 4 || words[0] != "MSG" {
			continue
		}
		size, err := strconv.Atoi(words[len(words)-1])
		if err != nil || size < 0 || size > 1<<20 {
			return fmt.Errorf("%s answers with %.80q", address, line)
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(lines, body); err != nil {
			return err
		}
		var answer struct {
			Error *struct {
				Description string `json:"description"`
			} `json:"error"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return fmt.Errorf("%s answers with %.80q: %w", address, body, err)
		}
		if answer.Error != nil {
			return fmt.Errorf("%w: %s", ErrNoTransfer, answer.Error.Description)
		}
		return nil
	}
}
