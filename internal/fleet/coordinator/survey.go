package coordinator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sixnines/internal/fleet/wire"
)

// Seen is an agent that was found.
type Seen struct {
	wire.Found
	Status wire.Status
	Err    error // why the status is not known
}

// Survey asks who is there, and what each does. The error is that of ctx or of the connection.
func Survey(ctx context.Context, nc *nats.Conn, version string) ([]Seen, error) {
	found, err := wire.Find(ctx, nc, version, wire.Search{})
	if err != nil {
		return nil, err
	}
	text, err := wire.Encode(version, &wire.Ask{})
	if err != nil {
		return nil, err
	}
	all := make([]Seen, len(found))
	atOnce(len(all), func(i int) {
		all[i] = Seen{Found: found[i]}
		if s := &all[i]; s.Skew == nil {
			s.Err = askStatus(ctx, nc, version, s.Hello.ID, text, &s.Status)
		}
	})
	return all, nil
}

func askStatus(ctx context.Context, nc *nats.Conn, version, id string, text []byte, to *wire.Status) error {
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	m, err := nc.RequestWithContext(within, wire.RequestSubject(id, wire.RequestStatus), text)
	if err != nil {
		return fmt.Errorf("it does not answer: %w", err)
	}
	return wire.Decode(version, m.Data, to)
}

// atOnce calls do with 0 to n−1, at most 64 calls at the same time, and returns when all calls have returned.
func atOnce(n int, do func(int)) {
	const most = 64
	var all sync.WaitGroup
	places := make(chan struct{}, most)
	for i := range n {
		places <- struct{}{}
		all.Go(func() {
			do(i)
			<-places
		})
	}
	all.Wait()
}

// Led reports whether a run has a coordinator: whether one is heard of before two of its pulses would have come.
func Led(ctx context.Context, nc *nats.Conn, version, run string) (bool, error) {
	heard, err := nc.SubscribeSync(wire.PulseSubject(run))
	if err != nil {
		return false, fmt.Errorf("listen for the coordinator: %w", err)
	}
	defer heard.Unsubscribe()
	within, cancel := context.WithTimeout(ctx, 2*pulse+500*time.Millisecond)
	defer cancel()
	for {
		m, err := heard.NextMsgWithContext(within)
		switch {
		case err != nil && ctx.Err() != nil:
			return false, context.Cause(ctx)
		case err != nil:
			return false, nil
		case wire.Decode(version, m.Data, &wire.Pulse{}) == nil:
			return true, nil
		}
	}
}

// Stop asks the agents of a run to end it, at once or so that what is in flight is awaited, and returns those that were
// asked. An agent whose run is over already sets its records aside. Their answers show in their statuses.
func Stop(ctx context.Context, nc *nats.Conn, version string, s *wire.Stop) ([]Seen, error) {
	all, err := Survey(ctx, nc, version)
	if err != nil {
		return nil, err
	}
	text, err := wire.Encode(version, s)
	if err != nil {
		return nil, err
	}
	var of []Seen
	for _, a := range all {
		if a.Status.Run == s.Run {
			of = append(of, a)
		}
	}
	atOnce(len(of), func(i int) { _, of[i].Err = ask(ctx, nc, version, of[i].Hello.ID, wire.RequestStop, text) })
	return of, nil
}
