package coordinator

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/wire"
)

// An agent's clock that is an hour ahead and gains 50 ppm is followed: at every instant its corrections are wrong by no more than is
// reported, whatever the ways take; and by no more than is expected where those of the fastest exchanges are symmetric.
func TestAClockIsFollowed(t *testing.T) {
	for name, back := range map[string]time.Duration{"symmetric": 100 * time.Microsecond, "asymmetric": 400 * time.Microsecond, "queued on one way": 100 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				origin, oneWay := clock.Now(), name == "queued on one way" // all exchanges but a few
				ahead := func(now int64) int64 { return int64(time.Hour) + int64(50e-6*float64(now-origin)) }
				var used atomic.Pointer[wire.Clock]
				way := func(d time.Duration) { // some are queued
					if !oneWay && rand.IntN(3) == 0 {
						d += time.Duration(rand.ExpFloat64() * 1e6)
					}
					time.Sleep(d)
				}
				now := func() int64 { return clock.Now() + ahead(clock.Now()) }
				x, err := newTracker("run", func(n uint32) (clocksync.Exchange, error) {
					left := clock.Now()
					way(100 * time.Microsecond)
					answer, err := clocksync.Answer(clocksync.Ask(n, left), now(), now)
					if err != nil {
						return clocksync.Exchange{}, err
					}
					way(back)
					if oneWay && n%40 != 1 {
						time.Sleep(200 * time.Microsecond)
					}
					if n > 1 && rand.IntN(20) == 0 {
						return clocksync.Exchange{}, errors.New("lost")
					}
					return clocksync.Take(answer, n, left, clock.Now())
				}, func(c *wire.Clock) error {
					way(time.Millisecond)
					used.Store(c)
					way(time.Millisecond)
					if rand.IntN(10) == 0 {
						return errors.New("the answer is lost")
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for range probes {
					_ = x.exchange()
				}
				for used.Load() == nil {
					_ = x.correct(clock.Now())
				}
				ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
				defer cancel()
				from := clock.Now() + 1e9
				x.begun, x.assessed = true, from
				done := make(chan struct{})
				go func() { defer close(done); x.follow(ctx, askEvery) }()
				worst := int64(0)
				for ctx.Err() == nil {
					time.Sleep(7 * time.Millisecond)
					if c := used.Load(); clock.Now() >= from {
						wrong := c.Shift(now()) - ahead(clock.Now())
						worst = max(worst, wrong, -wrong)
					}
				}
				<-done
				f := x.end(clock.Now())
				t.Logf("wrong by up to %d ns: %+v", worst, f)
				if wrong := f.Offset - ahead(from); max(wrong, -wrong) > f.Proved {
					t.Errorf("at the start the offset was %d, and reported is %+v", ahead(from), f)
				}
				if f.Unknown || worst > f.Proved || f.Proved > 5*f.RoundTrip || f.Asked < 400 || f.RoundTrip > int64(2*(100*time.Microsecond+back)) {
					t.Errorf("wrong by up to %d ns, and reported is %+v", worst, f)
				}
				if name != "asymmetric" && worst > f.Expected || f.Expected > f.Proved || math.Abs(f.Drift-50e-6) > 10e-6 {
					t.Errorf("wrong by up to %d ns, and expected is %+v", worst, f)
				}
			})
		})
	}
}

// A clock that steps, or that nobody answers for, is reported as not known.
func TestAClockThatIsNotKnown(t *testing.T) {
	for _, name := range []string{"steps", "is not asked any more", "is well"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				origin := clock.Now()
				x, err := newTracker("run", func(n uint32) (clocksync.Exchange, error) {
					left, offset := clock.Now(), int64(time.Hour)
					if late := left > origin+5e9; late && name == "steps" {
						offset += 1e9
					} else if late && name == "is not asked any more" {
						return clocksync.Exchange{}, errors.New("nobody")
					}
					time.Sleep(100 * time.Microsecond)
					at := clock.Now() + offset
					time.Sleep(100 * time.Microsecond)
					return clocksync.Exchange{T1: left, T2: at, T3: at, T4: clock.Now()}, nil
				}, func(*wire.Clock) error { return nil })
				if err != nil {
					t.Fatal(err)
				}
				_ = x.exchange()
				x.begun, x.assessed = true, clock.Now()
				_ = x.correct(clock.Now())
				ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
				defer cancel()
				x.follow(ctx, askEvery)
				if f := x.end(clock.Now()); f.Unknown != (name != "is well") {
					t.Errorf("%+v", f)
				}
			})
		})
	}
}
