package vitals

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/spell"
	"sixnines/result"
)

// Options set up a [Monitor]. The zero value means the defaults.
type Options struct {
	// Period is how long the hiccup meters sleep at a time: 100 µs to 100 ms,
	// default 1 ms. Shorter periods miss less and cost more (two wake-ups
	// each).
	Period time.Duration
	// HiccupThreshold is how long a gap must be to be kept as a [Pause]:
	// default 5 ms, at least Period.
	HiccupThreshold time.Duration
	// KeepProcessor makes the thread meter keep its processor (P) while it sleeps,
	// which saves a tenth of a core in the runtime's monitor, see
	// [clock.SleepUntilKeeping]. GOMAXPROCS must be one more than otherwise.
	KeepProcessor bool
	// MaxPauses limits how many pauses are kept, the longest: default 4096, up
	// to a million.
	MaxPauses int
	// Connections returns this process's connections to the broker, so that the monitor
	// can watch the processes at their other ends on this machine; nil: it watches none.
	// Start and later looks call it, one at a time but on several goroutines.
	Connections func() []Connection
	// Idle is the command line that runs this program as the idle process, whose
	// main calls [ServeIdle]; empty: no idle process, and no [result.PauseIdle].
	Idle []string
}

// withDefaults returns o with its zero fields filled in.
func (o Options) withDefaults() Options {
	if o.Period == 0 {
		o.Period = time.Millisecond
	}
	if o.HiccupThreshold == 0 {
		o.HiccupThreshold = max(5*time.Millisecond, o.Period)
	}
	if o.MaxPauses == 0 {
		o.MaxPauses = 4096
	}
	return o
}

// Validate returns an error that names the first field out of its range.
func (o Options) Validate() error {
	o = o.withDefaults()
	switch {
	case o.Period < 100*time.Microsecond || o.Period > 100*time.Millisecond:
		return fmt.Errorf("vitals: period %s: must be from 100 µs to 100 ms", spell.Period(o.Period))
	case o.HiccupThreshold < o.Period:
		return fmt.Errorf("vitals: hiccup threshold %s: must be at least the period, %s", spell.Period(o.HiccupThreshold), spell.Period(o.Period))
	case o.MaxPauses < 1 || o.MaxPauses > 1_000_000:
		return fmt.Errorf("vitals: %d pauses to keep: must be from 1 to 1,000,000", o.MaxPauses)
	}
	return nil
}

// interval is the time between two samples.
type interval struct {
	elapsed time.Duration // > 0
}

// source reads some counters and reports their differences.
type source interface {
	// sample appends the values of the interval since the last call. On an
	// error what it appended is discarded.
	sample(e interval, out []Value) ([]Value, error)
	close()
}

// opener opens a source, or returns why it is not available.
type opener struct {
	names []result.Vital // it supplies
	open  func() (source, error)
}

// opened is an opener whose source could be opened.
type opened struct {
	names  []result.Vital
	source source
}

// Monitor watches the process and its host from [Start] until [Monitor.Stop].
// All methods are safe for concurrent use.
//
// Locks are taken in this order: mu, watch.mu, then one of starvedWatch.mu, pauseList.mu
// and missingMu. Stop holds mu while it waits for the goroutine that reads from the idle
// process, so that goroutine must not take mu; it takes watch.mu and missingMu only.
type Monitor struct {
	thread, goroutine *meter
	idle              *idleProcess // may be nil; set by Start only
	pauses            *pauseList   // of meters
	stretches         *pauseList   // of counters
	watch             *watch
	meters            sync.WaitGroup // the goroutines of both meters and of watch

	// mu guards the fields below and the windows of all meters.
	mu             sync.Mutex
	stopped        bool
	sources        []opened
	last           int64  // end of the last interval
	added, dropped uint64 // totals of pauses at the end of the last interval
	frozen         int64  // end of the last freeze that NewPauses returned

	missingMu sync.Mutex        // guards missing
	missing   map[string]string // name → reason
}

// Start starts the hiccup meters and the idle process, and takes the first
// reading of every counter, the baseline of the first [Monitor.Sample]. It panics
// if opt is not valid, which is a bug of the caller. An idle process that cannot
// be started, or that ends, is in [Monitor.Missing].
func Start(opt Options) *Monitor {
	if err := opt.Validate(); err != nil {
		panic(err)
	}
	opt = opt.withDefaults()
	m := &Monitor{pauses: newPauseList(opt.MaxPauses), stretches: newPauseList(opt.MaxPauses), missing: map[string]string{}}
	m.thread = m.newMeter(result.PauseThread, opt)
	m.goroutine = m.newMeter(result.PauseGoroutine, opt)
	for _, o := range append([]opener{runtimeOpener()}, platformOpeners()...) {
		s, err := o.open()
		if err != nil {
			m.miss(o.names, err)
			continue
		}
		m.sources = append(m.sources, opened{o.names, s})
	}
	m.watch = newWatch(m.stretches, m.pauses, append(watcherOpeners(), m.openStarved(opt.Connections)...), clock.Now(), func(source result.PauseSource, err error) {
		m.missPause(source, err)
	})
	m.startIdle(opt)
	slack := make(chan error, 1)
	sleep := clock.SleepUntilStamped
	if opt.KeepProcessor {
		sleep = clock.SleepUntilKeeping
	}
	m.meters.Go(func() { m.thread.onThread(sleep, slack) })
	m.meters.Go(m.goroutine.onGoroutine)
	m.meters.Go(m.watch.run)
	if err := <-slack; err != nil {
		// The meter runs on, but its values include the kernel's timer slack.
		m.miss([]result.Vital{result.VitalHiccupThreadP99, result.VitalHiccupThreadMax}, err)
	}
	m.last = clock.Now() - 1 // no interval is empty
	m.Sample()
	return m
}

// openStarved begins to watch the broker's processes, if connections is not nil. The watch is
// both a source of values and a watcher of pauses.
func (m *Monitor) openStarved(connections func() []Connection) []watcherOpener {
	names := []result.Vital{result.VitalBrokerBusy, result.VitalBrokerWait}
	if connections == nil {
		m.miss(names, errNotAsked)
		return nil
	}
	w, err := openStarved(connections, clock.Now())
	if errors.Is(err, errElsewhere) {
		return nil
	}
	if err != nil {
		m.miss(names, err)
		m.missPause(result.PauseStarved, err)
		return nil
	}
	m.sources = append(m.sources, opened{names, w})
	return []watcherOpener{{result.PauseStarved, slowLook, func(int64) (watcher, error) { return w, nil }}}
}

func (m *Monitor) newMeter(source result.PauseSource, opt Options) *meter {
	return &meter{source: source, period: int64(opt.Period), threshold: int64(opt.HiccupThreshold), pauses: m.pauses}
}

// errNotAsked is the reason for values and pauses that the options leave out.
var errNotAsked = errors.New("not asked for")

// startIdle starts the idle process if opt has one.
func (m *Monitor) startIdle(opt Options) {
	miss := func(err error) {
		m.miss([]result.Vital{result.VitalHiccupIdleP99, result.VitalHiccupIdleMax}, err)
		m.missPause(result.PauseIdle, err)
	}
	if len(opt.Idle) == 0 {
		miss(errNotAsked)
		return
	}
	p, err := startIdle(opt.Idle, int64(opt.Period), int64(opt.HiccupThreshold), m.watch.idleGap, miss)
	if err != nil {
		miss(err)
		return
	}
	m.idle = p
}

func (m *Monitor) miss(names []result.Vital, err error) {
	m.missingMu.Lock()
	defer m.missingMu.Unlock()
	for _, n := range names {
		m.missing[string(n)] = err.Error()
	}
}

func (m *Monitor) missPause(source result.PauseSource, err error) {
	m.missingMu.Lock()
	defer m.missingMu.Unlock()
	m.missing["pause."+string(source)] = err.Error()
}

// Sample returns the values since the last call, or since [Start] for the first.
// It takes some 100 µs on a small machine (more where the kernel sums its counters
// over hundreds of cores) and allocates only the list of values. After
// [Monitor.Stop] it returns an empty sample.
func (m *Monitor) Sample() Sample { return m.SampleInto(make([]Value, 0, 64)) }

// SampleInto is [Monitor.Sample], but reuses the memory of values for the list.
func (m *Monitor) SampleInto(values []Value) Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Sample{Start: m.last, End: clock.Now()}
	if m.stopped {
		return s
	}
	s.End = max(s.End, s.Start+1)
	m.last = s.End
	s.Values = m.hiccups(s.End, values[:0])
	for _, o := range m.sources {
		n := len(s.Values)
		values, err := o.source.sample(interval{elapsed: s.Elapsed()}, s.Values)
		if err != nil {
			m.miss(o.names, err)
			values = values[:n]
		}
		s.Values = values
	}
	return s
}

// hiccups appends the meters' values. The caller holds m.mu.
func (m *Monitor) hiccups(now int64, out []Value) []Value {
	threadP99, threadMax := m.thread.sample(now)
	goroutineP99, goroutineMax := m.goroutine.sample(now)
	added, dropped := m.pauses.totals()
	_, short := m.stretches.totals()
	dropped += short
	out = append(out,
		Value{result.VitalHiccupThreadP99, float64(threadP99)},
		Value{result.VitalHiccupThreadMax, float64(threadMax)},
		Value{result.VitalHiccupGoroutineP99, float64(goroutineP99)},
		Value{result.VitalHiccupGoroutineMax, float64(goroutineMax)})
	if m.idle != nil {
		if p99, most, ok := m.idle.sample(); ok {
			out = append(out,
				Value{result.VitalHiccupIdleP99, float64(p99)},
				Value{result.VitalHiccupIdleMax, float64(most)})
		}
	}
	out = append(out,
		Value{result.VitalHiccupPauses, float64(added - m.added)},
		Value{result.VitalHiccupPausesDropped, float64(dropped - m.dropped)})
	m.added, m.dropped = added, dropped
	return out
}

// NewPauses returns the pauses that ended since the last call and the freezes
// among them ([Freezes]), each once, in order of their start. The call ends a
// stretch in which a counter is growing; the next stretch begins there.
func (m *Monitor) NewPauses() []Pause {
	m.watch.flush(clock.Now())
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.pauses.unreported(nil)
	// A freeze is known when the gaps of both meters have ended. Each meter's gaps
	// end in order, so freezes become known in the order of their ends.
	for _, f := range Freezes(m.pauses.list()) {
		if f.End > m.frozen {
			list = append(list, f)
			m.frozen = f.End
		}
	}
	list = m.stretches.unreported(list)
	sortByStart(list)
	return list
}

// Frozen calls each, in order, for the parts of [from, to] in which the whole process was
// stopped (see [Freezes]), a gap in progress included. Instants are in ns as internal/clock
// counts; to must not be in the future. It takes some microseconds.
func (m *Monitor) Frozen(from, to int64, each func(start, end int64)) {
	var buf [16]Pause
	for _, f := range Freezes(m.gaps(m.pauses.endingAfter(from, buf[:0]))) {
		if start, end := max(f.Start, from), min(f.End, to); start < end {
			each(start, end)
		}
	}
}

// gaps appends the gaps of the meters that have not ended.
func (m *Monitor) gaps(list []Pause) []Pause {
	now := clock.Now()
	for _, meter := range []*meter{m.thread, m.goroutine} {
		if p, ok := meter.open(now); ok {
			list = append(list, p)
		}
	}
	return list
}

// PauseCount returns how many pauses have ended since [Start] and how many of
// them were dropped before [Monitor.NewPauses] returned them.
func (m *Monitor) PauseCount() (ended, dropped uint64) {
	ended, dropped = m.pauses.totals()
	n, short := m.stretches.totals()
	return ended + n, dropped + short
}

// Missing returns the reasons, by name, why values are absent from some sample
// or not exact, and why sources of pauses ("pause.steal") are not watched. A value
// that needs events (a quantile of scheduling latencies) is not missing in an
// interval without any.
func (m *Monitor) Missing() map[string]string {
	m.missingMu.Lock()
	defer m.missingMu.Unlock()
	return maps.Clone(m.missing)
}

// Stop ends the meters and the idle process and closes the counters. It returns
// when no goroutine, thread or process of the monitor is left, within about one
// period or look (20 ms). [Monitor.NewPauses] and
// [Monitor.Missing] still return what was collected. Further calls do nothing.
func (m *Monitor) Stop() {
	m.thread.stop.Store(true)
	m.goroutine.stop.Store(true)
	m.watch.stop.Store(true)
	m.meters.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	m.stopped = true
	if m.idle != nil {
		m.idle.stop()
	}
	m.watch.close()
	for _, o := range m.sources {
		o.source.close()
	}
	m.sources = nil
}
