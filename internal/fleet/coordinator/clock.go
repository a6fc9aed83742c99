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

// twoClocks is the most that one clock gains on another, as a share: each may be slewed by 500 ppm (RFC 5905, MAXFREQ).
const twoClocks = 1e-3

// AskClock asks an agent for its time, and estimates how its clock differs ahead of now.
func AskClock(ctx context.Context, nc *nats.Conn, h *wire.Hello, ahead time.Duration) (Clock, error) {
	return askClock(ctx, nc, h, func() int64 { return clock.Now() + int64(ahead) })
}

// askClock asks an agent for its time, and estimates how its clock differs at an instant of this one, which is asked for then.
func askClock(ctx context.Context, nc *nats.Conn, h *wire.Hello, when func() int64) (Clock, error) {
	e, err := clocksync.NewEstimator(clocksync.Config{Keep: 10 * time.Millisecond, MaxDrift: twoClocks})
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
		e.Add(x.Exchange)
	}
	at, ok := e.At(when())
	if !ok {
		return Clock{}, errors.New("its answers contradict each other")
	}
	if c.Same = c.Same && max(at.Offset, -at.Offset) <= at.Bound; c.Same { // or a machine was resumed from another one's snapshot
		return c, nil
	}
	c.Offset, c.Bound = at.Offset, at.Bound
	return c, nil
}

// provedAt returns how wrong an agent's start was at most, by a clock that was compared again at that instant.
func (c *Clock) provedAt(given int64) int64 {
	wrong := given - c.Offset
	return max(wrong, -wrong) + c.Bound
}

// checkStarts compares the agents' clocks again as soon as their windows have begun: what the common start on them rests on was
// asked for before the warm-up, and clocks may have drifted apart since. done is closed when all have answered, or ctx has ended.
func (r *run) checkStarts(ctx context.Context) (done chan struct{}) {
	done = make(chan struct{})
	start := r.started.Start
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(start - clock.Now())):
		}
		each(r.members, func(m *member) {
			if c, err := askClock(ctx, r.Conn, &m.Hello, func() int64 { return start }); err == nil {
				m.proved = min(m.proved, c.provedAt(m.Offset))
			}
		})
	}()
	return done
}

// self is what [wire.SameClock] needs to know of this process.
func self() *wire.Hello {
	host, _ := os.Hostname() // an empty name is no agent's: the clocks are then compared
	return &wire.Hello{Host: host, Clock: clock.Domain()}
}
