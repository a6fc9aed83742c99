package account

import (
	"cmp"
	"maps"
	"slices"

	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/readback"
	"sixnines/internal/engine/stream"
	"sixnines/internal/recorder"
	"sixnines/result"
)

// keeping compares what was read back with what is known of each message, while the accounts are
// closed.
type keeping struct {
	*Accounts
	record *result.ReadBack // nil: nothing was read back
	lost   losses
}

// fate adds a message that a delivery group did not receive to the account of its fate, unless nothing
// was read back. group is −1 where there are no consumers.
func (k *keeping) fate(group int, st *stream.Stream, seq uint64) readback.Fate {
	if k.record == nil {
		return readback.Unread
	}
	fate := k.Back.Fate(group, st, seq)
	kept := fate == readback.Kept
	choose := func(yes, no *int64) {
		if kept {
			*yes++
		} else {
			*no++
		}
	}
	switch {
	case fate == readback.Unread:
		k.record.Unread++
	case st.Nacked.Has(seq):
		choose(&k.record.KeptRefused, &k.record.GoneRefused)
	case st.Acked == nil || !st.Acked.Has(seq):
		choose(&k.record.KeptUnknown, &k.record.GoneUnknown)
	case fate == readback.Removed:
		k.record.Removed++
	case fate == readback.Dropped:
		k.record.Dropped++
	default:
		if choose(&k.record.Kept, &k.record.LostAcked); !kept {
			k.lost.add(group, st, seq)
		}
	}
	return fate
}

// close completes the record. Without consumers every message is one that was not delivered.
func (k *keeping) close() *result.ReadBack {
	r := k.record
	if r == nil {
		return nil
	}
	gone := losses{start: k.lost.start}
	for _, st := range k.Sending.Streams {
		if !st.Begun {
			continue
		}
		for seq := st.First; seq < st.Last; seq++ {
			if len(k.Receiving.Groups) == 0 && !st.Rejected.Has(seq) {
				k.fate(-1, st, seq)
			}
			if st.Acked == nil || !st.Acked.Has(seq) {
				continue
			}
			k.Back.CountReplicas(st, seq)
			if !r.Whole {
				continue
			}
			if k.Back.Fate(-1, st, seq) == readback.Kept {
				r.InLog++
			} else {
				r.NotInLog++
				gone.add(-1, st, seq)
			}
		}
	}
	k.Back.CloseReplicas()
	r.Lost = k.lost.close(k.Plan)
	if len(k.Receiving.Groups) > 0 {
		r.Gone = gone.close(k.Plan)
	}
	return r
}

// losses collects messages that are lost, in the order of their numbers in each stream.
type losses struct {
	start  int64 // of the window, CLOCK_MONOTONIC
	out    result.Losses
	ranges []lostRange
	slots  map[int64]*result.LostSlot
}

// lostRange is a range of messages of a stream. Instants are ns from the window's start; 0: not known.
type lostRange struct {
	group       int
	st          *stream.Stream
	from, to    uint64
	first, last int64
}

// mostOpen is how many ranges are collected before most are left out.
const mostOpen = 4096

func (l *losses) add(group int, st *stream.Stream, seq uint64) {
	at, ok := st.AckedAt.At(seq)
	if at -= l.start; ok {
		l.date(at)
	} else {
		at = 0
		l.out.Undated++
	}
	l.out.Count++
	n := len(l.ranges) - 1
	if n < 0 || l.ranges[n].group != group || l.ranges[n].st != st || l.ranges[n].to+1 != seq {
		if len(l.ranges) >= mostOpen {
			l.prune(result.MostLostRanges)
		}
		l.ranges = append(l.ranges, lostRange{group: group, st: st, from: seq, first: at, last: at})
		n = len(l.ranges) - 1
	}
	r := &l.ranges[n]
	if r.to = seq; !ok {
		return
	}
	if r.first == 0 || at < r.first {
		r.first = at
	}
	r.last = max(r.last, at)
}

// date counts an instant.
func (l *losses) date(at int64) {
	if len(l.slots) == 0 {
		l.out.First, l.out.Last, l.slots = at, at, map[int64]*result.LostSlot{}
	}
	l.out.First, l.out.Last = min(l.out.First, at), max(l.out.Last, at)
	n := at / int64(recorder.Slot)
	s := l.slots[n]
	if s == nil {
		s = &result.LostSlot{Slot: n, First: at, Last: at}
		l.slots[n] = s
	}
	s.Count, s.First, s.Last = s.Count+1, min(s.First, at), max(s.Last, at)
}

// prune keeps the ranges with the oldest and with the newest instant, and of the others the longest.
func (l *losses) prune(most int) {
	if len(l.ranges) <= most {
		return
	}
	oldest := slices.MinFunc(l.ranges, func(a, b lostRange) int { return cmp.Compare(a.first, b.first) })
	newest := slices.MaxFunc(l.ranges, func(a, b lostRange) int { return cmp.Compare(a.last, b.last) })
	slices.SortStableFunc(l.ranges, func(a, b lostRange) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
	kept := []lostRange{oldest}
	if newest != oldest {
		kept = append(kept, newest)
	}
	for _, r := range l.ranges {
		if len(kept) < most && r != oldest && r != newest {
			kept = append(kept, r)
		}
	}
	l.out.MoreRanges += int64(len(l.ranges) - len(kept))
	l.ranges = kept
}

// close returns what was collected; nil: nothing.
func (l *losses) close(p *plan.Plan) *result.Losses {
	if l.out.Count == 0 {
		return nil
	}
	l.prune(result.MostLostRanges)
	for _, n := range slices.Sorted(maps.Keys(l.slots)) {
		l.out.Slots = append(l.out.Slots, *l.slots[n])
	}
	for _, r := range l.ranges {
		l.out.Ranges = append(l.out.Ranges, result.LostRange{Producer: p.ProducerNumber(r.st.Plan.Producer), Topic: p.Layout.Topics[r.st.Plan.Topic], Group: r.group,
			From: r.from, To: r.to, First: r.first, Last: r.last})
	}
	slices.SortFunc(l.out.Ranges, func(a, b result.LostRange) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.From, b.From))
	})
	return &l.out
}
