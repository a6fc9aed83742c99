package engine

import (
	"time"

	"sixnines/internal/clock"
	"sixnines/result"
)

// Vitals of the broker's processes, where the caller can tell: of all of them
// together, and where there are several of each, with its name in between, such
// as broker.kafka-2.cpu.
const (
	vitalBroker = "broker."
	vitalCPU    = "cpu"         // seconds of processor time in the interval
	vitalRSS    = "rss"         // bytes of memory
	vitalRead   = "read_bytes"  // from storage, in the interval
	vitalWrite  = "write_bytes" // to storage, in the interval
	vitalSpun   = "pacer.spun"  // seconds spent spinning since the start
)

// eventBrokerEnded is the kind of the event that a process of the broker ended
// by itself.
const eventBrokerEnded = "broker ended"

// spun returns how long the pacers have spun since they began.
func (r *run) spun() time.Duration {
	var ns int64
	r.pacersMu.Lock()
	defer r.pacersMu.Unlock()
	for _, p := range r.pacers {
		ns += p.spun.Load()
	}
	return time.Duration(ns)
}

// brokerUsage adds what the broker's processes have used since it was called
// last. The first call, with nil, only begins to count.
func (r *run) brokerUsage(into map[string]float64) {
	if r.config.Usage == nil {
		return
	}
	if r.collected.brokers == nil {
		r.collected.brokers, r.collected.deaths = map[string]Usage{}, map[string]bool{}
	}
	all := r.config.Usage()
	for _, now := range all {
		if !now.Ended.IsZero() && !r.collected.deaths[now.Name] {
			r.collected.deaths[now.Name] = true
			r.out.event(result.Event{At: clock.Now() - int64(time.Since(now.Ended)), Kind: eventBrokerEnded, Detail: now.Death})
		}
		if now.Missing {
			delete(r.collected.brokers, now.Name)
			continue
		}
		before, known := r.collected.brokers[now.Name]
		r.collected.brokers[now.Name] = now
		if into == nil {
			continue
		}
		if now.CPU < before.CPU {
			before = Usage{} // restarted: counted from there
		}
		add := func(name string, x float64) {
			into[vitalBroker+name] += x
			if len(all) > 1 {
				into[vitalBroker+now.Name+"."+name] = x
			}
		}
		add(vitalRSS, float64(now.RSS))
		if !known {
			continue // one that was started in this interval, or came back to sight
		}
		add(vitalCPU, (now.CPU - before.CPU).Seconds())
		if now.ReadBytes >= 0 && now.WriteBytes >= 0 {
			add(vitalRead, float64(max(0, now.ReadBytes-before.ReadBytes)))
			add(vitalWrite, float64(max(0, now.WriteBytes-before.WriteBytes)))
		}
	}
}
