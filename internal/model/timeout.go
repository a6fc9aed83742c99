package model

import (
	"slices"

	"sixnines/scenario"
)

// slack is how much later, ns, than workload.timeout a timeout may be noticed: 1/12 of the
// timeout plus two milliseconds.
func (p *play) slack() int64 { return int64(p.w.Timeout)/12 + 2_000_000 }

// placed returns when a sent message no longer has its place in flight: when it was answered,
// or when its timeout was noticed, late ns after it.
func (p *play) placed(m *message, late int64) int64 {
	return min(p.answered(m), m.sent+int64(p.w.Timeout)+late)
}

// observe sets the instants at which the run sent its messages; for an unpaced load only those
// of the window.
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

// noticed returns when the next message is sent that waits for a time limit: the instant in
// the run, if it lies between least and most.
func (s *sender) noticed(least, most int64) int64 {
	switch {
	case len(s.observed) > s.sends:
	case s.paced():
		return most // the run has no such send
	default:
		return min(most, max(least, s.end)) // after the window the run need not have such a send
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
		for _, s := range l.senders { // a loop that has ended waits for no message
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
