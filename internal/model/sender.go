package model

import (
	"slices"

	"sixnines/scenario"
)

// sender sends one message after the other: it is a connection, or in a closed loop the loop
// of a producer.
type sender struct {
	*play
	next []*message // remaining messages of the schedule, in order
	ids  []int      // its streams; without a schedule they are used in turn
	turn int

	observed []int64 // when the run sent its messages
	sends    int     // number of messages sent so far

	free   int64      // when its last send returned
	long   waits      // long sends, and waits for a place
	places int        // limit of messages in flight; 0: no limit
	slots  int        // limit of payloads that the client has not given back
	flight []*message // messages that may have a place or a slot
	loop   []*message // closed loop: the messages that it waits for
	first  int        // closed loop: how many of the first messages are not sent yet
	over   int64      // without a schedule: when it sends no more
}

// longSend is the length, ns, from which a send counts as blocked and not as own lag.
const longSend = 100_000

// lead is how long, ns, a closed loop begins before the warm-up, or before a window without
// one.
const lead = 5_000_000

// defaultPlaces is the limit of messages in flight if they are acknowledged and the scenario
// sets none.
const defaultPlaces = 65536

// makeSenders makes the senders of the load: one for each connection, or in a closed loop for
// each producer.
func (p *play) makeSenders() {
	p.senders = nil
	n := p.w.Connections.Producers
	if p.closedLoop() {
		n = p.w.Producers
	}
	for i := range n {
		s := &sender{play: p, free: -never, over: never}
		switch {
		case p.closedLoop():
			s.ids, s.first = p.layout.ofProducer[i], p.w.Outstanding
		default:
			for _, st := range p.layout.streams {
				if st.producer%n == i {
					s.ids = append(s.ids, st.id)
				}
			}
			s.limit(n)
		}
		s.observe()
		p.senders = append(p.senders, s)
	}
	for _, m := range p.due {
		s := p.senders[p.layout.streams[m.stream].producer%n]
		s.next = append(s.next, m)
	}
}

// limit sets the sender's share of the limits, for one of n connections: of messages, if they
// are answered, and of bytes, where each message counts with the largest size.
func (s *sender) limit(n int) {
	total := s.w.InFlight.Messages
	if s.w.InFlight.Each > 0 {
		total = s.w.InFlight.Each * s.w.Producers
	}
	answered := s.acknowledges() || s.w.Pattern != scenario.Publish && s.w.Consumer.From.IsZero()
	if total == 0 && s.acknowledges() {
		total = defaultPlaces
	}
	if answered && total > 0 {
		s.places = max(1, total/n)
		if bytes := int(s.w.InFlight.Bytes/s.w.Size.Largest()) / n; bytes < s.places {
			s.places = max(1, bytes)
		}
	}
	if s.acknowledges() {
		s.slots = 2 * s.places // an unacknowledged payload is kept longer than its place
	}
}

// past returns when the whole window is sent; never as long as that is unknown.
func (s *sender) past() int64 {
	switch {
	case !s.paced():
		return s.over
	case len(s.next) > 0 && s.next[0].due < s.end:
		return never
	}
	return 0 // resolution decides for each message
}

// ready returns when the next message is sent, and since when it has waited only for its place.
// at is never if the send depends on another event first.
func (s *sender) ready() (at, since int64) {
	switch {
	case s.paced():
		if len(s.next) == 0 {
			return never, 0
		}
		since = max(s.next[0].due, s.free)
	case s.over < never:
		return never, 0
	case s.closedLoop():
		due, _ := s.thought()
		return max(due, s.free), 0
	default:
		if since = max(0, s.free); s.w.Messages > 0 && s.left == 0 {
			return since, since
		}
	}
	least, most := s.withPlace(since, 0), s.withPlace(since, s.slack())
	switch {
	case least == most:
		return least, since
	case !s.paced() && least >= s.end: // no place becomes free within the window
		return never, since
	}
	return s.noticed(least, most), since
}

// thought returns when the closed loop's next message is due, and the index in loop of the
// answered message that it follows; −1 for one of the first messages, which follow none.
func (s *sender) thought() (due int64, which int) {
	if s.first > 0 {
		return -s.warmup - lead + int64(s.w.Think), -1
	}
	due = never
	think := int64(s.w.Think)
	for i, m := range s.loop {
		if t := s.answered(m); t <= m.sent+int64(s.w.Timeout) && t+think < due {
			due, which = t+think, i
		}
	}
	for i, m := range s.loop { // messages given up after the timeout, when that is noticed
		if t, e := s.answered(m), m.sent+int64(s.w.Timeout); t > e {
			if t = s.noticed(e+think, min(t, e+s.slack())+think); t < due {
				due, which = t, i
			}
		}
	}
	return due, which
}

// byDelivery reports whether the first delivery or the reply answers a message, instead of
// the acknowledgement.
func (p *play) byDelivery() bool {
	switch p.w.Pattern {
	case scenario.Publish:
		return false
	case scenario.RequestReply:
		return true
	}
	return p.closedLoop() || !p.acknowledges() || p.w.Pattern == scenario.RoundTrip && p.w.InFlight.Each > 0
}

// answered returns when the answer to a sent message frees its place in flight.
func (p *play) answered(m *message) int64 {
	switch {
	case m.answer == atOnce:
		return m.back
	case !p.byDelivery():
		return m.at
	}
	t := int64(never)
	if m.answer == nacked { // a delivery may still come first
		t = m.at
	}
	for _, r := range m.copies {
		if r.whole {
			t = min(t, r.at)
		}
	}
	return t
}

// withPlace returns the first instant, at at or later, at which a place for one more message
// is free. late is how late, ns, a timeout is noticed.
func (s *sender) withPlace(at, late int64) int64 {
	for {
		placed, kept, soonest := 0, 0, int64(never)
		if len(s.flight) >= s.places && s.places > 0 {
			for _, m := range s.flight {
				if place := s.placed(m, late); place > at {
					placed, soonest = placed+1, min(soonest, place)
				}
				if s.slots > 0 && m.at > at {
					kept, soonest = kept+1, min(soonest, m.at)
				}
			}
		}
		switch {
		case placed < max(s.places, 1) && kept < max(s.slots, 1):
			return at
		case soonest == never:
			return never
		}
		at = soonest
	}
}

// keep notes that a message has a place, and removes messages that no longer have one.
func (s *sender) keep(m *message) {
	if s.places == 0 {
		return
	}
	if len(s.flight) >= s.places {
		s.flight = slices.DeleteFunc(s.flight, func(x *message) bool { return s.placed(x, s.slack()) <= m.sent && x.at <= m.sent })
	}
	s.flight = append(s.flight, m)
}

// send sends the next message, at the instants that ready has returned, unless the load has
// stopped by then (last).
func (s *sender) send(at, since, last int64) {
	m := s.take(at)
	if m == nil {
		return
	}
	if at >= last || s.paced() && m.due >= s.end && s.play.at.Stopped == 0 && s.world.through(s.from+at) {
		m.answer, m.sent, m.at = unsent, never, never
		s.denied = min(s.denied, s.from+at)
		s.over = min(s.over, at)
		return
	}
	if at > since && s.places > 0 {
		s.long.add(since, at)
	}
	s.sends++
	m.sent = at
	if m.own = at - m.due; !s.closedLoop() { // a closed loop does not measure its waits
		m.own -= s.long.since(m.due)
	}
	s.deliver(m)
	s.free = m.back
	if m.back-m.sent >= longSend {
		s.long.add(m.sent, m.back)
	}
	s.keep(m)
}

// take returns the next message to send; nil if the load has no more.
func (s *sender) take(at int64) *message {
	if s.paced() {
		m := s.next[0]
		s.next = s.next[1:]
		return m
	}
	due, which := at, 0
	if s.closedLoop() {
		due, which = s.thought()
	}
	if due >= s.end || s.w.Messages > 0 && s.left == 0 {
		s.over = min(at, max(due, s.free))
		return nil
	}
	id := s.ids[s.turn%len(s.ids)]
	s.turn++
	st := &s.layout.streams[id]
	m := &message{due: due, stream: id, number: st.next, at: never}
	st.next++
	if m.due >= 0 && s.w.Messages > 0 {
		s.left--
	}
	s.add(m)
	switch {
	case !s.closedLoop():
	case which < 0:
		s.first--
		s.loop = append(s.loop, m)
	default:
		s.loop = append(append(s.loop[:which:which], s.loop[which+1:]...), m)
	}
	return m
}
