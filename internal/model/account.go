package model

import (
	"slices"

	"sixnines/scenario"
)

// Outcome is what the model predicts for one load.
type Outcome struct {
	Workload string
	// Counters are the counters by their names in results.
	Counters map[string]int64
	// Latencies are the distributions by the names of their metrics.
	Latencies map[string]*Latency
	// Bucket is the largest ratio of a figure to its value: the width of a histogram bucket.
	Bucket float64
	Rate   Rate
	// Through is the throughput of an unpaced load.
	Through Through
	End     int64 // of the window, ns from its start
	// Resolved is when, after the window, the last measured message of all loads was
	// resolved; or, if Waited, when the wait after the window ended and the missing messages
	// were given up.
	Resolved int64
	Waited   bool
	// Next is when the next message would have been sent, in the time of the run, if senders
	// had not stopped; empty if that is after the clients were closed.
	Next   []int64
	Paced  bool // the load has a schedule
	OwnLag bool // a message had own lag
	// Within are the counters that depend on when a time limit was noticed: the least and the
	// largest possible value.
	Within  map[string]*[2]int64
	FlatOut bool // nothing but the broker limits the rate
	// Filled is when consumers that come late may connect; never if no consumers come late,
	// or if a message stays unanswered.
	Filled int64
	Late   bool  // the load has consumers that come late
	Tied   bool  // a message came to a consumer at the very instant at which it was closed
	Edge   bool  // a message came to a consumer at the very instant at which the broker paused
	Blocks bool  // a send was blocked
	Work   int64 // the longest work of a consumer of any load per message, ns
	Thawed int64 // when the broker's pause ended; 0: it did not pause
	// Objectives are the possible outcomes of each objective, in the scenario's order.
	Objectives []Judgement
	// Statuses are the possible verdicts of the run.
	Statuses []string
	// Entries are what became of all measured messages in each response time, RefusedDue when those were due that
	// were refused, and Came when copies came that count as duplicated, redelivered and reordered.
	Entries    map[string][]Entry
	RefusedDue []int64
	Came       map[string][]int64
	// Losses are acknowledged messages that the broker does not keep, where what it keeps is read back, which Kept says.
	Losses []Loss
	Kept   bool
	Fan    int // deliveries of each message, of a load whose topics have equally many; else 0
}

// ledger collects what happened to the measured messages of a play.
type ledger struct {
	*play
	out    *Outcome
	closed int64            // when the closing of clients begins
	leaves int64            // when the closing of this load's clients begins
	leave  []int64          // when each consumer is closed
	came   []map[int64]bool // by stream·groups + group: numbers that came undamaged
	newest []int64          // by the same index: the highest number that came; −1: none

	longest  map[int64]int64 // largest lag, by slot
	lastSend []int64         // last send, by stream

	measured []*message
	flights  []flight // of each measured message
	through  int64    // when the last measured message was resolved
}

// account computes the outcome from what happened to the messages.
func (p *play) account(closed int64, waited bool) *Outcome {
	l := &ledger{play: p, closed: closed, out: &Outcome{Counters: map[string]int64{}, Latencies: map[string]*Latency{}, Entries: map[string][]Entry{}, Came: map[string][]int64{}, Within: map[string]*[2]int64{"timed_out": {}, "late_replies": {}}, End: p.end, Resolved: closed, Waited: waited,
		Bucket: p.bucket, Work: p.longestWork(), Thawed: p.frost.to, Paced: p.paced(), FlatOut: p.flatOut(),
		Late: !p.w.Consumer.From.IsZero(), Filled: p.filled(), Kept: readsBack(p.o)}}
	l.out.Blocks = slices.ContainsFunc(l.all, func(m *message) bool { return m.answer != unsent && m.back > m.sent })
	l.out.Edge = slices.ContainsFunc(p.consumers, func(q *queue) bool { return q.edge })
	if l.at.Closed > 0 {
		l.closed = l.at.Closed
	}
	if l.denied < never && l.denied-l.from <= l.closed {
		l.out.Next = []int64{l.denied}
	}
	l.leaving()
	l.receive()
	l.remember()
	for _, m := range p.all {
		if m.due >= 0 && m.due < p.end {
			l.message(m)
		}
	}
	for t := range l.w.Topics {
		if n := l.layout.fanOut(t); t == 0 {
			l.out.Fan = n
		} else if n != l.out.Fan {
			l.out.Fan = 0
			break
		}
	}
	l.out.Rate = p.rate()
	l.out.Through = l.throughput()
	l.follow()
	for _, x := range l.out.Latencies {
		x.finish(l.samples(x))
	}
	l.out.Statuses = l.statuses()
	return l.out
}

// lastEnd is when the last window ends.
func (w *world) lastEnd() (at int64) {
	for _, p := range w.plays {
		at = max(at, p.from+p.end)
	}
	return at
}

// longestWork is the longest time that a consumer of any load works on a message.
func (w *world) longestWork() (most int64) {
	for _, p := range w.plays {
		most = max(most, int64(p.w.Consumer.Work))
	}
	return most
}

// filled is when consumers that come late may connect: after all is sent and answered, or
// after a fixed time.
func (p *play) filled() (at int64) {
	if !p.w.Consumer.From.Filled {
		return int64(p.w.Consumer.From.After)
	}
	for _, s := range p.senders {
		at = max(at, s.past())
	}
	for _, m := range p.all {
		if m.due < 0 || m.due >= p.end {
			continue
		}
		if at = max(at, m.back); m.answer == unsent || m.answer == unanswered {
			return never
		}
		if p.acknowledges() {
			at = max(at, m.at)
		}
	}
	return at
}

// receive notes the deliveries, and counts duplicates and those out of order.
func (l *ledger) receive() {
	groups := len(l.layout.groups)
	l.came, l.newest = make([]map[int64]bool, len(l.layout.streams)*groups), make([]int64, len(l.layout.streams)*groups)
	for i := range l.newest {
		l.came[i], l.newest[i] = map[int64]bool{}, -1
	}
	highest := map[[2]int]int64{} // by consumer and stream
	for _, r := range l.received {
		m := r.m
		if !l.got(&r.receipt) || !r.whole {
			continue
		}
		at, measured := m.stream*groups+r.group, m.due >= 0 && m.due < l.end
		if l.came[at][m.number] {
			if measured {
				l.counted("duplicated", r.at)
				if r.marked {
					l.counted("redelivered", r.at)
				}
			}
			continue
		}
		l.came[at][m.number] = true
		l.newest[at] = max(l.newest[at], m.number)
		key := [2]int{r.consumer, m.stream}
		before, any := highest[key]
		if measured && any && m.number < before && !l.unordered() {
			l.counted("reordered", r.at)
		}
		highest[key] = max(before, m.number)
	}
}

// counted counts a copy that came.
func (l *ledger) counted(name string, at int64) {
	l.out.Counters[name]++
	l.out.Came[name] = append(l.out.Came[name], at)
}

// unordered reports whether replies have no order, because several responders send them.
func (l *ledger) unordered() bool {
	return l.w.Pattern == scenario.RequestReply && l.w.Consumers > 1
}

// message adds one measured message to the counters and latencies.
func (l *ledger) message(m *message) {
	c := l.out.Counters
	c["scheduled"]++
	topic := l.layout.streams[m.stream].topic
	fan := int64(l.layout.fanOut(topic))
	if m.answer == unsent || m.sent > l.closed {
		c["not_sent"]++
		l.publish(m, unsent)
		l.deliveries(m, unsent)
		return
	}
	c["taken"]++
	if m.answer == atOnce {
		c["rejected"]++
		l.out.RefusedDue = append(l.out.RefusedDue, m.due)
		l.publish(m, atOnce)
		l.deliveries(m, atOnce)
		return
	}
	if !l.flatOut() {
		l.latency("lag.own").add(m.own)
		l.out.OwnLag = l.out.OwnLag || m.own > 0
		l.latency("lag.blocked").add(m.sent - m.due - m.own)
	}
	c["sent"]++
	c["expected"] += fan
	l.limited(m)
	a := m.answer
	if m.at > l.leaves || a == unanswered {
		a = canceled
	}
	switch a {
	case acknowledged:
		c["acked"]++
	case nacked:
		c["nacked"]++
		l.out.RefusedDue = append(l.out.RefusedDue, m.due)
	default:
		c["unknown"]++
	}
	l.publish(m, a)
	l.deliveries(m, a)
	if a == acknowledged && readsBack(l.o) && !keeps(m) {
		missing := int64(0)
		for g := range l.layout.groups {
			if l.layout.groups[g].has(topic) && l.had(m, g, false) == nil {
				missing++
			}
		}
		if len(l.layout.groups) == 0 {
			missing = 1 // it counts for itself
		}
		l.out.Losses = append(l.out.Losses, Loss{m.at, missing})
	}
}

// publish adds a message to the publish latencies, if publishes are acknowledged.
func (l *ledger) publish(m *message, a answer) {
	if !l.acknowledges() {
		return
	}
	response, service := l.latencies("publish")
	switch a {
	case acknowledged:
		response.add(m.at - m.due)
		service.add(m.at - m.sent)
		l.note("publish.response", m, m.at-m.due, Answered)
	case nacked, atOnce:
		response.refuse()
		service.refuse()
		l.note("publish.response", m, 0, Refused)
	case gaveUp:
		l.note("publish.response", m, l.closed-m.due, NeverAnswered)
		response.bound(m.at - m.due)
		service.bound(m.at - m.sent)
		l.out.Counters["censored"]++
	default:
		l.note("publish.response", m, l.closed-m.due, NeverAnswered)
		l.bound(response, service, m)
		l.out.Counters["censored"]++
	}
}

// latencies returns the response and service times of a metric. Messages of an unpaced load
// are never due and have no response time; values added to it are discarded.
func (l *ledger) latencies(name string) (response, service *Latency) {
	if l.flatOut() {
		return &Latency{}, l.latency(name + ".service")
	}
	return l.latency(name + ".response"), l.latency(name + ".service")
}

// bound adds a message that never came. Its send time is not stored, so the bound of the
// service time counts from the latest instant at which it must have been sent. In a closed
// loop its due time is not stored either; it is at most the window's end.
func (l *ledger) bound(response, service *Latency, m *message) {
	if l.paced() {
		response.bound(l.closed - m.due)
	} else {
		response.bound(l.closed - l.end)
	}
	l.boundService(service, m)
}

// boundService adds the service time of a message that never came, as a bound, see bound.
func (l *ledger) boundService(service *Latency, m *message) {
	if m.answer == unsent || m.sent > l.closed {
		return
	}
	if !l.paced() {
		service.bound(l.closed - l.lastSend[m.stream])
		return
	}
	service.bound(l.closed - min(m.due+l.longest[m.due/slotLength], l.lastSend[m.stream]))
}

// remember notes the facts about sends that a run stores: the largest lag of the messages due
// in the same 100 ms, and the last send of each stream.
func (l *ledger) remember() {
	l.longest, l.lastSend = map[int64]int64{}, make([]int64, len(l.layout.streams))
	for _, m := range l.all {
		if m.due >= 0 && m.due < l.end && m.answer != unsent && m.answer != atOnce && m.sent <= l.closed {
			l.longest[m.due/slotLength] = max(l.longest[m.due/slotLength], m.sent-m.due)
			l.lastSend[m.stream] = max(l.lastSend[m.stream], m.sent)
		}
	}
}

// deliveries adds a message to the latencies of deliveries, group by group.
func (l *ledger) deliveries(m *message, a answer) {
	name := "delivery"
	if l.w.Pattern == scenario.RoundTrip || l.w.Pattern == scenario.RequestReply {
		name = "roundtrip"
	}
	topic := l.layout.streams[m.stream].topic
	last, missing := int64(0), 0
	for g := range l.layout.groups {
		if !l.layout.groups[g].has(topic) {
			continue
		}
		response, service := l.latencies(name)
		r := l.had(m, g, true)
		if r != nil {
			if at, both := l.both(m, g); both {
				l.out.Counters["corrupted_copies"]++
				l.counted("duplicated", at)
			}
			l.out.Counters["received"]++
			if l.acknowledges() && (a == nacked || a == gaveUp || a == canceled) {
				l.out.Counters["ended_received"]++
			}
			response.add(r.at - m.due)
			service.add(r.at - m.sent)
			l.note(name+".response", m, r.at-m.due, Answered)
			last = max(last, r.at)
			l.lateReply(m, r, a)
			continue
		}
		missing++
		if a == atOnce || a == nacked {
			response.refuse()
			service.refuse()
			l.note(name+".response", m, 0, Refused)
		} else {
			l.note(name+".response", m, l.closed-m.due, NeverAnswered)
			l.bound(response, service, m)
			l.out.Counters["censored"]++
		}
		if a != atOnce && a != unsent {
			l.absent(m, g, a)
		}
	}
	if l.layout.fanOut(topic) < 2 || name != "delivery" || l.flatOut() {
		return
	}
	switch of := l.latency("delivery.last"); {
	case missing == 0:
		of.add(last - m.due)
	case a == atOnce || a == nacked:
		of.refuse()
	default:
		l.bound(of, &Latency{}, m)
	}
}

// absent counts a message that a group did not get undamaged.
func (l *ledger) absent(m *message, g int, a answer) {
	c := l.out.Counters
	if l.had(m, g, false) != nil {
		c["corrupted"]++
		return
	}
	c["missing"]++
	switch {
	case a == nacked:
		c["missing_nacked"]++
	case a != acknowledged:
		c["missing_unknown"]++
	case readsBack(l.o) && keeps(m):
		c["undelivered"]++
	case readsBack(l.o):
		c["lost_acked"]++
	case m.number < l.newest[m.stream*len(l.layout.groups)+g] && !l.stillComing(g):
		c["lost_acked"]++
	default:
		c["undelivered"]++
	}
}

// stillComing reports whether a group of several members got measured messages in the
// second half of the wait after the window.
func (l *ledger) stillComing(g int) bool {
	return len(l.layout.groups[g].members) >= 2 && !l.quiet(g)
}

// quiet reports whether a group got no measured message in the second half of the wait.
func (l *ledger) quiet(g int) bool {
	for _, r := range l.received {
		if r.group == g && r.whole && r.m.due >= 0 && r.m.due < l.end && l.got(&r.receipt) && r.at > l.end+(l.closed-l.end)/2 {
			return false
		}
	}
	return true
}

// silent reports whether a group got no measured message of a stream.
func (l *ledger) silent(stream, g int) bool {
	for _, r := range l.received {
		if r.group == g && r.whole && r.m.stream == stream && r.m.due >= 0 && r.m.due < l.end && l.got(&r.receipt) {
			return false
		}
	}
	return true
}

// leaving computes when each consumer is closed: load after load, and within a load one after
// the other. Each is closed when the one before has finished the work on its current message, or
// leaveWithin after the first. Messages that come meanwhile count. Producers are closed before
// consumers, so a reply does not reach its requester any more.
func (l *ledger) leaving() {
	l.leaves = max(l.closed, l.world.left-l.from)
	at := l.leaves
	for c := range l.layout.consumers {
		l.leave = append(l.leave, at)
		if l.w.Pattern == scenario.RequestReply {
			continue
		}
		for i := range l.received {
			r := &l.received[i].receipt
			if r.consumer != c {
				continue
			}
			l.out.Tied = l.out.Tied || r.at == l.leave[c] && r.at > l.closed
			if l.got(r) {
				at = min(max(at, r.at+int64(l.w.Consumer.Work)), l.leaves+leaveWithin)
			}
		}
	}
	l.world.left = l.from + at
}

// leaveWithin is the longest time, ns, for closing a load's clients.
const leaveWithin = 5_000_000_000

// got reports whether a copy came before its consumer was closed. A copy that came at that very
// instant may count or not; Moments.Takes decides.
func (l *ledger) got(r *receipt) bool {
	leave := l.leave[r.consumer]
	return r.at < leave || r.at == leave && (r.at == l.closed || l.at.Takes>>r.consumer&1 > 0)
}

// had returns the first copy that a group got before its consumers were closed, an undamaged
// one if whole; nil if it got none.
func (l *ledger) had(m *message, group int, whole bool) (first *receipt) {
	for i := range m.copies {
		r := &m.copies[i]
		if r.group == group && (r.whole || !whole) && l.got(r) && (first == nil || r.at < first.at) {
			first = r
		}
	}
	return first
}

// both returns when the second of a damaged and a whole copy of a message came to a group; false: one of them did not.
func (l *ledger) both(m *message, group int) (at int64, ok bool) {
	var damaged, whole bool
	for i := range m.copies {
		if r := &m.copies[i]; r.group == group && l.got(r) {
			damaged, whole, at = damaged || !r.whole, whole || r.whole, max(at, r.at)
		}
	}
	return at, damaged && whole
}

// latency returns the distribution of a metric.
func (l *ledger) latency(name string) *Latency {
	if l.out.Latencies[name] == nil {
		l.out.Latencies[name] = &Latency{Metric: name}
	}
	return l.out.Latencies[name]
}

// samples is how many messages a latency has: the deliveries of one message to several groups
// count as one.
func (l *ledger) samples(x *Latency) int64 {
	n := x.total()
	sent, expected := l.out.Counters["sent"], l.out.Counters["expected"]
	if x.Metric != "delivery.response" && x.Metric != "delivery.service" || expected <= sent || sent == 0 {
		return n
	}
	return max(1, (2*n*sent+expected)/(2*expected))
}
