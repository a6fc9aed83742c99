package watch

import (
	"time"

	"sixnines/internal/clock"
	"sixnines/result"
)

// Usage is what one of the broker's processes has used.
type Usage struct {
	Name string        // unique among them; letters, digits and hyphens
	CPU  time.Duration // user and system, since it started
	RSS  int64         // resident memory in bytes
	// ReadBytes and WriteBytes are what it has read from and written to storage since it started;
	// −1: the system does not tell.
	ReadBytes, WriteBytes int64
	// Missing says that the system tells nothing of the process now: the process has
	// ended, or the system never does.
	Missing bool
	// Ended is when the process ended by itself, with a monotonic reading, and
	// Death says how; zero and empty: it has not.
	Ended time.Time
	Death string
}

// brokerWatch follows what the broker's processes use. It belongs to the
// collector.
type brokerWatch struct {
	usage func() []Usage // nil: not known
	event func(result.Event)

	known  map[string]Usage     // the last usage, by process
	deaths map[string]time.Time // when a process ended whose end was reported: one that was started again may end again
}

// add adds what the broker's processes have used since the last call. The
// first call, with nil, only begins to count. It writes an event for each process that has ended.
func (w *brokerWatch) add(into map[result.Vital]float64) {
	if w.usage == nil {
		return
	}
	if w.known == nil {
		w.known, w.deaths = map[string]Usage{}, map[string]time.Time{}
	}
	all := w.usage()
	for _, now := range all {
		if !now.Ended.IsZero() && w.deaths[now.Name] != now.Ended {
			w.deaths[now.Name] = now.Ended
			w.event(result.Event{At: clock.Now() - int64(time.Since(now.Ended)), Kind: result.EventBrokerEnded, Detail: now.Death})
		}
		if now.Missing {
			delete(w.known, now.Name)
			continue
		}
		before, known := w.known[now.Name]
		w.known[now.Name] = now
		if into == nil {
			continue
		}
		if now.CPU < before.CPU {
			before = Usage{} // restarted: counted from there
		}
		count := func(vital result.Vital, x float64) {
			into[vital] += x
			if len(all) > 1 {
				into[vital.Of(now.Name)] = x
			}
		}
		count(result.VitalBrokerRSS, float64(now.RSS))
		if !known {
			continue // one that was started in this interval, or is visible again
		}
		count(result.VitalBrokerCPU, (now.CPU - before.CPU).Seconds())
		if now.ReadBytes >= 0 && now.WriteBytes >= 0 {
			count(result.VitalBrokerReadBytes, float64(max(0, now.ReadBytes-before.ReadBytes)))
			count(result.VitalBrokerWriteBytes, float64(max(0, now.WriteBytes-before.WriteBytes)))
		}
	}
}
