package vitals

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/internal/clock"
	"sixnines/result"
)

// start begins a monitor that ends with the test.
func start(t testing.TB, opt Options) *Monitor {
	t.Helper()
	m := Start(opt)
	t.Cleanup(m.Stop)
	return m
}

func TestSamplesHoldWhatIsDescribed(t *testing.T) {
	m := start(t, Options{})
	time.Sleep(30 * time.Millisecond) // the interval to be sampled: ticks must pass
	s := m.Sample()
	described := map[result.Vital]result.VitalProperties{}
	for _, d := range describe() {
		described[d.Vital] = d
	}
	seen := map[result.Vital]bool{}
	for _, v := range s.Values {
		d, known := described[v.Name]
		switch {
		case !known:
			t.Errorf("%s is not described", v.Name)
		case seen[v.Name]:
			t.Errorf("%s is there twice", v.Name)
		case v.Value < 0 || d.Unit == result.UnitShare && v.Name != result.VitalProcessCPU && v.Value > 1:
			t.Errorf("%s = %v", v.Name, v.Value)
		}
		seen[v.Name] = true
	}
	missing := m.Missing()
	for name := range described {
		if _, absent := missing[string(name)]; !seen[name] && !absent && !strings.HasPrefix(string(name), "go.sched.latency.") {
			t.Errorf("%s is neither there nor missing", name)
		}
	}
	t.Logf("missing: %q", missing)
}

func TestIntervalsAdjoin(t *testing.T) {
	before := clock.Now()
	m := start(t, Options{})
	last := m.Sample()
	if last.Start < before || last.End <= last.Start {
		t.Errorf("first interval [%d, %d] after %d", last.Start, last.End, before)
	}
	for range 5 {
		s := m.Sample()
		if s.Start != last.End || s.Elapsed() <= 0 {
			t.Errorf("interval [%d, %d] after [%d, %d]", s.Start, s.End, last.Start, last.End)
		}
		last = s
	}
}

func TestCollectionsAreCounted(t *testing.T) {
	m := start(t, Options{})
	m.Sample()
	for range 3 {
		runtime.GC()
	}
	s := m.Sample()
	cycles, _ := s.Lookup(result.VitalGoCycles)
	total, _ := s.Lookup(result.VitalGoGCPauseTotal)
	most, _ := s.Lookup(result.VitalGoGCPauseMax)
	if cycles.Value < 3 {
		t.Errorf("%v collections, want 3 or more", cycles.Value)
	}
	if most.Value <= 0 || total.Value < most.Value {
		t.Errorf("pauses: total %v, longest %v", total.Value, most.Value)
	}
}

func TestLoneIntervalsDoNotRepeatTheirValues(t *testing.T) {
	m := start(t, Options{})
	runtime.GC()
	m.Sample()
	s := m.Sample() // nothing collected since, unless another test did
	if v, _ := s.Lookup(result.VitalGoCycles); v.Value > 1 {
		t.Errorf("%v collections in an interval without any of ours", v.Value)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		opt  Options
		want string // part of the error, empty if valid
	}{
		{Options{}, ""},
		{Options{Period: 100 * time.Millisecond}, ""},
		{Options{Period: 99 * time.Microsecond}, "period 99 µs"},
		{Options{Period: -1}, "period"},
		{Options{Period: time.Second}, "period 1 s"},
		{Options{Period: 10 * time.Millisecond, HiccupThreshold: time.Millisecond}, "threshold 1 ms"},
		{Options{MaxPauses: -1}, "-1 pauses"},
		{Options{MaxPauses: 1_000_001}, "1000001 pauses"},
	} {
		err := c.opt.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.opt, err, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Start took options that are not valid")
		}
	}()
	Start(Options{MaxPauses: -1})
}

// stacks tells whether a goroutine of a monitor exists.
func stacks() bool {
	b := make([]byte, 1<<20)
	text := string(b[:runtime.Stack(b, true)])
	return strings.Contains(text, ").onThread(") || strings.Contains(text, ").onGoroutine(")
}

func TestStopLeavesNothing(t *testing.T) {
	m := Start(Options{})
	if !stacks() {
		t.Fatal("no meter is running: the test would prove nothing")
	}
	var wait sync.WaitGroup
	for range 4 { // together and with others
		wait.Go(m.Stop)
		wait.Go(func() { m.Sample(); m.Pauses(); m.Missing() })
	}
	wait.Wait()
	m.Stop()
	if stacks() {
		t.Error("a meter outlived Stop")
	}
	if s := m.Sample(); len(s.Values) != 0 {
		t.Errorf("a sample after Stop has %d values", len(s.Values))
	}
	ended, dropped := m.PauseCount()
	if n := len(m.Pauses()); uint64(n) != ended-dropped {
		t.Errorf("%d pauses after Stop, %d ended, %d dropped", n, ended, dropped)
	}
}

func TestSamplesAllocateLittle(t *testing.T) {
	m := start(t, Options{Period: 100 * time.Millisecond, HiccupThreshold: time.Hour})
	m.Sample()
	// The list of values is one allocation; the rest is a margin for other goroutines.
	if n := testing.AllocsPerRun(50, func() { m.Sample() }); n > 3 {
		t.Errorf("%v allocations a sample", n)
	}
}

// A meter that is stopped must not show low values, nor be missing from the list.
func TestOpenGapsCount(t *testing.T) {
	list := newPauseList(10)
	m := &meter{source: result.PauseThread, period: 1_000_000, threshold: 5_000_000, pauses: list}
	m.due.Store(1_000_000_000)
	if p99, most := m.sample(1_300_000_000); p99 != 300_000_000 || most != 300_000_000 {
		t.Errorf("p99 %d, maximum %d during a gap of 300 ms", p99, most)
	}
	if p, ok := m.open(1_300_000_000); !ok || p != thread(1_000_000_000, 1_300_000_000) {
		t.Errorf("open pause %+v, %v", p, ok)
	}
	if _, ok := m.open(1_004_999_999); ok {
		t.Error("a gap below the threshold is a pause")
	}
	m.observe(1_000_000_000, 1_400_000_000)
	m.due.Store(0)
	// Of 400 records, 400 ms down to 1 ms, the 99th percentile is 396 ms.
	if p99, most := m.sample(2_000_000_000); most != 400_000_000 || p99 != grid.Ceiling(bucketOf(396_000_000)) {
		t.Errorf("p99 %d, maximum %d after a gap of 400 ms", p99, most)
	}
	if got := list.list(); len(got) != 1 || got[0] != thread(1_000_000_000, 1_400_000_000) {
		t.Errorf("pauses %v", got)
	}
}

// Each pause is returned once, freezes as soon as both gaps are known.
func TestNewPausesAreToldOnce(t *testing.T) {
	m := start(t, Options{Period: 100 * time.Millisecond, HiccupThreshold: time.Hour})
	told := func() (own []Pause) { // of the time before there was a clock
		for _, p := range m.NewPauses() {
			if p.End < 10_000 {
				own = append(own, p)
			}
		}
		return own
	}
	for _, c := range []struct{ add, want []Pause }{
		{nil, nil},
		{[]Pause{thread(100, 200)}, []Pause{thread(100, 200)}},
		{[]Pause{goroutine(110, 210)}, []Pause{goroutine(110, 210), process(110, 200)}},
		{nil, nil},
		{[]Pause{goroutine(300, 310), thread(300, 400)}, []Pause{goroutine(300, 310), thread(300, 400), process(300, 310)}},
		{[]Pause{goroutine(320, 500)}, []Pause{goroutine(320, 500), process(320, 400)}},
		{nil, nil},
	} {
		for _, p := range c.add {
			m.pauses.add(p)
		}
		got := told()
		slices.SortStableFunc(got, func(a, b Pause) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(len(a.Source), len(b.Source)))
		})
		slices.SortStableFunc(c.want, func(a, b Pause) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(len(a.Source), len(b.Source)))
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("after %v: %v, want %v", c.add, got, c.want)
		}
	}
}

func TestEarlyWakeUpsAreNotNegative(t *testing.T) {
	m := &meter{period: 1000, threshold: 5000, pauses: newPauseList(1)}
	m.observe(5000, 4000)
	if p99, most := m.sample(0); p99 != 0 || most != 0 {
		t.Errorf("p99 %d, maximum %d", p99, most)
	}
}

func BenchmarkSample(b *testing.B) {
	m := start(b, Options{})
	b.ReportAllocs()
	for b.Loop() {
		m.Sample()
	}
}

func frozenFor(m *Monitor, from, to int64) (ns int64) {
	m.Frozen(from, to, func(start, end int64) { ns += end - start })
	return ns
}

// Frozen reports the freezes of both meters within the bounds, and one in progress.
func TestFrozen(t *testing.T) {
	m := &Monitor{pauses: newPauseList(8)}
	m.thread, m.goroutine = m.newMeter(result.PauseThread, Options{}), m.newMeter(result.PauseGoroutine, Options{})
	for _, p := range []Pause{thread(100, 200), goroutine(110, 220), thread(300, 400), goroutine(500, 600), thread(700, 800), goroutine(690, 790)} {
		m.pauses.add(p)
	}
	for _, tt := range []struct{ from, to, want int64 }{
		{0, 1000, 180}, {150, 1000, 140}, {150, 160, 10}, {0, 100, 0}, {200, 700, 0}, {0, 750, 140}, {900, 1000, 0},
	} {
		if got := frozenFor(m, tt.from, tt.to); got != tt.want {
			t.Errorf("from %d to %d: %d ns, want %d", tt.from, tt.to, got, tt.want)
		}
	}
	now := clock.Now()
	m.thread.threshold, m.goroutine.threshold = 1000, 1000
	m.thread.due.Store(now - 5000)
	m.goroutine.due.Store(now - 3000)
	if got := frozenFor(m, now-4000, now); got != 3000 {
		t.Errorf("%d ns of a freeze that has not ended, want 3000", got)
	}
}
