package model

import (
	"slices"

	"sixnines/scenario"
)

// sender is what sends one message after the other: a connection, or the loop of a
// producer that waits for answers.
type sender struct {
	*play
	next []*message // of the schedule, in order
	ids  []int      // of its streams, which take turns; without a schedule
	turn int

	observed []int64 // when the run's messages were sent
	sends    int     // how many it has sent

	free   int64      // when its last send returned
	long   waits      // sends that took long, and waits for a place
	places int        // limit of messages in flight; 0: no limit
	slots  int        // limit of payloads that the client has not given back
	flight []*message // which may have a place or a slot
	loop   []*message // closed loop: what it waits for
	first  int        // of those, how many have not been sent
	over   int64      // without a schedule: when it sends no more
}

// longSend is from when on a send is asked for whom it waited.
const longSend = 100_000

// lead is how long before the warm-up, or a window without one, the loops of a closed loop
// begin.
const lead = 5_000_000

// defaultPlaces is how many messages may be in flight where they are acknowledged and the
// scenario does not say.
const defaultPlaces = 65536

// makeSenders makes what sends the load: a sender for each connection, or in a closed loop
// for each producer.
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

// limit gives the sender its share of the limits, one of n connections: of messages, if
// something answers them, and of bytes, for which each counts as the largest.
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
		s.slots = 2 * s.places // what is not acknowledged is kept for longer than its place
	}
}

// past is when all of the window is sent: never, as long as that is not known.
func (s *sender) past() int64 {
	switch {
	case !s.paced():
		return s.over
	case len(s.next) > 0 && s.next[0].due < s.end:
		return never
	}
	return 0 // messages know
}

// ready is when the next message is sent, and since when it waited for nothing but its
// place; never: not before something else happens.
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
	case !s.paced() && least >= s.end: // it waits for its place in vain
		return never, since
	}
	return s.noticed(least, most), since
}

// thought is when the closed loop's next message is due, and which of those that are
// waited for was answered for it; −1: one of the first, that follow nothing.
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
	for i, m := range s.loop { // those that are given up, when that is noticed
		if t, e := s.answered(m), m.sent+int64(s.w.Timeout); t > e {
			if t = s.noticed(e+think, min(t, e+s.slack())+think); t < due {
				due, which = t, i
			}
		}
	}
	return due, which
}

// byDelivery reports whether the first delivery, or the reply, answers a message, and not
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

// answered is when a message that was sent no longer has its place in flight.
func (p *play) answered(m *message) int64 {
	switch {
	case m.answer == atOnce:
		return m.back
	case !p.byDelivery():
		return m.at
	}
	t := int64(never)
	if m.answer == nacked { // unless it has been delivered all the same
		t = m.at
	}
	for _, r := range m.copies {
		if r.whole {
			t = min(t, r.at)
		}
	}
	return t
}

// withPlace is from when on, not before an instant, there is a place for a message more.
// What times out is noticed no later than late.
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

// keep notes that a message has a place, and forgets those that had one.
func (s *sender) keep(m *message) {
	if s.places == 0 {
		return
	}
	if len(s.flight) >= s.places {
		s.flight = slices.DeleteFunc(s.flight, func(x *message) bool { return s.placed(x, s.slack()) <= m.sent && x.at <= m.sent })
	}
	s.flight = append(s.flight, m)
}

// send sends the next message, at the instant that ready has told.
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
	if m.own = at - m.due; !s.closedLoop() { // whose loops have no thread to be asked about
		m.own -= s.long.since(m.due)
	}
	s.deliver(m)
	s.free = m.back
	if m.back-m.sent >= longSend {
		s.long.add(m.sent, m.back)
	}
	s.keep(m)
}

// take returns the message that is to be sent; nil: none is any more.
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
