package coordinator

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/wire"
)

// Two agents find how their clocks differ by asking each other. Where all ways are symmetric that agrees with what the coordinator finds of
// both. A way that is slow in one direction between the coordinator and one of them shows, and the expected error is what it makes. An agent
// that tells another one something else than the coordinator contradicts what is proved.
func TestLoopsOverThreeClocks(t *testing.T) {
	const fast, slow, lie = 100 * time.Microsecond, 400 * time.Microsecond, int64(2 * time.Millisecond)
	for name, c := range map[string]struct {
		back          time.Duration // from the first agent to the coordinator
		lie           int64         // of the second agent's clock
		direct        time.Duration // by which the way from the second agent to the first takes longer than back
		open, unknown bool
	}{
		"symmetric":       {back: fast},
		"one way slow":    {back: slow, open: true},
		"direct way slow": {back: fast, direct: 8 * fast},
		"one agent lies":  {back: fast, lie: lie, open: true, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				origin := clock.Now()
				ahead := []func() int64{
					func() int64 { return int64(time.Hour) + (clock.Now()-origin)/50_000 },
					func() int64 { return -int64(time.Minute) - (clock.Now()-origin)/30_000 },
				}
				way := func(d time.Duration) { // one in three is queued
					if rand.IntN(3) == 0 {
						d += time.Duration(rand.ExpFloat64() * 1e6)
					}
					time.Sleep(d)
				}
				here := clock.Now
				exchange := func(mine, theirs func() int64, there, back time.Duration) (x clocksync.Exchange) {
					x.T1 = mine()
					way(there)
					x.T2, x.T3 = theirs(), theirs()
					way(back)
					x.T4 = mine()
					return x
				}
				of := func(i int) func() int64 { return func() int64 { return clock.Now() + ahead[i]() } }
				backs := []time.Duration{c.back, fast}
				l := newLoops([][2]int{{0, 1}})
				var trackers []*tracker
				for i := range 2 {
					x := newTracker("run", func(uint32) (exchanged, error) {
						of := exchange(here, of(i), fast, backs[i])
						return exchanged{Exchange: of, came: of.T4}, nil
					}, func(*wire.Clock) error { return nil })
					x.note = func(n noted) { l.note(i, n) }
					for range probes {
						if err := x.exchange(); err != nil {
							t.Fatal(err)
						}
					}
					trackers = append(trackers, x)
				}
				start := clock.Now() + 1e9
				for _, x := range trackers {
					x.begun, x.assessed = true, start
				}
				lies := func() int64 { return of(1)() + c.lie }
				told := []wire.Told{{Pair: 0}, {Pair: 0}}
				for n := range 300 {
					time.Sleep(50 * time.Millisecond)
					for _, x := range trackers {
						_ = x.exchange()
						if n%10 == 0 {
							_ = x.correct(clock.Now())
						}
						x.assess(clock.Now() - int64(settles))
					}
					for i, x := range []clocksync.Exchange{exchange(of(0), lies, fast/2, fast/2+c.direct), exchange(of(1), of(0), fast/2+c.direct, fast/2)} {
						told[i].All = append(told[i].All, [4]int64{x.T1, x.T2, x.T3, x.T4})
						if len(told[i].All) == 10 {
							l.hear(i, told[i:i+1])
							l.hear(1-i, []wire.Told{{Pair: 7, All: told[i].All}}) // of no pair of it
							told[i].All = nil
						}
					}
				}
				for i, x := range trackers {
					f := x.end(clock.Now())
					before := *f
					f.take(l.of(i))
					t.Logf("agent %d: %+v", i, f)
					wrong := f.Offset - (int64(time.Hour) + (start-origin)/50_000)
					if i == 1 {
						wrong = f.Offset - (-int64(time.Minute) - (start-origin)/30_000)
					}
					wrong = max(wrong, -wrong)
					if before.Unknown || f.Loops < 20 || f.Open != c.open || f.Unknown != c.unknown || f.Proved != before.Proved || f.Expected > f.Proved {
						t.Errorf("agent %d: before %+v, then %+v", i, before, f)
					}
					switch {
					case c.unknown:
					case !c.open && (f.Expected != before.Expected || f.Loop > int64(fast+c.direct)):
						t.Errorf("agent %d: before %+v, then %+v", i, before, f)
					case c.open && (f.Loop < int64(slow-fast)/2*9/10 || f.Expected < wrong):
						t.Errorf("agent %d is wrong by %d: before %+v, then %+v", i, wrong, before, f)
					}
				}
			})
		})
	}
}

// Agents ask their neighbours in a ring, and two of them each other.
func TestPairs(t *testing.T) {
	members := func(n int) (all []*member) {
		for i := range n {
			all = append(all, &member{index: i + 5})
		}
		return all
	}
	for n, want := range map[int][][2]int{0: nil, 1: nil, 2: {{5, 6}}, 3: {{5, 6}, {6, 7}, {7, 5}}, 4: {{5, 6}, {6, 7}, {7, 8}, {8, 5}}} {
		if got := pairs(members(n)); !slices.Equal(got, want) {
			t.Errorf("%d: %v", n, got)
		}
	}
}
