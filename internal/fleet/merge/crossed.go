package merge

import (
	"maps"
	"slices"
	"time"

	"sixnines/internal/judge"
	"sixnines/internal/numbers"
	"sixnines/internal/schedule"
	"sixnines/result"
)

// crossing closes the accounts of messages that were sent by one agent and received by another. Its decisions are those
// of one process with the same arrivals: see accountMissing of internal/engine/account.
type crossing struct {
	*books
	load    *load
	ends    []*ending
	of      int // index of the load
	closing *result.Closing
	plan    *schedule.Plan // of the whole workload
	bounds  *crossedMetrics
	counted result.Counters // of the whole run so far
	d       result.Counters // what is added
	lost    map[int64]int64 // [result.Interval.Lost]
	absent  int64
	known   int64       // of those came damaged, see [judge.SettleDamaged]
	copies  int64       // likewise
	dues    []stretchOf // by producer
}

// stretchOf is what of a producer's schedule was taken: its streams take turns.
type stretchOf struct {
	ids   []int // its streams
	turn  int   // whose turn the window's first message was
	taken int64 // messages
	agent int   // its sender
	end   int64 // when its window ended, ns
	lost  bool  // its sender was lost
	last  int64 // end of the last record of its sender, ns; if it was lost
}

// close adds to the closing record v what follows from the ledgers. lost has what agents know to be lost themselves.
func (b *books) close(l *load, i int, ends []*ending, v *result.Interval, lost map[int64]int64) error {
	_, plan, err := planOf(l.header)
	if err != nil {
		return err
	}
	x := &crossing{books: b, load: l, ends: ends, of: i, closing: v.Closing, plan: plan, lost: lost,
		bounds: newCrossedMetrics(l, ends, i, b.scenario.Record.Digits, b.scenario.Phases.Longest()+b.scenario.Phases.Drain+b.scenario.Workload.Timeout+time.Second)}
	x.counted = l.counted
	x.counted.Add(v.Counters)
	x.plans()
	x.unite()
	for p := range x.dues {
		x.unsent(p)
	}
	for g := range b.groups {
		for p := range x.dues {
			x.missing(g, p)
		}
	}
	x.settle()
	v.Counters.Add(x.d)
	v.Counters.Expected = b.all() - b.expected
	return x.bounds.add()
}

// plans finds what of each producer's schedule was taken.
func (x *crossing) plans() {
	for _, ids := range x.whole.ByProducer {
		s := stretchOf{ids: ids}
		before := uint64(0)
		for _, id := range ids {
			st := x.streams[id]
			before += st.first
			s.taken, s.agent = s.taken+st.taken, st.agent
		}
		s.turn = int(before % uint64(len(ids)))
		run := x.ends[s.agent].runs[x.of]
		if s.lost = !x.ends[s.agent].closed[x.of]; s.lost {
			s.end, s.last = x.closing.End, lastOf(run)
		} else {
			s.end = run.Closing.End
		}
		x.dues = append(x.dues, s)
	}
}

// lastOf returns when the last record of a lost agent ends, ns from the window's start.
func lastOf(run *result.Run) int64 {
	if n := len(run.Series); n > 0 {
		return run.Series[n-1].End
	}
	return 0
}

// each calls do for each message of a producer's schedule in the window: with the stream and the number that it has or, if
// it was not taken, would have, and whether it was taken.
func (x *crossing) each(p int, do func(at int64, stream int, seq uint64, taken bool)) {
	s := &x.dues[p]
	next := make([]uint64, len(s.ids))
	for i, id := range s.ids {
		next[i] = x.streams[id].first
	}
	turn, n, cursor := s.turn, int64(0), x.plan.Producer(p)
	for at, more := cursor.Next(); more && at < s.end; at, more = cursor.Next() {
		do(at, s.ids[turn], next[turn], n < s.taken)
		next[turn]++
		n++
		if turn++; turn == len(s.ids) {
			turn = 0
		}
	}
}

// unsent accounts, in the distributions of deliveries, for what was not sent and for what the client refused at once.
func (x *crossing) unsent(p int) {
	rejected := int64(0)
	for _, id := range x.dues[p].ids {
		rejected += x.streams[id].rejected.Len()
	}
	x.each(p, func(at int64, stream int, seq uint64, taken bool) {
		fan := int64(x.whole.Streams[stream].FanOut)
		switch {
		case !taken:
			x.bounds.response(at, x.closing.GivenUp-at, fan)
			x.d.Censored += fan
		case rejected > 0 && x.streams[stream].rejected.Has(seq):
			x.bounds.refuse(at, fan)
		}
	})
}

// unite finds what agents of one group both received, and takes back what a lost agent's ledger has and its
// distributions have not.
func (x *crossing) unite() {
	for j := range x.agents {
		if x.agents[j].segment.Role != result.RoleConsumers || x.ends[j].closed[x.of] {
			continue
		}
		run := x.ends[j].runs[x.of]
		recorded := int64(0)
		if m := run.Metrics[result.DeliveryService]; m != nil && m.Hist != nil {
			recorded = m.Hist.Count()
		}
		x.d.Received += recorded - run.Counters.Received
		if x.load.header.Sizes == "" {
			x.d.BytesRecv += (recorded - run.Counters.Received) * x.load.header.Size
		}
		over := -recorded
		for k, got := range x.agents[j].received {
			over += x.measured(k[1], *got).Len()
		}
		for _, k := range slices.SortedFunc(maps.Keys(x.agents[j].received), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
			if over <= 0 {
				break
			}
			got := x.agents[j].received[k]
			mine := x.measured(k[1], *got)
			drop := min(over, mine.Len())
			kept := mine.Clone()
			kept.DropHighest(drop)
			mine.Without(kept)
			got.Without(mine)
			over -= drop
		}
	}
	for g := range x.groups {
		for id, st := range x.streams {
			var all, late, inOrder numbers.Set
			for _, j := range x.groups[g].agents {
				if got := x.agents[j].received[[2]int{g, id}]; got != nil {
					mine := x.measured(id, *got)
					twice := all.Both(mine).Len()
					x.closing.Twice += twice
					x.d.Received -= twice
					x.d.Duplicated += twice
					if x.load.header.Sizes == "" {
						x.d.BytesRecv -= twice * x.load.header.Size
					}
					all.Union(mine)
					behind := x.measured(id, *x.agents[j].late[[2]int{g, id}])
					x.d.Reordered -= behind.Len()
					late.Union(behind)
					mine.Without(behind)
					inOrder.Union(mine)
				}
			}
			// Of a message that came to two agents the copy that came in order counts as the first one.
			late.Without(inOrder)
			x.d.Reordered += late.Len()
			ended := st.refused.Clone()
			ended.Union(st.givenUp)
			x.d.EndedReceived += ended.Both(all).Len()
		}
	}
}

// measured returns the numbers of a set that are of messages of the window.
func (x *crossing) measured(stream int, s numbers.Set) numbers.Set {
	st := x.streams[stream]
	return s.Within(st.first, st.first+uint64(st.taken))
}

// missing decides what became of each message of a producer that a group did not receive.
func (x *crossing) missing(g, p int) {
	group := &x.groups[g]
	unobserved, until := false, x.closing.GivenUp
	for _, j := range group.agents {
		if !x.ends[j].closed[x.of] {
			unobserved, until = true, min(until, lastOf(x.ends[j].runs[x.of]))
		}
	}
	waited := x.closing.GivenUp - x.closing.End
	coming := group.newest != 0 && x.closing.GivenUp-group.newest < waited/2
	type view struct {
		absent  numbers.Set
		highest uint64
		any     bool
	}
	views := map[int]view{}
	for _, id := range x.dues[p].ids {
		if x.whole.Groups[g].Base(x.whole.Streams[id].Topic) < 0 {
			continue
		}
		st := x.streams[id]
		var got numbers.Set
		for _, j := range group.agents {
			if s := x.agents[j].received[[2]int{g, id}]; s != nil {
				got.Union(*s)
			}
		}
		var w view
		w.highest, w.any = got.Highest()
		w.absent.AddRange(st.first, st.first+uint64(st.taken))
		w.absent.Without(st.rejected)
		w.absent.Without(got)
		if n := w.absent.Len(); n > 0 {
			views[id] = w
			x.absent += n
		}
	}
	if len(views) == 0 {
		return
	}
	slot, acks := max(x.load.header.Slot.Nanoseconds(), 1), x.load.header.Ack != ackNone
	s := &x.dues[p]
	x.each(p, func(at int64, stream int, seq uint64, taken bool) {
		w, some := views[stream]
		if !some || !taken || !w.absent.Has(seq) {
			return
		}
		st := x.streams[stream]
		refused := st.refused.Has(seq)
		if refused {
			x.bounds.refuse(at, 1)
		} else {
			x.d.Censored++
			x.bounds.response(at, until-at, 1)
			x.bounds.service(until - s.sentBy(st, at, x.agents[s.agent].lags[at/slot]))
		}
		if n := st.damaged[g][seq]; n > 0 {
			x.known, x.copies = x.known+1, x.copies+n-1
			return
		}
		overtaken := !(coming && group.ways > 1) && w.any && seq <= w.highest && !unobserved
		silent := !coming && (!w.any || w.highest < st.first) && !unobserved
		inFlight := false
		if unobserved && !refused {
			x.closing.Unobserved++
		}
		switch {
		case refused:
			x.d.MissingNacked++
		case !st.acked.Has(seq):
			x.d.MissingUnknown++
			inFlight = !acks
		case overtaken && !group.unproven && (group.proven == 0 || at < group.proven):
			x.d.LostAcked++
			inFlight = true
		default:
			x.d.Undelivered++
			inFlight = overtaken
		}
		if (overtaken || silent) && inFlight {
			x.lost[at/slot]++
		}
	})
}

// sentBy returns an instant before which a message was certainly sent, ns from the window's start.
func (s *stretchOf) sentBy(st *streamBook, at, lag int64) int64 {
	if s.lost {
		return max(s.last, at)
	}
	return min(st.latest, at+lag)
}

// settle makes the sums of deliveries.
func (x *crossing) settle() {
	before := x.counted
	before.Add(x.d)
	sum := before
	judge.SettleDamaged(&sum, x.absent, x.known, x.copies)
	sum.Sub(before)
	x.d.Add(sum)
	x.closing.Unobserved = min(x.closing.Unobserved, max(0, x.d.Missing))
}
