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
				x := newTracker("run", func(n uint32) (exchanged, error) {
					left := clock.Now()
					way(100 * time.Microsecond)
					answer, err := clocksync.Answer(clocksync.Ask(n, left), now(), clocksync.Reading{}, now)
					if err != nil {
						return exchanged{}, err
					}
					way(back)
					if oneWay && n%40 != 1 {
						time.Sleep(200 * time.Microsecond)
					}
					if n > 1 && rand.IntN(20) == 0 {
						return exchanged{}, errors.New("lost")
					}
					of, _, err := clocksync.Take(answer, n, left, clock.Now())
					return exchanged{Exchange: of, came: of.T4}, err
				}, func(c *wire.Clock) error {
					way(time.Millisecond)
					used.Store(c)
					way(time.Millisecond)
					if rand.IntN(10) == 0 {
						return errors.New("the answer is lost")
					}
					return nil
				})
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

// A time service changes the rate of the agent's monotonic clock at once, by up to 300 ppm and twice in three seconds. Ways are short: by the
// monotonic clocks alone that contradicts what is taken for proved, or is not noticed. By the raw clocks, which nobody slews, each correction
// is wrong by no more than is reported.
func TestAClockIsSlewed(t *testing.T) {
	for _, raw := range []bool{true, false} {
		t.Run(map[bool]string{true: "raw clocks", false: "without them"}[raw], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				origin := clock.Now()
				rng := rand.New(rand.NewPCG(7, 9))
				var rates []float64
				for range 60 {
					rates = append(rates, (rng.Float64()-0.5)*600e-6)
				}
				const every = 1_500_000_000
				slewed := func(now int64) int64 { // by how much more than the raw clock the agent's monotonic one has gone
					sum, left := 0.0, now-origin
					for _, r := range rates {
						d := min(left, every)
						sum, left = sum+r*float64(d), left-d
						if left <= 0 {
							break
						}
					}
					return int64(sum)
				}
				rawAhead := func(now int64) int64 { return int64(time.Hour) + int64(30e-6*float64(now-origin)) }
				ahead := func(now int64) int64 { return rawAhead(now) + slewed(now) }
				read := func(ahead int64) clocksync.Reading {
					if !raw {
						return clocksync.Reading{}
					}
					return clocksync.Reading{At: clock.Now(), Ahead: ahead + rng.Int64N(101) - 50, Width: 102}
				}
				var used atomic.Pointer[wire.Clock]
				x := newTracker("run", func(n uint32) (exchanged, error) {
					of := byMessages{before: read(0)}
					of.T1 = clock.Now()
					time.Sleep(10 * time.Microsecond)
					of.T2 = clock.Now() + ahead(clock.Now())
					of.T3, of.there = of.T2, read(-slewed(clock.Now()))
					time.Sleep(10 * time.Microsecond)
					of.T4, of.after = clock.Now(), read(0)
					return of.exchanged(), nil
				}, func(c *wire.Clock) error {
					used.Store(c)
					return nil
				})
				for range probes {
					_ = x.exchange()
				}
				_ = x.correct(clock.Now())
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				from := clock.Now() + 2e9
				x.begun, x.assessed = true, from
				done := make(chan struct{})
				go func() { defer close(done); x.follow(ctx, askEvery) }()
				worst := int64(0)
				for ctx.Err() == nil {
					time.Sleep(7 * time.Millisecond)
					if c := used.Load(); clock.Now() >= from {
						now := clock.Now()
						wrong := c.Shift(now+ahead(now)) - ahead(now)
						worst = max(worst, wrong, -wrong)
					}
				}
				<-done
				f := x.end(clock.Now())
				t.Logf("wrong by up to %d ns: %+v", worst, f)
				well := !f.Unknown && worst <= f.Proved && worst <= f.Expected
				if well != raw || f.Raw != raw {
					t.Errorf("wrong by up to %d ns, and reported is %+v", worst, f)
				}
				if raw && f.Proved > 2*worst+20_000 {
					t.Errorf("wrong by up to %d ns, and %d are proved", worst, f.Proved)
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
				x := newTracker("run", func(n uint32) (exchanged, error) {
					left, offset := clock.Now(), int64(time.Hour)
					if late := left > origin+5e9; late && name == "steps" {
						offset += 1e9
					} else if late && name == "is not asked any more" {
						return exchanged{}, errors.New("nobody")
					}
					time.Sleep(100 * time.Microsecond)
					at := clock.Now() + offset
					time.Sleep(100 * time.Microsecond)
					now := clock.Now()
					return exchanged{Exchange: clocksync.Exchange{T1: left, T2: at, T3: at, T4: now}, came: now}, nil
				}, func(*wire.Clock) error { return nil })
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
