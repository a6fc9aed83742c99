package vitals

import (
	"runtime"
	"sync/atomic"
	"time"

	"sixnines/internal/clock"
	"sixnines/result"
)

// meter is one hiccup meter: a loop that sleeps for a period and records how much
// longer the sleep took. The loop writes hist and due; any goroutine may read due and
// set stop.
type meter struct {
	source    result.PauseSource
	period    int64 // ns
	threshold int64 // ns; gaps from this length on are kept as pauses
	pauses    *pauseList

	hist histogram
	due  atomic.Int64 // when the current sleep should end, ns; 0: the loop does not run
	stop atomic.Bool

	window window // read side of hist; guarded by Monitor.mu
}

// observe records one sleep.
func (m *meter) observe(due, woke int64) {
	m.hist.recordCorrected(max(0, woke-due), m.period)
	if woke-due >= m.threshold {
		m.pauses.add(Pause{Start: due, End: woke, Source: m.source})
	}
}

// onGoroutine runs the meter on a Go timer until it is stopped. Each sleep is
// measured from the last wake-up, so that no pause falls between two sleeps.
func (m *meter) onGoroutine() {
	defer m.due.Store(0)
	for woke := clock.Now(); !m.stop.Load(); {
		due := woke + m.period
		m.due.Store(due)
		time.Sleep(time.Duration(due - clock.Now()))
		woke = clock.Now()
		m.observe(due, woke)
	}
}

// onThread runs the meter on a thread of its own until it is stopped. sleep is
// [clock.SleepUntilStamped] or, if the thread has a processor to keep,
// [clock.SleepUntilKeeping]. The wake-up is stamped before the runtime can make the
// thread wait, and the next sleep is measured from a new clock reading, so waits for the
// runtime do not count; nor does a pause of the process in those few microseconds. A
// sleep that the runtime cut short (every 10 ms it asks a thread that keeps its
// processor to yield) is not recorded. The goroutine is never unlocked, so the thread
// and its timer slack end with it. slack gets the result of setting the slack, once.
func (m *meter) onThread(sleep func(until int64) (woke int64), slack chan<- error) {
	defer m.due.Store(0)
	runtime.LockOSThread()
	slack <- clock.SetTimerSlack(1)
	for !m.stop.Load() {
		due := clock.Now() + m.period
		m.due.Store(due)
		if woke := sleep(due); woke >= due {
			m.observe(due, woke)
		}
	}
}

// open returns the pause in progress at now; ok is false below the threshold.
func (m *meter) open(now int64) (Pause, bool) {
	due := m.due.Load()
	return Pause{Start: due, End: now, Source: m.source}, due != 0 && now-due >= m.threshold
}

// sample ends an interval and returns its 99th percentile and maximum, ns. A sleep
// that has not ended counts for the maximum, and for the percentile if nothing else
// was recorded: a meter that is paused must not show low values. The caller holds
// Monitor.mu.
func (m *meter) sample(now int64) (p99, most int64) {
	m.window.advance(&m.hist)
	most = m.window.max
	if due := m.due.Load(); due != 0 {
		most = max(most, now-due)
	}
	if m.window.count == 0 {
		return most, most
	}
	return min(m.window.quantile(0.99), most), most
}
