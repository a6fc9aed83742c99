package selftest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/spell"
)

// shiftedClock is a clock that is off by a known amount and gains a known share.
type shiftedClock struct {
	from   int64         // the instant from which it drifts, of the true clock
	offset time.Duration // at from
	drift  float64       // share
}

// at returns what the clock shows at a true instant.
func (c shiftedClock) at(t int64) int64 {
	return t + int64(c.offset) + int64(c.drift*float64(t-c.from))
}

// off returns how far it is off at a true instant.
func (c shiftedClock) off(t int64) int64 { return c.at(t) - t }

// clockCase is a clock and the network paths to it.
type clockCase struct {
	name        string
	clock       shiftedClock
	there, back time.Duration // least delay in each direction
	jitterThere time.Duration // mean of the additional, exponential delay
	jitterBack  time.Duration // likewise
	congested   float64       // share of messages, in each direction, that wait in a queue
	queue       time.Duration // mean of that wait, exponential
	steps       int           // how often the clock is set by 5 ms, half-way: 0 or 1
}

// clockCases returns the cases for the estimator: small and large offsets, drifts in
// both directions, paths that differ tenfold, and a clock that is set.
func clockCases() []clockCase {
	const us, ms = time.Microsecond, time.Millisecond
	return []clockCase{
		{name: "+7.3 ms, +50 ppm, symmetric", clock: shiftedClock{offset: 7300 * us, drift: 50e-6}, there: 100 * us, back: 100 * us, jitterThere: 100 * us, jitterBack: 100 * us},
		{name: "−2 h, −200 ppm, 80 µs there and 800 µs back", clock: shiftedClock{offset: -2 * time.Hour, drift: -200e-6}, there: 80 * us, back: 800 * us, jitterThere: 50 * us, jitterBack: 500 * us},
		{name: "+31 µs, 0 ppm, every third exchange in a queue", clock: shiftedClock{offset: 31 * us}, there: 150 * us, back: 120 * us, jitterThere: 80 * us, jitterBack: 80 * us, congested: 0.33, queue: 20 * ms},
		{name: "+1 s, +5 ppm, set by 5 ms half-way", clock: shiftedClock{offset: time.Second, drift: 5e-6}, there: 100 * us, back: 150 * us, jitterThere: 100 * us, jitterBack: 100 * us, steps: 1},
	}
}

// clockReading is what was estimated at an instant, and the truth.
type clockReading struct {
	offset, bound, truth int64 // ns
	drift, driftBound    float64
	drifts               float64 // the truth
}

// clocks injects offset and drift, simulated and over loopback, and requires that the
// estimate is within its stated bound.
func clocks(ctx context.Context, b *Bench) (*Outcome, error) {
	seeds, length := 20, 300
	live := 5 * time.Second
	if b.Short {
		seeds, length, live = 4, 120, 1500*time.Millisecond
	}
	var figures []Figure
	for _, c := range clockCases() {
		b.Say("%s: %d seeds of %d s", c.name, seeds, length)
		var all []clockReading
		var delays []int64
		steps := 0
		for seed := range seeds {
			readings, met, n, err := simulate(c, uint64(seed), length)
			if err != nil {
				return nil, err
			}
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			all, delays, steps = append(all, readings...), append(delays, met...), steps+n
		}
		figures = append(figures, recovered(c.name, all, delays)...)
		figures = append(figures, Exactly(c.name+": steps seen", c.steps*seeds, steps))
	}
	c := shiftedClock{from: clock.Now(), offset: -43 * time.Minute, drift: 80e-6}
	b.Say("over loopback: %s", spell.Period(c.offset))
	all, delays, err := probeClock(ctx, c, live)
	if err != nil {
		return nil, fmt.Errorf("over loopback: %w", err)
	}
	figures = append(figures, recovered("loopback, −43 min, +80 ppm", all, delays)...)
	return Conclude("offset and drift were injected into simulated exchanges with jittery, asymmetric delays, and into the clock of a peer over loopback; the bound is proven, so no estimate may lie beyond it", figures...), nil
}

// recovered judges estimates: each must be within its bound, and the median bound must
// be at most half of the median delay of an exchange, which is the bound that a single
// exchange gives.
func recovered(name string, all []clockReading, delays []int64) []Figure {
	beyond, drifted, worst := 0, 0, int64(0)
	var bounds, misses []int64
	for _, r := range all {
		miss := max(r.offset-r.truth, r.truth-r.offset)
		if miss > r.bound {
			beyond++
		}
		if d := r.drift - r.drifts; d > r.driftBound || -d > r.driftBound {
			drifted++
		}
		worst = max(worst, miss)
		bounds, misses = append(bounds, r.bound), append(misses, miss)
	}
	n := len(all)
	if n == 0 || len(delays) == 0 {
		return []Figure{Exactly(name+": estimates", "some", "none")}
	}
	usual := time.Duration(middle(delays) / 2)
	bound := time.Duration(middle(bounds))
	sharp := Figure{What: name + ": the bound at the median", Expected: "at most " + Time(usual), Found: Time(bound), Tolerance: "half of a usual delay", Verdict: Passed}
	if bound > usual {
		sharp.Verdict = Failed
	}
	beyondF := Exactly(fmt.Sprintf("%s: of %s offsets, beyond the stated bound", name, grouped(int64(n))), 0, beyond)
	beyondF.Found += fmt.Sprintf(" (off by %s at the median, %s at most)", Time(time.Duration(middle(misses))), Time(time.Duration(worst)))
	return []Figure{beyondF, Exactly(name+": of as many drifts, beyond the stated bound", 0, drifted), sharp}
}

// middle returns the median; values must not be empty.
func middle(values []int64) int64 {
	s := slices.Clone(values)
	slices.Sort(s)
	return s[len(s)/2]
}

// simulate makes ten exchanges a second for the given time and reads the
// estimate once a second, five seconds late. It returns the delays and the
// number of steps as well.
func simulate(c clockCase, seed uint64, seconds int) (all []clockReading, delays []int64, steps int, err error) {
	e, err := clocksync.NewEstimator(clocksync.Config{})
	if err != nil {
		return nil, nil, 0, err
	}
	r := rand.New(rand.NewPCG(seed, 8))
	way := func(least, jitter time.Duration) int64 {
		d := float64(least) + r.ExpFloat64()*float64(jitter)
		if r.Float64() < c.congested {
			d += r.ExpFloat64() * float64(c.queue)
		}
		return int64(d)
	}
	const every, late = 100 * time.Millisecond, 5 * time.Second
	stepped := int64(seconds) * 1e9 / 2 // only for a stepped clock
	shown := func(t int64) int64 {
		if c.steps > 0 && t >= stepped {
			return c.clock.at(t) + int64(5*time.Millisecond)
		}
		return c.clock.at(t)
	}
	for i := range seconds * 10 {
		t1 := int64(i) * int64(every)
		at := t1 + way(c.there, c.jitterThere)
		answered := at + 20_000 + int64(r.ExpFloat64()*10_000)
		t4 := answered + way(c.back, c.jitterBack)
		if t4 >= t1+int64(every) {
			continue // a prober gives it up when the next is due
		}
		x := clocksync.Exchange{T1: t1, T2: shown(at), T3: shown(answered), T4: t4}
		delays = append(delays, x.Delay())
		e.Add(x)
		if then := t1 - int64(late); i%10 == 0 && then > 0 {
			if got, ok := e.At(then); ok {
				all = append(all, clockReading{got.Offset, got.Bound, shown(then) - then, got.Drift, got.DriftBound, c.clock.drift})
			}
		}
	}
	steps, _ = e.Steps()
	return all, delays, steps, nil
}

// probeClock asks a peer on loopback, whose clock is off, for the time.
func probeClock(ctx context.Context, c shiftedClock, length time.Duration) (all []clockReading, delays []int64, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	answering := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = errors.Join(clocksync.Respond(ctx, conn, func() int64 { return c.at(clock.Now()) }), conn.Close())
		}
		answering <- err
	}()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		err = errors.Join(err, l.Close(), <-answering)
		return nil, nil, err
	}
	e, err := clocksync.NewEstimator(clocksync.Config{Keep: 100 * time.Millisecond})
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close(), l.Close())
	}
	const every, late = 10 * time.Millisecond, 200 * time.Millisecond
	err = clocksync.NewProber(conn, clock.Now).Run(ctx, every, func(x clocksync.Exchange) {
		e.Add(x)
		delays = append(delays, x.Delay())
		then := x.T4 - int64(late)
		if got, ok := e.At(then); ok && then > c.from+int64(2*late) {
			all = append(all, clockReading{got.Offset, got.Bound, c.off(then), got.Drift, got.DriftBound, c.drift})
		}
	})
	cancel()
	return all, delays, errors.Join(err, conn.Close(), <-answering, l.Close())
}
