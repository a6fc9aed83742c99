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

// rabbitCookie returns a secret that Erlang takes for a cookie.
func rabbitCookie() string { return rand.Text() }

// amqpGreeting is what a client of AMQP 0-9-1 says first.
const amqpGreeting = "AMQP\x00\x00\x09\x01"

// rabbitReady wants the node to greet back, and the listener of streams, which
// opens later, to be open.
func rabbitReady(ctx context.Context, n rabbitNode, o *Options) error {
	if err := greetRabbit(ctx, loopback(n.amqp), o.TLS); err != nil {
		return err
	}
	return listens(loopback(n.stream))(ctx)
}

// greetRabbit says hello in AMQP. A node listens before it takes connections,
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

// rabbitsTogether looks into the nodes' logs for the peers that each has seen
// come up since it was last started: a node that is asked by AMQP does not say
// which others there are.
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
			// The one that is up first learns of the other.
			if !sawUp(logs[i], peer) && !sawUp(logs[j], n) {
				errs = append(errs, fmt.Errorf("%s and %s have not joined", n, peer))
			}
		}
	}
	return errors.Join(errs...)
}

func sawUp(log []byte, peer rabbitNode) bool {
	return bytes.Contains(log, []byte("rabbit on node "+peer.String()+" up")) ||
		bytes.Contains(log, []byte("rabbit on node '"+peer.String()+"' up"))
}
