package judge

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sixnines/internal/spell/spelltest"
	"sixnines/result"
)

// withTail adds to a testbed its hundred slowest messages, in the form that the engine writes.
func withTail(b *testbed, ms []msg) *testbed {
	ms = slices.Clone(ms)
	slices.SortStableFunc(ms, func(x, y msg) int { return cmp.Compare(y.response(), x.response()) })
	closing := &b.intervals[len(b.intervals)-1].v
	for _, m := range ms[:100] {
		closing.Tail = append(closing.Tail, result.Exemplar{Metric: result.DeliveryResponse, Value: m.response(), Partition: -1,
			Intended: m.intended, Sent: m.intended + m.own + m.blocked, Done: m.intended + m.response(), Own: m.own})
	}
	return b
}

// pauses adds pauses of one source, each of one length, from each of the instants.
func (b *testbed) pauses(source result.PauseSource, length int64, at ...int64) {
	for _, t := range at {
		b.intervals[0].v.Pauses = append(b.intervals[0].v.Pauses, result.Pause{Start: t, End: t + length, Source: source})
	}
}

// freeze adds the pauses that the meters record when the process is paused.
func (b *testbed) freeze(length int64, at ...int64) {
	for _, source := range []result.PauseSource{result.PauseThread, result.PauseGoroutine, result.PauseProcess} {
		b.pauses(source, length, at...)
	}
}

func (b *testbed) idle() {
	for _, i := range b.intervals {
		i.v.Vitals[result.VitalHiccupIdleMax] = 0
	}
}

// scattered are instants in the window, at random.
func scattered(seed uint64, n int, to int64) []int64 {
	rng := rand.New(rand.NewPCG(seed, 77))
	var at []int64
	for range n {
		at = append(at, rng.Int64N(to))
	}
	return at
}

// late delays the messages due within a given time of each instant until the end of that time,
// by the generator's own lag or by the broker.
func late(ms []msg, own bool, length int64, at ...int64) []msg {
	for _, t := range at {
		stall(ms, t, length, func(m *msg, d int64) {
			if own {
				m.own += d
			} else {
				m.service += d
			}
		})
	}
	return ms
}

func TestTheCauseThatIsNamedIsTheOneInjected(t *testing.T) {
	every := func(step int64) (at []int64) {
		for t := int64(0); t < seconds*1e9; t += step {
			at = append(at, t)
		}
		return at
	}
	few := scattered(5, 30, seconds*1e9-1e9)
	for _, tt := range []struct {
		name  string
		build func() *testbed
		named []string // in any order
		text  string
		// code of the reason that must name it; "" : none may
		code string
	}{
		{"the tool is stopped", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), true, 400e6, 3e9))
			b.freeze(400e6, 3e9)
			b.idle()
			return b
		}, []string{string(result.PauseProcess)}, "100 of the slowest 100 overlapped a pause of sixnines itself, not of the machine", "frozen"},
		{"the tool is stopped in the midst of longer waits", func() *testbed {
			// Many places in the window would do as well, but a pause needs no test.
			b := withTail(newTestbed(nil), late(healthyMessages(), true, 1400e6, 3e9))
			b.freeze(800e6, 3_350e6)
			return b
		}, []string{string(result.PauseProcess)}, "100 of the slowest 100 overlapped a pause of sixnines itself (", "frozen"},
		{"the machine stands still", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), true, 400e6, 3e9))
			b.freeze(400e6, 3e9)
			b.pauses(result.PauseIdle, 401e6, 3e9)
			b.idle()
			return b
		}, []string{string(result.PauseIdle)}, "a pause of the whole machine", "frozen"},
		{"throttled in every period", func() *testbed {
			at := every(100e6)
			b := withTail(newTestbed(nil), late(healthyMessages(), true, 60e6, at...))
			b.freeze(60e6, at...)
			b.pauses(result.PauseThrottled, 100e6, at...)
			b.pauses(result.PauseContention, 100e6, at...)
			return b
		}, []string{string(result.PauseThrottled)}, "which is when the generator was paused: raise its cpu.max", "frozen"},
		{"throttled now and then", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), true, 8e6, few...))
			b.pauses(result.PauseThrottled, 20e6, few...)
			return b
		}, []string{string(result.PauseThrottled)}, "throttling by a control group", "attribution"},
		{"a hog on the processors", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), true, 8e6, few...))
			b.freeze(7e6, few...)
			b.pauses(result.PauseContention, 9e6, few...)
			b.pauses(result.PauseIdle, 7e6, few...)
			b.idle()
			return b
		}, []string{string(result.PauseContention)}, "other processes on the generator's processors", "frozen"},
		{"a hog that leaves the meters alone", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), false, 8e6, few...))
			b.pauses(result.PauseContention, 9e6, few...)
			return b
		}, []string{string(result.PauseContention)}, "stop the other processes", "attribution"},
		{"steal", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), true, 8e6, few...))
			b.freeze(7e6, few...)
			b.pauses(result.PauseSteal, 100e6, few...)
			return b
		}, []string{string(result.PauseSteal)}, "the hypervisor giving", "frozen"},
		{"the collector", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), false, 8e6, few...))
			b.pauses(result.PauseGC, 10e6, few...)
			return b
		}, []string{string(result.PauseGC)}, "Go's garbage collection", "attribution"},
		{"a stall of the broker, with a busy collector", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), false, 500e6, 3e9))
			b.pauses(result.PauseGC, 1e6, every(50e6)...)
			return b
		}, nil, "coincided, not shown to be a cause", ""},
		{"a stall of the broker, in which a thread was late for once", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), false, 500e6, 3e9))
			b.pauses(result.PauseThread, 5e6, 3_497e6)
			return b
		}, nil, "coincided, not shown to be a cause", ""},
		{"a stall of the broker, with pauses elsewhere", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), false, 500e6, 3e9))
			b.pauses(result.PauseThrottled, 100e6, 5e9, 6e9)
			return b
		}, nil, "", ""},
		{"a lost connection", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), false, 800e6, 3e9))
			return b
		}, []string{string(result.EventDisconnected)}, "a lost connection", ""},
		{"segments lost", func() *testbed {
			b := withTail(newTestbed(nil), late(healthyMessages(), false, 40e6, few...))
			b.pauses(result.PauseRetransmit, 10e6, func() (at []int64) {
				for _, t := range few {
					at = append(at, t+32e6)
				}
				return at
			}()...)
			return b
		}, []string{string(result.PauseRetransmit)}, "TCP retransmissions", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := tt.build()
			run := b.run(t)
			if tt.name == "a lost connection" {
				run.Events = []result.Event{{At: 3e9, Kind: result.EventDisconnected}, {At: 3_100e6, Kind: "error"}, {At: 3_800e6, Kind: result.EventReconnected}}
			}
			// Only the tail matters here; give the percentiles messages.
			run.Metrics = newTestbed(tailed(b)).run(t).Metrics
			s := Summarise(run, Inputs{})
			if len(s.Attribution) != 1 || s.Attribution[0].Messages != 100 {
				t.Fatalf("%+v", s.Attribution)
			}
			a := s.Attribution[0]
			var named []string
			texts := ""
			for _, c := range a.Causes {
				if c.Named {
					named = append(named, c.Source)
				}
				texts += c.Text + "\n"
			}
			if !slices.Equal(slices.Sorted(slices.Values(named)), slices.Sorted(slices.Values(tt.named))) {
				t.Errorf("named %v, want %v:\n%s", named, tt.named, texts)
			}
			for _, found := range slices.Concat(spelltest.Words(texts), spelltest.Numbers(texts)) {
				t.Error(found)
			}
			if !strings.Contains(texts, tt.text) {
				t.Errorf("%q is not among\n%s", tt.text, texts)
			}
			if len(tt.named) == 0 && a.Unexplained != 100 || len(tt.named) > 0 && a.Unexplained > 50 {
				t.Errorf("%d unexplained:\n%s", a.Unexplained, texts)
			}
			r := find(s.Verdict, "attribution")
			if tt.code != "attribution" {
				if r != nil {
					t.Errorf("attributed: %+v", r)
				}
			} else if r == nil || r.Status != result.Suspect || r.Percentile == "50" || !strings.Contains(r.Text, tt.text) {
				t.Errorf("%+v", s.Verdict.Reasons)
			}
			if tt.code == "frozen" {
				if r := find(s.Verdict, "frozen"); r == nil || !strings.Contains(r.Text, tt.text) {
					t.Errorf("the freeze does not name its cause, %q: %+v", tt.text, s.Verdict.Reasons)
				}
			}
		})
	}
}

// tailed are healthy messages of which the last hundred are the testbed's tail,
// all of it the broker's, so that no other gate finds anything.
func tailed(b *testbed) []msg {
	ms := healthyMessages()
	tail := b.intervals[len(b.intervals)-1].v.Tail
	for i, x := range tail {
		ms[len(ms)-1-i*90].service = x.Value
	}
	return ms
}

// Sources that are independent of the slow messages are named no more often than the
// test allows, however the slow messages cluster and whatever the pauses' length.
func TestAttributionFalseAlarms(t *testing.T) {
	const window = 10e9
	trials := 400
	if testing.Short() {
		trials = 50
	}
	alarms := 0
	rng := rand.New(rand.NewPCG(1, 2))
	for range trials {
		covers := map[string]*cover{}
		for _, source := range []result.PauseSource{result.PauseThrottled, result.PauseContention, result.PauseGC} {
			var list []result.Pause
			length := int64(math.Exp(rng.Float64()*6)) * 1e6
			for range 1 + rng.IntN(40) {
				at := rng.Int64N(window)
				list = append(list, result.Pause{Start: at, End: at + length})
			}
			covers[string(source)] = coverOf(list)
		}
		var tail []result.Exemplar
		clusters := 1 + rng.IntN(12)
		for range clusters {
			at, length := rng.Int64N(window), int64(math.Exp(rng.Float64()*5))*1e6
			for n := range int64(100 / clusters) {
				due := at + length/2*n/100
				tail = append(tail, result.Exemplar{Intended: due % window, Done: due%window + length})
			}
		}
		for _, s := range testSources(covers, tail, window) {
			if s.cause.Named {
				alarms++
				break
			}
		}
	}
	// Binomial: 0.05 and three standard deviations.
	if limit := 0.05*float64(trials) + 3*math.Sqrt(0.05*0.95*float64(trials)); float64(alarms) > limit {
		t.Errorf("something was named in %d of %d runs in which nothing was to be", alarms, trials)
	}
	t.Logf("%d of %d", alarms, trials)
}

// The chance by arithmetic is that of trying every place.
func TestChanceAgainstBruteForce(t *testing.T) {
	const window = 2000
	rng := rand.New(rand.NewPCG(4, 4))
	for trial := range 100 {
		var list []result.Pause
		for range 1 + rng.IntN(6) {
			at := rng.Int64N(window+200) - 100
			list = append(list, result.Pause{Start: at, End: at + rng.Int64N(150)})
		}
		c := coverOf(list)
		length := rng.Int64N(300)
		var met int
		var common, want int64
		for at := range int64(window) {
			hit := false
			for _, p := range list {
				// Half-open at the end of the pause and of the message: an instant
				// more or less is all that this can differ by for each pause.
				hit = hit || p.Start < at+length && p.End > at
			}
			if hit {
				met++
			}
		}
		if got := c.chance(length, window); math.Abs(got-float64(met)/window) > float64(len(list)+1)/window {
			t.Errorf("trial %d: %v, counted %v", trial, got, float64(met)/window)
		}
		a := rng.Int64N(window)
		for at := a; at < a+length; at++ {
			for _, p := range list {
				if p.Start <= at && at < p.End {
					want++
					break
				}
			}
		}
		if common = c.length(a, a+length); common != want {
			t.Errorf("trial %d: %d in common, counted %d", trial, common, want)
		}
	}
}

// A damaged or hostile file causes no panic.
func TestAttributionOfNonsense(t *testing.T) {
	b := newTestbed(healthyMessages())
	closing := &b.intervals[len(b.intervals)-1].v
	for n, x := range [][2]int64{{5, 3}, {-9, 1}, {math.MaxInt64, math.MaxInt64}, {0, math.MaxInt64}, {1e9, 1e9}, {2e9, farthest - 1}} {
		closing.Tail = append(closing.Tail, result.Exemplar{Metric: result.DeliveryResponse, Value: int64(n), Intended: x[0], Done: x[1]})
	}
	b.pauses(result.PauseGC, math.MinInt64, 7)
	b.pauses(result.PauseSwap, math.MaxInt64-1, 1)
	b.pauses(result.PauseThread, 0, 1e9)
	s := b.summed(t).Summary
	for _, a := range s.Attribution {
		for _, c := range a.Causes {
			if c.Share < 0 || c.Share > 1 || c.Expected < 0 || c.Expected > 1+1e-9 {
				t.Errorf("%+v", c)
			}
		}
	}
}

// A source that overlaps hardly more of the tail than chance explains is not named, even if
// it coincides with the tail: 12 of 20 messages overlap it, and 11 at other places.
func TestHardlyMoreThanChanceIsNoCause(t *testing.T) {
	covers := map[string]*cover{string(result.PauseSteal): coverOf([]result.Pause{{Start: 0, End: 551e6}})}
	var tail []result.Exemplar
	for i := range int64(20) {
		tail = append(tail, result.Exemplar{Intended: 5e5 + i*5e7, Done: 5e5 + i*5e7 + 1000})
	}
	s := testSources(covers, tail, 1e9)[0]
	if p := s.at.rotations(tail, 1e9, false); s.cause.Messages != 12 || p > coincidence {
		t.Fatalf("%d messages, p = %v: nothing is tried", s.cause.Messages, p)
	}
	if s.cause.Named {
		t.Errorf("named: %+v", s.cause)
	}
}
