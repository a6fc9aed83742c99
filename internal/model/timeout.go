package model

import (
	"slices"

	"sixnines/scenario"
)

// slack is how much later than workload.timeout it may be noticed that a message has timed
// out: a twelfth of it, and two milliseconds.
func (p *play) slack() int64 { return int64(p.w.Timeout)/12 + 2_000_000 }

// placed is when a message that was sent no longer has its place in flight: when it was
// answered, or when it had timed out and that was noticed, so much later.
func (p *play) placed(m *message, late int64) int64 {
	return min(p.answered(m), m.sent+int64(p.w.Timeout)+late)
}

// observe takes the instants at which the run's messages were sent; flat out those of the
// window.
func (s *sender) observe() {
	for _, id := range s.ids {
		if id >= len(s.play.at.Sends) {
			return
		}
		for _, t := range s.play.at.Sends[id] {
			if t >= 0 || !s.flatOut() {
				s.observed = append(s.observed, t)
			}
		}
	}
	slices.Sort(s.observed)
}

// noticed is when the next message is sent that waits for a time limit: in the run, where
// that is between the two instants.
func (s *sender) noticed(least, most int64) int64 {
	switch {
	case len(s.observed) > s.sends:
	case s.paced():
		return most // it was not, as far as is known
	default:
		return min(most, max(least, s.end)) // nor need it have been, after the window
	}
	switch {
	case s.observed[s.sends] >= least && s.observed[s.sends] <= most:
		return s.observed[s.sends]
	}
	return most
}

// limited counts a message that was sent if it lost its place in flight, to its time limit or
// because the client gave it up.
func (l *ledger) limited(m *message) {
	if l.senders[0].places == 0 && !l.closedLoop() {
		return
	}
	within, e, last := l.out.Within["timed_out"], m.sent+int64(l.w.Timeout), l.out.Resolved
	if l.closedLoop() {
		for _, s := range l.senders { // then nobody waits any more
			if slices.Contains(s.ids, m.stream) {
				last = min(last, s.over)
			}
		}
	}
	t := l.answered(m)
	switch {
	case !l.byDelivery() && m.answer == gaveUp && m.at <= l.closed:
		within[0]++
		within[1]++
		return
	case t > e+l.slack() && e+l.slack() < last:
		within[0]++
	}
	if t > e && e <= l.closed {
		within[1]++
	}
}

// lateReply counts a reply to a request that was refused, or had lost its place.
func (l *ledger) lateReply(m *message, r *receipt, a answer) {
	limited := l.senders[0].places > 0
	if l.w.Pattern != scenario.RequestReply || !limited && !l.closedLoop() {
		return
	}
	within, e := l.out.Within["late_replies"], m.sent+int64(l.w.Timeout)
	refused := limited && a == nacked && m.at <= r.at
	if refused || r.at > e+l.slack() && e+l.slack() < l.out.Resolved {
		within[0]++
	}
	if refused || r.at > e {
		within[1]++
	}
}
