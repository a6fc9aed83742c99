package brokers

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// rabbitCookie returns a random cookie for Erlang.
func rabbitCookie() string { return rand.Text() }

// amqpGreeting is the first bytes of an AMQP 0-9-1 client.
const amqpGreeting = "AMQP\x00\x00\x09\x01"

// rabbitReady returns nil if the node answers a greeting and the listener of streams,
// which opens later, is open.
func rabbitReady(ctx context.Context, n rabbitNode, o *Options) error {
	if err := greetRabbit(ctx, n.place.at(n.amqp), o.TLS); err != nil {
		return err
	}
	return listens(n.place.at(n.stream))(ctx)
}

// greetRabbit greets the node in AMQP. A node listens before it serves connections,
// and closes those that come too early.
func greetRabbit(ctx context.Context, address string, t *ServerTLS) error {
	head, err := greet(ctx, address, t, amqpGreeting, 11) // frame type, channel, size; class and method
	if err != nil || head == nil {
		return err
	}
	if want := []byte{0, 10, 0, 10}; !bytes.Equal(head[7:], want) {
		return fmt.Errorf("the answer to a greeting begins with %q", head)
	}
	return nil
}

// rabbitsTogether checks in the nodes' logs, from their last start on, that each pair of
// nodes has joined: AMQP has no request for the members of a cluster.
func rabbitsTogether(dir string, nodes []rabbitNode) error {
	var errs []error
	var logs [][]byte
	for _, n := range nodes {
		text, err := os.ReadFile(filepath.Join(dir, n.name, "rabbitmq.log"))
		if err != nil {
			return err
		}
		if i := bytes.LastIndex(text, []byte("Starting RabbitMQ ")); i >= 0 {
			text = text[i:]
		}
		logs = append(logs, text)
	}
	for i, n := range nodes {
		for j, peer := range nodes[:i] {
			// Only the node that is up first logs the other.
			if !sawUp(logs[i], peer) && !sawUp(logs[j], n) {
				errs = append(errs, fmt.Errorf("%s and %s have not joined", n, peer))
			}
		}
	}
	return errors.Join(errs...)
}

// sawUp reports whether the node has seen the peer come up, and not go down since.
func sawUp(log []byte, peer rabbitNode) bool {
	last := func(what string) int {
		return max(bytes.LastIndex(log, []byte("rabbit on node "+peer.String()+" "+what)), bytes.LastIndex(log, []byte("rabbit on node '"+peer.String()+"' "+what)))
	}
	return last("up") > last("down")
}
