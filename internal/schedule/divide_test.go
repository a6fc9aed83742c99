package schedule

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/scenario"
)

// kinds returns one workload of each kind, random ones included, of some
// hundreds of messages in a window of two seconds.
func kinds(t testing.TB, producers int) map[string]*scenario.Workload {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	r := rand.New(rand.NewPCG(1, 1))
	var lines strings.Builder
	for i, at := 0, int64(0); i < 700; i++ {
		at += r.Int64N(6e6)
		fmt.Fprintln(&lines, at)
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]*scenario.Workload{}
	for _, text := range []string{
		"constant", "poisson", "step:100/3s@1s,700/s@300ms,1/7s@500ms,10/s@200ms", "ramp:10/s..1000/3s", "ramp:500/s..1/min",
		"sine:100%@300ms", "sine:30%@5s", "burst:7@30ms", "burst:1@3s", "trace:" + file,
		"step:300/s@1s,700/s@1s,random", "ramp:10/s..700/s,random", "sine:100%@1500ms,random",
	} {
		a, err := scenario.ParseArrivals(text)
		if err != nil {
			t.Fatal(err)
		}
		w := workload(scenario.Rate{Messages: 1000, Per: 3 * time.Second}, producers, a)
		if a.Kind == scenario.Step || a.Kind == scenario.Ramp || a.Kind == scenario.Burst {
			w.Rate = scenario.Rate{}
		}
		name, _, _ := strings.Cut(text, "/trace")
		all[name] = w
	}
	return all
}

type event struct {
	t        int64
	producer int32
}

// drain walks to the end, or until the offsets reach limit.
func drain(t testing.TB, next func() (int64, int32, bool), limit int64) []event {
	t.Helper()
	var all []event
	for {
		at, producer, ok := next()
		if !ok || at >= limit {
			return all
		}
		if n := len(all); n > 0 && at < all[n-1].t {
			t.Fatalf("%d comes after %d", at, all[n-1].t)
		}
		all = append(all, event{at, producer})
	}
}

// ofProducers collects the events of producers one by one and sorts them by
// time.
func ofProducers(t testing.TB, p *Plan, producers []int, phase Phase, limit int64) []event {
	t.Helper()
	var all []event
	for _, i := range producers {
		c := [...]func(int) Cursor{p.Before, p.Producer, p.After}[phase](i)
		all = append(all, drain(t, func() (int64, int32, bool) {
			at, ok := c.Next()
			return at, int32(i), ok
		}, limit)...)
	}
	slices.SortFunc(all, compareEvents)
	return all
}

func compareEvents(a, b event) int {
	if a.t != b.t {
		return int(min(1, max(-1, a.t-b.t)))
	}
	return int(a.producer - b.producer)
}

func TestDivisionLosesNothing(t *testing.T) {
	const window, warmup, after = 2 * time.Second, 1500 * time.Millisecond, 7 * time.Second
	r := rand.New(rand.NewPCG(2, 2))
	for _, producers := range []int{1, 2, 3, 7, 16, 100, 1000} {
		for name, w := range kinds(t, producers) {
			p := mustPlan(t, w, window).WithWarmup(warmup)
			if p.Producers() != producers {
				t.Fatalf("%d producers", p.Producers())
			}
			everyone := make([]int, producers)
			for i := range everyone {
				everyone[i] = i
			}
			for phase := Before; phase < phases; phase++ {
				limit := int64(after)
				whole := ofProducers(t, p, everyone, phase, limit)
				what := fmt.Sprintf("%s, %d producers, phase %d", name, producers, phase)
				for _, e := range whole {
					low, high := [...]int64{-int64(warmup), 0, int64(window)}[phase], [...]int64{0, int64(window), endOfTime}[phase]
					if e.t < low || e.t >= high {
						t.Fatalf("%s: %d lies outside the phase", what, e.t)
					}
				}
				if phase == Window {
					total, exact := p.Total()
					if exact && total != uint64(len(whole)) {
						t.Fatalf("%s: %d messages, of %d in total", what, len(whole), total)
					}
					sum := uint64(0)
					for i := range producers {
						sum += p.CountProducer(i)
					}
					if sum != uint64(len(whole)) {
						t.Fatalf("%s: the producers count %d messages, not %d", what, sum, len(whole))
					}
					if len(whole) == 0 {
						t.Fatalf("%s: nothing is due", what)
					}
				}
				// All at once, a shuffle of them, regular strides, agents' shares.
				compare := func(subset []int, part string) []event {
					t.Helper()
					got := drain(t, p.Merge(subset, phase).Next, limit)
					sorted := slices.Clone(got)
					slices.SortStableFunc(sorted, compareEvents)
					if want := ofProducers(t, p, subset, phase, limit); !slices.Equal(sorted, want) {
						t.Fatalf("%s: %s: merged %d messages, want %d\n%v\n%v", what, part, len(got), len(want), got[:min(5, len(got))], want[:min(5, len(want))])
					}
					return got
				}
				compare(everyone, "all")
				compare(nil, "none")
				subset := slices.Clone(everyone)
				r.Shuffle(len(subset), func(i, j int) { subset[i], subset[j] = subset[j], subset[i] })
				compare(subset[:1+r.IntN(len(subset))], "some")
				for _, stride := range []int{2, 3, 10} {
					var every []int
					for i := r.IntN(min(stride, producers)); i < producers; i += stride {
						every = append(every, i)
					}
					compare(every, fmt.Sprintf("every %d", stride))
				}
				agents := 1 + r.IntN(12)
				shares := make([][]int, agents)
				for i := range everyone {
					k := r.IntN(agents)
					shares[k] = append(shares[k], i)
				}
				var union []event
				for _, share := range shares {
					part := p.Of(share)
					local := make([]int, len(share))
					for i := range local {
						local[i] = i
					}
					if part.Producers() != len(share) {
						t.Fatalf("a part of %d producers has %d", len(share), part.Producers())
					}
					due := drain(t, part.Merge(local, phase).Next, limit)
					alone := ofProducers(t, part, local, phase, limit)
					sorted := slices.Clone(due)
					slices.SortStableFunc(sorted, compareEvents)
					if !slices.Equal(sorted, alone) {
						t.Fatalf("%s: a part merges to other instants than its producers have", what)
					}
					if total, exact := part.Total(); phase == Window && exact && total != uint64(len(due)) {
						t.Fatalf("%s: a part has %d messages, of %d in total", what, len(due), total)
					}
					for _, e := range due {
						union = append(union, event{e.t, int32(share[e.producer])})
					}
				}
				slices.SortFunc(union, compareEvents)
				if !slices.Equal(union, whole) {
					t.Fatalf("%s: %d agents have other instants", what, agents)
				}
			}
		}
	}
}

func TestNumberedSequenceIsTheWhole(t *testing.T) {
	// Merged over all producers, message n belongs to producer n mod N.
	for name, w := range kinds(t, 7) {
		p := mustPlan(t, w, 2*time.Second)
		if _, exact := p.Total(); !exact {
			continue
		}
		all := []int{0, 1, 2, 3, 4, 5, 6}
		m := p.Merge(all, Window)
		for n := int64(0); ; n++ {
			at, producer, ok := m.Next()
			if !ok {
				break
			}
			if int64(producer) != n%7 || at != p.flows[Window].at(n) {
				t.Fatalf("%s: message %d: producer %d at %d, want %d", name, n, producer, at, p.flows[Window].at(n))
			}
		}
	}
}

func TestWarmupJoinsTheWindow(t *testing.T) {
	// The instants before zero continue the grid: ⌊n·Per/Messages⌋ for n < 0.
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		rate := randomRate(r)
		producers := 1 + r.IntN(20)
		p := mustPlan(t, workload(rate, producers, scenario.Arrivals{Kind: scenario.Constant}), time.Hour)
		length := time.Duration(1 + r.Int64N(int64(maxWindow)))
		p = p.WithWarmup(length)
		f := &p.flows[Before]
		if f.at(f.first) < -int64(length) {
			t.Fatalf("message %d is due before the warm-up of %v", f.first, length)
		}
		c := p.Before(r.IntN(producers))
		for range 50 {
			n := c.n
			got, ok := c.Next()
			if !ok {
				break
			}
			exact := new(big.Rat).Quo(new(big.Rat).SetInt64(n), ratio(rate))
			within(t, "before", n, got, exact)
		}
		c = numbered(f, max(f.first, -10), 1)
		for n := max(f.first, -10); n < 0; n++ {
			got, ok := c.Next()
			if !ok {
				t.Fatalf("the warm-up ended before message %d", n)
			}
			within(t, "before", n, got, new(big.Rat).Quo(new(big.Rat).SetInt64(n), ratio(rate)))
		}
		if _, ok := c.Next(); ok {
			t.Fatal("the warm-up goes on")
		}
	}
}

func TestPhasesAreStaggered(t *testing.T) {
	// 700 producers at 1/s each: no two are due together.
	p := mustPlan(t, workload(scenario.PerSecond(700), 700, scenario.Arrivals{}), 3*time.Second)
	var all []int
	for i := range 700 {
		all = append(all, i)
	}
	last := int64(-1)
	for _, e := range drain(t, p.Merge(all, Window).Next, endOfTime) {
		if e.t <= last {
			t.Fatalf("two messages at %d", e.t)
		}
		last = e.t
	}
	if n := p.CountProducer(699); n != 3 {
		t.Errorf("producer 699 has %d messages in 3 s", n)
	}
}

func TestBurstsComeTogether(t *testing.T) {
	p := mustPlan(t, workload(scenario.Rate{}, 3, scenario.Arrivals{Kind: scenario.Burst, Count: 5, Period: time.Second}), 2500*time.Millisecond)
	var got []int64
	for _, e := range drain(t, p.Merge([]int{0, 1, 2}, Window).Next, endOfTime) {
		got = append(got, e.t/1e9)
	}
	if want := []int64{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if p.MeanRate() != 6 {
		t.Errorf("mean rate %v", p.MeanRate())
	}
}

func TestStepsAreCutAndExtended(t *testing.T) {
	steps := scenario.Arrivals{Kind: scenario.Step, Steps: []scenario.RateStep{{Rate: scenario.PerSecond(10), For: time.Second}, {Rate: scenario.PerSecond(100), For: time.Second}}}
	for window, want := range map[time.Duration]uint64{500 * time.Millisecond: 5, time.Second: 10, 1500 * time.Millisecond: 60, 2 * time.Second: 110, 3 * time.Second: 210} {
		if n, _ := mustPlan(t, workload(scenario.Rate{}, 1, steps), window).Total(); n != want {
			t.Errorf("%v: %d messages, want %d", window, n, want)
		}
	}
}

func TestMergePanicsOnNonsense(t *testing.T) {
	p := mustPlan(t, workload(scenario.PerSecond(1), 3, scenario.Arrivals{}), time.Second)
	for name, f := range map[string]func(){
		"a producer too many":   func() { p.Merge([]int{3}, Window) },
		"a producer twice":      func() { p.Merge([]int{1, 1}, Window) },
		"a negative producer":   func() { p.Producer(-1) },
		"a part of a part":      func() { p.Of([]int{0}).Of([]int{0}) },
		"a part with one twice": func() { p.Of([]int{1, 1}) },
		"a negative warm-up":    func() { p.WithWarmup(-1) },
		"a warm-up of a month":  func() { p.WithWarmup(31 * 24 * time.Hour) },
		"a part with too many":  func() { p.Of([]int{0, 3}) },
		"the count of producer": func() { p.CountProducer(3) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	var none Cursor
	if _, ok := none.Next(); ok {
		t.Error("the zero cursor goes on")
	}
}

func TestNewRefuses(t *testing.T) {
	a := func(text string) scenario.Arrivals {
		a, err := scenario.ParseArrivals(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	r := scenario.PerSecond
	for _, c := range []struct {
		w      *scenario.Workload
		window time.Duration
		want   string
	}{
		{workload(scenario.MaxRate(), 1, scenario.Arrivals{}), time.Second, "no schedule"},
		{&scenario.Workload{Loop: scenario.Closed, Producers: 1}, time.Second, "no schedule"},
		{workload(r(1), 1, scenario.Arrivals{}), 0, "a window of 0s"},
		{workload(r(1), 1, scenario.Arrivals{}), maxWindow + 1, "a window of"},
		{workload(r(1), 0, scenario.Arrivals{}), time.Second, "0 producers"},
		{workload(r(1), maxProducers+1, scenario.Arrivals{}), time.Second, "producers"},
		{workload(scenario.Rate{}, 1, scenario.Arrivals{}), time.Second, "a rate of 0"},
		{workload(r(maxRate+1), 1, scenario.Arrivals{}), time.Second, "at most 10000000/s"},
		{workload(scenario.Rate{Messages: 1, Per: 25 * time.Hour}, 1, scenario.Arrivals{}), time.Second, "at most 24h"},
		{workload(r(1), 1, scenario.Arrivals{Kind: "odd"}), time.Second, "no arrivals are called \"odd\""},
		{workload(r(1), 1, scenario.Arrivals{Kind: scenario.Step}), time.Second, "without steps"},
		{workload(r(1), 1, a("step:1/s@1s,11M/s@1s")), 2 * time.Second, "at most 10000000/s"},
		{workload(r(1), 1, scenario.Arrivals{Kind: scenario.Step, Steps: []scenario.RateStep{{Rate: r(1)}}}), time.Second, "a step of 0s"},
		{workload(r(1), 1, a("ramp:1/s..11M/s")), time.Second, "at most 10000000/s"},
		{workload(r(6e6), 1, a("sine:100%@1s")), time.Second, "rises above"},
		{workload(r(1), 1, a("sine:101%@1s")), time.Second, "amplitude"},
		{workload(r(1), 1, a("sine:50%@25h")), time.Second, "a period of"},
		{workload(r(1), 1, a("burst:1@25h")), time.Second, "a period of"},
		{workload(r(1), 1, a("burst:1000000000@1ms")), time.Second, "at most 10000000/s"},
		{workload(r(1), 1, a("trace:/does/not/exist")), time.Second, "/does/not/exist"},
	} {
		if _, err := New(c.w, c.window, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", c.w.Arrivals, err, c.want)
		}
	}
}
