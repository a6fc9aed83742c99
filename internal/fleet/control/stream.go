package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/fleet/wire"
)

// The limits of a run's stream. What is beyond them is refused, not dropped: the agents keep it.
const (
	streamAge = 7 * 24 * time.Hour // of its messages, for coordinators that never came back
	consumers = 16
)

// copies is how many servers keep a stream in a cluster.
const copies = 3

// MakeStream makes the stream of a run, which must not be there. It takes at most so many bytes, and in a cluster it has
// three copies.
func MakeStream(ctx context.Context, nc *nats.Conn, run string, bytes int64) (jetstream.Stream, error) {
	doing := func(err error) error { return fmt.Errorf("make the stream of run %s: %w", run, err) }
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, doing(err)
	}
	c := jetstream.StreamConfig{
		Name: wire.StreamName(run), Description: "records of the agents of a run of sixnines",
		Subjects:  []string{wire.RecordSubject(run, "*"), wire.ManifestSubject(run)},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
		MaxBytes: bytes, MaxAge: streamAge, MaxMsgSize: maxPayload, MaxConsumers: consumers, AllowDirect: true,
		Replicas: 1,
		// A server takes a stream that is made again with the same settings for the first one.
		Metadata: map[string]string{"made": rand.Text()},
	}
	if nc.ConnectedClusterName() != "" {
		c.Replicas = copies
	}
	s, err := js.CreateStream(ctx, c)
	if err != nil {
		return nil, doing(withoutStreams(err))
	}
	return s, nil
}

// RemoveStream removes the stream of a run with all that is in it. It is not an error if it is not there.
func RemoveStream(ctx context.Context, nc *nats.Conn, run string) error {
	js, err := jetstream.New(nc)
	if err == nil {
		err = js.DeleteStream(ctx, wire.StreamName(run))
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("remove the stream of run %s: %w", run, err)
	}
	return nil
}
