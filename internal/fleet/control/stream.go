package control

import (
	"cmp"
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

// required is the most bytes of a stream where the account's limits ask each stream to say that. A server reserves as
// much, also for runs that were never finished: without need a stream has no limit but the server's.
const required = 2 << 30

// bytesRequired is the server's code of the error about a stream without a limit where each must have one.
const bytesRequired jetstream.ErrorCode = 10113

// MakeStream makes the stream of a run, which must not be there. It takes at most that many bytes, 0: as many as the server has,
// and in a cluster it has three copies. Streams of runs that nobody finished, and whose messages are gone, are removed.
func MakeStream(ctx context.Context, nc *nats.Conn, run string, bytes int64) (jetstream.Stream, error) {
	doing := func(err error) error { return fmt.Errorf("make the stream of run %s: %w", run, err) }
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, doing(err)
	}
	if err := removeEmptied(ctx, nc, js); err != nil {
		return nil, doing(err)
	}
	c := jetstream.StreamConfig{
		Name: wire.StreamName(run), Description: "records of the agents of a run of sixnines",
		Subjects:  []string{wire.RecordSubject(run, "*"), wire.ManifestSubject(run)},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
		MaxBytes: cmp.Or(bytes, -1), MaxAge: streamAge, MaxMsgSize: maxPayload, MaxConsumers: consumers, AllowDirect: true,
		Replicas: 1,
		// A server takes a stream that is made again with the same settings for the first one.
		Metadata: map[string]string{"made": rand.Text()},
	}
	if nc.ConnectedClusterName() != "" {
		c.Replicas = copies
	}
	s, err := js.CreateStream(ctx, c)
	if refused := (*jetstream.APIError)(nil); bytes == 0 && errors.As(err, &refused) && refused.ErrorCode == bytesRequired {
		c.MaxBytes = required
		s, err = js.CreateStream(ctx, c)
	}
	if err != nil {
		return nil, doing(withoutStreams(err))
	}
	return s, nil
}

// removeEmptied removes streams of runs whose messages have become too old.
func removeEmptied(ctx context.Context, nc *nats.Conn, js jetstream.JetStream) error {
	all, err := Runs(ctx, nc)
	if err != nil {
		return err
	}
	for _, k := range all {
		if k.Messages > 0 || time.Since(k.Made) < streamAge {
			continue
		}
		if err := js.DeleteStream(ctx, wire.StreamName(k.Run)); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return err
		}
	}
	return nil
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
