package vitals

import (
	"runtime"
	"sync/atomic"
	"time"

	"sixnines/internal/clock"
	"sixnines/result"
)

// meter is one hiccup meter: a loop that sleeps for a period and records how
// much longer it took.
type meter struct {
	source    result.PauseSource
	period    int64 // ns
	threshold int64 // ns; gaps from here on are kept as pauses
	pauses    *pauseList

	hist histogram
	due  atomic.Int64 // when the sleep under way should end; 0: none
	stop atomic.Bool

	window window // the collector's
}

// observe records one sleep.
func (m *meter) observe(due, woke int64) {
	m.hist.recordCorrected(max(0, woke-due), m.period)
	if woke-due >= m.threshold {
		m.pauses.add(Pause{Start: due, End: woke, Source: m.source})
	}
}

// onGoroutine runs the meter on a Go timer until it is stopped. A sleep counts
// from the last wake-up, so that no pause falls between two of them.
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
// [clock.SleepUntilStamped] or, for a thread that has a processor to keep,
// [clock.SleepUntilKeeping]. The wake-up is stamped before the runtime is asked for
// a processor or can stop the thread, and the next sleep begins after that, so no
// wait for the runtime is in it; nor is a pause of the process in those few
// microseconds. Of a sleep that the runtime cut short (every 10 ms it asks a thread
// that keeps a processor so long to yield) nothing is known. The thread ends
// with the goroutine, as it is never unlocked, and its timer slack with it.
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

// open returns the pause under way at now if it is beyond the threshold.
func (m *meter) open(now int64) (Pause, bool) {
	due := m.due.Load()
	return Pause{Start: due, End: now, Source: m.source}, due != 0 && now-due >= m.threshold
}

// sample ends an interval and returns its 99th percentile and maximum. A sleep
// that has not ended counts for the maximum, and for the percentile where
// nothing else was recorded: a meter that is stopped must not show low values.
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
