package coordinator

import (
	"context"
	"errors"
	"math"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/wire"
)

// probes is how often an agent's clock is asked.
const probes = 20

// Clock is how an agent's clock differs from this process's.
type Clock struct {
	// Offset is the agent's clock less this one, ns; the true one is within Offset ± Bound. With one clock both are 0.
	Offset, Bound int64
	Same          bool
	// RoundTrip is the shortest time in which an answer came.
	RoundTrip time.Duration
}

// AskClock asks an agent for its time, and estimates how its clock differs ahead of now.
func AskClock(ctx context.Context, nc *nats.Conn, h *wire.Hello, ahead time.Duration) (Clock, error) {
	e, err := clocksync.NewEstimator(clocksync.Config{Keep: 10 * time.Millisecond})
	if err != nil {
		return Clock{}, err
	}
	c := Clock{Same: wire.SameClock(h, self()), RoundTrip: math.MaxInt64}
	for number := range uint32(probes) {
		left := clock.Now()
		x, err := exchange(ctx, nc, h.ID, number)
		if err != nil {
			return Clock{}, err
		}
		c.RoundTrip = min(c.RoundTrip, time.Duration(clock.Now()-left))
		e.Add(x)
	}
	at, ok := e.At(clock.Now() + int64(ahead))
	if !ok {
		return Clock{}, errors.New("its answers contradict each other")
	}
	if c.Same = c.Same && max(at.Offset, -at.Offset) <= at.Bound; c.Same { // or a machine was resumed from another one's snapshot
		return c, nil
	}
	c.Offset, c.Bound = at.Offset, at.Bound
	return c, nil
}

// self is what [wire.SameClock] needs to know of this process.
func self() *wire.Hello {
	host, _ := os.Hostname() // an empty name is no agent's: the clocks are then compared
	return &wire.Hello{Host: host, Clock: clock.Domain()}
}
