package mem

import (
	"fmt"
	"sync"
	"time"

	"sixnines/driver"
)

// Disconnect cuts all connections, which are made again at once, as after a restart of
// the broker. What is on its way in them is lost, and what is unanswered times out.
func (b *Broker) Disconnect() {
	b.reconnect(b.disconnect(everybody, func(*session) bool { return true }))
}

// disconnect cuts the connections of a role in some sessions, and returns what it has cut.
func (b *Broker) disconnect(whose role, in func(*session) bool) (cut []part) {
	var all []part
	b.mu.Lock()
	for s := range b.sessions {
		if in(s) {
			all = s.append(all)
		}
	}
	b.mu.Unlock()
	// Producers first: the queue of a consumer that is cut takes what waits for room in it.
	for _, of := range []role{producers, consumers} {
		for _, p := range all {
			if p.connection().port.role == of && (whose == of || whose == everybody) && p.lose() {
				cut = append(cut, p)
			}
		}
	}
	tell(cut, driver.Disconnected)
	return cut
}

// reconnect makes connections again that [Broker.disconnect] has cut.
func (b *Broker) reconnect(cut []part) {
	var made []part
	for _, p := range cut {
		if p.restore() {
			made = append(made, p)
		}
	}
	tell(made, driver.Reconnected)
}

// tell reports an event for each connection that the parts have.
func tell(all []part, kind driver.EventKind) {
	told := map[port]bool{}
	for _, part := range all {
		p := part.connection().port
		if told[p] {
			continue
		}
		told[p] = true
		e := driver.Event{Kind: kind, Detail: p.String()}
		if kind == driver.Disconnected {
			e.Err = fmt.Errorf("mem: %s: %w: the broker has cut it", p, driver.ErrNotConnected)
		}
		p.session.notify(e)
	}
}

// outages cut the connections of a session's run for a while, again and again.
type outages struct {
	session *session
	whose   role
	length  time.Duration
	every   uint64 // messages between two; 0: there is one

	mu   sync.Mutex
	left uint64        // messages until the next
	over bool          // no more follow
	away bool          // one lasts
	quit chan struct{} // closed when it is to end at once
	last sync.WaitGroup
}

func newOutages(s *session, o *Options) *outages {
	return &outages{session: s, whose: role(o.Disconnect), length: o.DisconnectFor, every: o.DisconnectEvery,
		left: o.DisconnectAfter, over: o.DisconnectFor == 0, quit: make(chan struct{})}
}

// tick counts a message.
func (o *outages) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.over || o.away:
	case o.left > 0:
		o.left--
	default:
		o.away, o.over = true, o.every == 0
		cut := o.session.broker.disconnect(o.whose, func(s *session) bool { return s.run == o.session.run })
		until := time.Now().Add(o.length)
		o.last.Go(func() {
			// A broker that hangs takes no connection.
			if o.session.wait(until, o.quit) && o.session.broker.gate.pass(o.quit) {
				o.session.broker.reconnect(cut)
				o.mu.Lock()
				o.left, o.away = o.every, false
				o.mu.Unlock()
			}
		})
	}
}

// end gives up connections that are lost, and prevents the loss of others.
func (o *outages) end() {
	o.mu.Lock()
	o.over = true
	if !closed(o.quit) {
		close(o.quit)
	}
	o.mu.Unlock()
	o.last.Wait()
}
