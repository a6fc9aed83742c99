package recorder

import (
	"fmt"
	"sync/atomic"

	"sixnines/result"
)

// sparse is an array of counts, allocated by the first count. Safe for concurrent use.
type sparse struct{ counts atomic.Pointer[[]int64] }

func (s *sparse) count(i, length int, n int64) {
	c := s.counts.Load()
	if c == nil {
		made := make([]int64, length)
		s.counts.CompareAndSwap(nil, &made)
		c = s.counts.Load()
	}
	atomic.AddInt64(&(*c)[i], n)
}

// Censor records that a message was given up, unresolved atLeast ns after it was due (for
// service times: after it was sent). It was due at due ns after the window's start, or
// UnknownDue; of service times that is not recorded. It is safe for concurrent use and
// allocates only for the first of a metric.
func (r *Recorder) Censor(id ID, due, atLeast int64) {
	r.censored[id].count(r.geo.Index(min(max(atLeast, 0), r.geo.highest)), r.geo.length, 1)
	if id.Metric().IsResponse() {
		r.unanswered[id].count(r.slotOf(due), r.windowSlots+1, 1)
	}
}

// slotOf returns the slot of a due instant; windowSlots for an instant outside of the window.
func (r *Recorder) slotOf(due int64) int {
	if i := due / int64(Slot); due >= 0 && i < int64(r.windowSlots) {
		return int(i)
	}
	return r.windowSlots
}

// UnknownDue stands for an unknown due instant.
const UnknownDue = -1

// Refuse records that n messages of metric id, due at due ns after the window's
// start or UnknownDue, were refused: they are slower than every value. It is safe
// for concurrent use, allocates only for the first of a metric, and ignores a
// metric that is not recorded.
func (r *Recorder) Refuse(id ID, due, n int64) {
	if !r.Enabled(id) {
		return
	}
	r.refused[id].count(r.slotOf(due), r.windowSlots+1, n)
}

// Unresolved adds the censored distributions and the refused messages to the
// closing interval's metrics. All writers must have stopped.
func (r *Recorder) Unresolved(to map[result.Metric]*result.MetricInterval) error {
	for _, id := range r.ids {
		censored, refused := r.censored[id].counts.Load(), r.refused[id].counts.Load()
		if censored == nil && refused == nil {
			continue
		}
		m := to[id.Metric()]
		if m == nil {
			empty, err := encode(&r.enc, nil, &r.geo, nil, nil)
			if err != nil {
				return fmt.Errorf("recorder: %s: %w", id.Metric(), err)
			}
			m = &result.MetricInterval{Hist: string(empty)}
			to[id.Metric()] = m
		}
		if censored != nil {
			s, err := encode(&r.enc, nil, &r.geo, *censored, nil)
			if err != nil {
				return fmt.Errorf("recorder: %s: %w", id.Metric(), err)
			}
			m.Censored = string(s)
		}
		m.Unanswered, m.Refused = r.bySlot(&r.unanswered[id]), r.bySlot(&r.refused[id])
	}
	return nil
}

// bySlot returns the slots with a count, in order, the unknown one last.
func (r *Recorder) bySlot(s *sparse) (all [][2]int64) {
	counts := s.counts.Load()
	if counts == nil {
		return nil
	}
	for slot, n := range *counts {
		if n == 0 {
			continue
		}
		if slot == r.windowSlots {
			slot = result.UnknownSlot
		}
		all = append(all, [2]int64{int64(slot), n})
	}
	return all
}
