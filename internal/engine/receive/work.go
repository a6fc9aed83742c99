package receive

import (
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
)

// work is what a consumer, or a responder, does with each message before it takes the next:
// it waits, as a consumer does that calls another service, and needs no processor. It belongs to one
// consumer or responder, whose callbacks are serial.
type work struct {
	plan   *plan.Plan
	takes  time.Duration // the work on one message; 0: none
	pauses []*Pause      // those that have not begun for this consumer, in order

	Until int64 // when the work on the last message was to be over, CLOCK_MONOTONIC
	back  int64 // when it was over: later by as much as the wake-up was late
}

// waitedFor is how soon after the end of the work on one message, in ns, the next must come to count as
// one that had waited for it: about what a client takes between two callbacks.
const waitedFor = 50_000

// NewWork returns the work of one consumer or responder. Pauses have been added.
func (r *Receiving) NewWork() work {
	return work{plan: r.Plan, takes: r.Workload.Consumer.Work, pauses: r.Pauses}
}

// Do takes the time of the work on a message that came at now, and of the pause. The work on
// a message that had waited begins as much sooner as the wake-up after the one before was
// late, so that late wake-ups do not add up to a slower consumer.
func (w *work) Do(now int64) {
	if w.takes > 0 {
		begin := now
		if now-w.back < waitedFor {
			begin -= max(w.back-w.Until, 0)
		}
		w.Until = begin + int64(w.takes)
		w.plan.Precise.Until(w.Until, nil)
		w.back = clock.Now()
	}
	for len(w.pauses) > 0 && now >= w.pauses[0].from.Load() {
		p := w.pauses[0]
		w.pauses = w.pauses[1:] // it blocks each consumer once
		if now < p.until.Load() {
			p.wait(w.plan.Life)
			w.Until, w.back = 0, 0
		}
	}
}
