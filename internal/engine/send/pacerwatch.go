package send

import "time"

// PacerWatch looks at the threads of a load's pacers: the messages of other loads do
// not wait for these. It belongs to the collector.
type PacerWatch struct {
	known map[*Pacer]*pacerUse
	at    int64 // when Busiest last looked, CLOCK_MONOTONIC; 0: not yet
}

// pacerUse is what a pacer's thread had used at the last look.
type pacerUse struct {
	thread threadTime // opened by the collector: the pacer has one of its own
	awake  int64      // ns that it had run or waited for a processor, without what it spun
}

// Busiest returns the share of the time since the last look, from 0 to 1, in which the busiest
// pacer ran or waited for a processor, without what it spun: the rest of the time it waited
// for the schedule, or for others. now is CLOCK_MONOTONIC. ok is false at the first look and where
// the system does not tell.
func (w *PacerWatch) Busiest(pacers []*Pacer, now int64) (share float64, ok bool) {
	if w.known == nil {
		w.known = map[*Pacer]*pacerUse{}
	}
	length := now - w.at
	for _, p := range pacers {
		id := p.threadID.Load()
		use := w.known[p]
		if id == 0 { // it has not begun, or has ended
			if use != nil {
				use.thread.close()
			}
			continue
		}
		first := use == nil
		if first {
			use = &pacerUse{thread: openThread(id)}
			w.known[p] = use
		}
		ran, waited, known := use.thread.read()
		if !known {
			continue
		}
		awake := ran + waited - p.spun.Load()
		if !first && w.at != 0 && length > 0 {
			share, ok = max(share, float64(awake-use.awake)/float64(length)), true
		}
		use.awake = awake
	}
	w.at = now
	return min(max(share, 0), 1), ok
}

// Close closes what the watch has open.
func (w *PacerWatch) Close() {
	for _, use := range w.known {
		use.thread.close()
	}
}

// Spun returns how long the pacers have spun since they began, in all. It is safe for concurrent use.
func Spun(pacers []*Pacer) time.Duration {
	var ns int64
	for _, p := range pacers {
		ns += p.spun.Load()
	}
	return time.Duration(ns)
}
