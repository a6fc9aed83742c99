package model

import (
	"slices"

	"sixnines/scenario"
)

// Outcome is what the model says of one load.
type Outcome struct {
	Workload string
	// Counters are the accounts by the names that results give them.
	Counters map[string]int64
	// Latencies are the distributions by the names of their metrics.
	Latencies map[string]*Latency
	// Bucket is how many times as large as a value its figure may be.
	Bucket float64
	Rate   Rate
	// Through is what came through flat out.
	Through Through
	End     int64 // of the window, ns from its start
	// Resolved is when the window was over and the last measured message of all loads was
	// resolved, and what had not come was given up then; or, if Waited, when the wait after the
	// window was over.
	Resolved int64
	Waited   bool
	// Next is when the next message would have been sent, in the time of the run, if senders
	// had not stopped: nothing, where that is not before clients were told to leave.
	Next   []int64
	Paced  bool // there is a schedule
	OwnLag bool // a message had some
	// Within are the counters that depend on when a time limit was noticed: the least and the
	// most.
	Within  map[string]*[2]int64
	FlatOut bool // nothing but the broker limits the rate
	// Filled is when consumers that come late may connect: never, if they are not to come, or
	// cannot as long as something is unanswered.
	Filled int64
	Late   bool  // they do
	Tied   bool  // something came to a consumer at the very instant at which it was told to leave
	Edge   bool  // something came to a consumer at the very instant at which the broker paused
	Blocks bool  // a send was blocked
	Work   int64 // what consumers of any load do with a message
	Thawed int64 // when the broker's pause was over; 0: there was none
	// Objectives are what may be said of each, in the scenario's order.
	Objectives []Judgement
	// Statuses are the verdicts that the run may have.
	Statuses []string
}

// ledger is what became of the measured messages of a play.
type ledger struct {
	*play
	out    *Outcome
	closed int64            // when clients begin to leave
	leaves int64            // when those of this load do
	leave  []int64          // when each consumer is told to
	came   []map[int64]bool // by stream·groups + group: numbers that came whole
	newest []int64          // likewise, the highest number that came; −1: none

	longest  map[int64]int64 // lag, by slot
	lastSend []int64         // by stream

	measured []*message
	flights  []flight // of each
	through  int64    // when the last of them was resolved
}

// account adds up what became of the messages.
func (p *play) account(closed int64, waited bool) *Outcome {
	l := &ledger{play: p, closed: closed, out: &Outcome{Counters: map[string]int64{}, Latencies: map[string]*Latency{}, Within: map[string]*[2]int64{"timed_out": {}, "late_replies": {}}, End: p.end, Resolved: closed, Waited: waited,
		Bucket: p.bucket, Work: p.longestWork(), Thawed: p.frost.to, Paced: p.paced(), FlatOut: p.flatOut(),
		Late: !p.w.Consumer.From.IsZero(), Filled: p.filled()}}
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

// longestWork is what the slowest consumers do with a message.
func (w *world) longestWork() (most int64) {
	for _, p := range w.plays {
		most = max(most, int64(p.w.Consumer.Work))
	}
	return most
}

// filled is when consumers that come late may connect: when all is sent and answered, or
// after a while.
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

// receive notes what came, and counts copies and disorder.
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
				l.out.Counters["duplicated"]++
				if r.marked {
					l.out.Counters["redelivered"]++
				}
			}
			continue
		}
		l.came[at][m.number] = true
		l.newest[at] = max(l.newest[at], m.number)
		key := [2]int{r.consumer, m.stream}
		before, any := highest[key]
		if measured && any && m.number < before && !l.unordered() {
			l.out.Counters["reordered"]++
		}
		highest[key] = max(before, m.number)
	}
}

// unordered reports whether answers have no order: of several responders.
func (l *ledger) unordered() bool {
	return l.w.Pattern == scenario.RequestReply && l.w.Consumers > 1
}

// message adds one measured message to the accounts.
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
	default:
		c["unknown"]++
	}
	l.publish(m, a)
	l.deliveries(m, a)
}

// publish adds a message to the publish latencies, where there is anything that answers.
func (l *ledger) publish(m *message, a answer) {
	if !l.acknowledges() {
		return
	}
	response, service := l.latencies("publish")
	switch a {
	case acknowledged:
		response.add(m.at - m.due)
		service.add(m.at - m.sent)
	case nacked, atOnce:
		response.refuse()
		service.refuse()
	case gaveUp:
		response.bound(m.at - m.due)
		service.bound(m.at - m.sent)
		l.out.Counters["censored"]++
	default:
		l.bound(response, service, m)
		l.out.Counters["censored"]++
	}
}

// latencies returns the response and service times of a metric. Flat out messages are not
// due, and have no response time: what is added to that is left.
func (l *ledger) latencies(name string) (response, service *Latency) {
	if l.flatOut() {
		return &Latency{}, l.latency(name + ".service")
	}
	return l.latency(name + ".response"), l.latency(name + ".service")
}

// bound adds a message that never came: its send is forgotten, and the service time's bound
// counts from when it was certainly sent. In a closed loop it is also forgotten when it was
// due, no later than the window's end.
func (l *ledger) bound(response, service *Latency, m *message) {
	if l.paced() {
		response.bound(l.closed - m.due)
	} else {
		response.bound(l.closed - l.end)
	}
	l.boundService(service, m)
}

// boundService adds the service time of a message that never came: its send is forgotten,
// and the bound counts from when it was certainly sent.
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

// remember notes what is remembered of sends: the largest lag of those that were due in the
// same tenth of a second, and the last send of each stream.
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
			l.out.Counters["received"]++
			if l.acknowledges() && (a == nacked || a == gaveUp || a == canceled) {
				l.out.Counters["ended_received"]++
			}
			response.add(r.at - m.due)
			service.add(r.at - m.sent)
			last = max(last, r.at)
			l.lateReply(m, r, a)
			continue
		}
		missing++
		if a == atOnce || a == nacked {
			response.refuse()
			service.refuse()
		} else {
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

// absent adds a message that a group did not get whole.
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
	case m.number < l.newest[m.stream*len(l.layout.groups)+g] && !l.stillComing(g):
		c["lost_acked"]++
	default:
		c["undelivered"]++
	}
}

// stillComing reports whether, to a group of several members, measured messages were
// coming in the second half of the wait after the window.
func (l *ledger) stillComing(g int) bool {
	return len(l.layout.groups[g].members) >= 2 && !l.quiet(g)
}

// quiet reports whether no measured message came to a group in the second half of the wait.
func (l *ledger) quiet(g int) bool {
	for _, r := range l.received {
		if r.group == g && r.whole && r.m.due >= 0 && r.m.due < l.end && l.got(&r.receipt) && r.at > l.end+(l.closed-l.end)/2 {
			return false
		}
	}
	return true
}

// silent reports whether no measured message of a stream came to a group.
func (l *ledger) silent(stream, g int) bool {
	for _, r := range l.received {
		if r.group == g && r.whole && r.m.stream == stream && r.m.due >= 0 && r.m.due < l.end && l.got(&r.receipt) {
			return false
		}
	}
	return true
}

// leaving finds when each consumer is told to leave: load after load, and one after the other,
// each when the one before has done the work on the message that it has, or when a load's clients
// have had as long as they get. What comes meanwhile counts. Producers leave before, and a reply
// has nobody to come to then.
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

// leaveWithin is how long a load's clients are waited for.
const leaveWithin = 5_000_000_000

// got reports whether a copy came before its consumer was told to leave. Of one that came at
// that very instant, when the consumer before was done, nothing says it.
func (l *ledger) got(r *receipt) bool {
	leave := l.leave[r.consumer]
	return r.at < leave || r.at == leave && (r.at == l.closed || l.at.Takes>>r.consumer&1 > 0)
}

// had is the first copy that a group got before its consumers left, undamaged if whole; nil:
// it got none.
func (l *ledger) had(m *message, group int, whole bool) (first *receipt) {
	for i := range m.copies {
		r := &m.copies[i]
		if r.group == group && (r.whole || !whole) && l.got(r) && (first == nil || r.at < first.at) {
			first = r
		}
	}
	return first
}

// latency returns the distribution of a metric.
func (l *ledger) latency(name string) *Latency {
	if l.out.Latencies[name] == nil {
		l.out.Latencies[name] = &Latency{Metric: name}
	}
	return l.out.Latencies[name]
}

// samples is how many messages a latency has: of deliveries to several groups those of
// one message are one.
func (l *ledger) samples(x *Latency) int64 {
	n := x.total()
	sent, expected := l.out.Counters["sent"], l.out.Counters["expected"]
	if x.Metric != "delivery.response" && x.Metric != "delivery.service" || expected <= sent || sent == 0 {
		return n
	}
	return max(1, (2*n*sent+expected)/(2*expected))
}
