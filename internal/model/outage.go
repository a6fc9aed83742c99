package model

import (
	"slices"

	"sixnines/scenario"
)

// outage is a period in which connections are lost. It begins with the send of the message
// that the option names.
type outage struct{ from, to int64 }

// outages is the state of a load's outages.
type outages struct {
	now  outage // the last one that began
	any  bool   // at least one began
	left uint64 // messages until the next one
}

// hits reports whether outages affect the connections of a role.
func (p *play) hits(role string) bool {
	return p.o.DisconnectFor > 0 && (p.o.Disconnect == role || p.o.Disconnect == "all")
}

// away reports whether the connections of a role are lost at an instant.
func (p *play) away(role string, at int64) bool {
	return p.hits(role) && p.outages.any && at >= p.outages.now.from && at < p.outages.now.to
}

// severed reports whether a message that is being sent finds no connection. It also begins an
// outage if this message is the one that the options name. Only messages of the window and
// later ones count, without those sent during an outage.
func (p *play) severed(m *message) bool {
	switch x := &p.outages; {
	case p.o.DisconnectFor == 0:
	case x.any && m.sent < x.now.to:
	case m.due < 0 || x.any && p.o.DisconnectEvery == 0:
	case x.left > 0:
		x.left--
	default:
		to := p.frost.over(m.sent + int64(p.o.DisconnectFor))
		x.now, x.any, x.left = outage{m.sent, to}, true, p.o.DisconnectEvery
		p.lose()
	}
	return p.away("producers", m.sent)
}

// lose removes what an outage loses: acknowledgements in flight, whose messages time out at
// once, and messages that consumers have not begun to process.
func (p *play) lose() {
	at := p.outages.now.from
	if p.hits("producers") && p.acknowledges() {
		for _, m := range p.all {
			if m.answer == acknowledged || m.answer == nacked || m.answer == gaveUp {
				if m.at > at {
					m.answer, m.at = gaveUp, at
				}
			}
		}
		for _, q := range p.acks {
			q.empty(at)
		}
	}
	if p.hits("consumers") {
		for _, q := range p.consumers {
			q.empty(at)
		}
	}
	lost := func(r *receipt) bool {
		if p.hits("consumers") && r.begun > at {
			return true
		}
		// A reply needs the connections of requester and responder.
		return p.w.Pattern == scenario.RequestReply && r.at > at && r.at < p.outages.now.to
	}
	p.received = slices.DeleteFunc(p.received, func(a arrival) bool { return lost(&a.receipt) })
	for _, m := range p.all {
		m.copies = slices.DeleteFunc(m.copies, func(r receipt) bool { return lost(&r) })
	}
}

// over returns when the broker answers a request made at instant t.
func (f frost) over(t int64) int64 {
	if t >= f.from && t < f.to {
		return f.to
	}
	return t
}

// empty removes the messages that the taker has not begun with.
func (q *queue) empty(at int64) {
	q.free = -never
	for i := range q.taken {
		if q.begun[i] > at {
			q.taken[i] = min(q.taken[i], at)
			q.begun[i], q.done[i] = at, at
		}
		q.free = max(q.free, q.done[i])
	}
}
