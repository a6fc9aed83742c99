package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/fleet/wire"
)

// ErrNoRun is wrapped by the error about a run of which the control plane has no stream.
var ErrNoRun = errors.New("the control plane has no such run")

// Kept is a run of which the control plane has the stream.
type Kept struct {
	Run      string
	Made     time.Time
	Bytes    uint64
	Messages uint64
	Replicas int
}

// Runs returns the runs of which the control plane has the stream, the oldest first.
func Runs(ctx context.Context, nc *nats.Conn) ([]Kept, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("list the streams of runs: %w", err)
	}
	var all []Kept
	streams := js.ListStreams(ctx)
	for s := range streams.Info() {
		if run, ok := strings.CutPrefix(s.Config.Name, wire.StreamName("")); ok {
			all = append(all, Kept{run, s.Created, s.State.Bytes, s.State.Msgs, s.Config.Replicas})
		}
	}
	if err := streams.Err(); err != nil {
		return nil, fmt.Errorf("list the streams of runs: %w", withoutStreams(err))
	}
	slices.SortFunc(all, func(x, y Kept) int { return x.Made.Compare(y.Made) })
	return all, nil
}

// Stream returns the stream of a run. The error wraps [ErrNoRun] if there is none.
func Stream(ctx context.Context, nc *nats.Conn, run string) (jetstream.Stream, error) {
	doing := func(err error) error { return fmt.Errorf("open the stream of run %s: %w", run, err) }
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, doing(err)
	}
	s, err := js.Stream(ctx, wire.StreamName(run))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("%w: %s", ErrNoRun, run)
	}
	if err != nil {
		return nil, doing(err)
	}
	return s, nil
}

// Condition is what a control plane says of itself.
type Condition struct {
	Server    string // product and version
	Cluster   string // its cluster's name; empty: one server
	Ours      bool   // started by sixnines, so that each write is synced
	RoundTrip time.Duration
	// Used are the bytes of streams on the disk, or those that the server keeps for them if that is more. Limit is the most; -1:
	// the server does not say.
	Used  uint64
	Limit int64
}

// Describe asks a control plane what it is.
func Describe(ctx context.Context, nc *nats.Conn) (Condition, error) {
	c := Condition{Server: "nats-server " + nc.ConnectedServerVersion(), Cluster: nc.ConnectedClusterName(), Ours: Ours(nc)}
	js, err := jetstream.New(nc)
	if err != nil {
		return c, err
	}
	info, err := js.AccountInfo(ctx)
	if err != nil {
		return c, withoutStreams(err)
	}
	c.Used, c.Limit = max(info.Store, info.ReservedStore), info.Limits.MaxStore
	c.RoundTrip, err = nc.RTT()
	return c, err
}

// withoutStreams says what an error about a server without streams means.
func withoutStreams(err error) error {
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return fmt.Errorf("%w: the control plane needs a NATS server with JetStream", err)
	}
	return err
}
