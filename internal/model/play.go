package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"sixnines/drivers/mem"
	"sixnines/scenario"
)

// play is the simulation of one load.
type play struct {
	*world
	w        *scenario.Workload
	o        *mem.Options
	seed     uint64
	from     int64 // when its window begins, in the time of the run
	warmup   int64
	window   int64 // as planned; never: a number of messages ends it
	ending   int64 // end of the window as known before it: planned, or interrupted
	end      int64 // end of the window as simulated
	drain    int64
	stops    bool // the load stops with its window
	at       Moments
	bucket   float64
	interval int64 // of the result

	layout    *layout
	faults    *placement
	frost     frost // in the time of the load, like everything below
	consumers []*queue
	work      func(begun int64) int64
	acks      []*queue     // by stream
	random    []*rand.Rand // by stream: mem's draws for the window's messages and later ones
	outages   outages
	heldBack  []*parcel // by stream: the message that waits to be overtaken; nil: none
	turns     map[[2]int]int
	seen      uint64 // messages since the window's first
	addressed uint64
	senders   []*sender
	left      uint64 // messages that may still be sent in the window

	due      []*message // messages of the schedule
	all      []*message // messages that were due or sent
	open     []*message // measured messages not known to be resolved at the last call of through
	received []arrival  // deliveries, for each consumer in order of time
}

// arrival is a copy of a message that came.
type arrival struct {
	m *message
	receipt
}

// parcel is a message at the broker that will be handed on later, from ready on.
type parcel struct {
	m     *message
	ready int64
}

// paced reports whether the load has a schedule.
func (p *play) paced() bool { return !p.closedLoop() && !p.flatOut() }

// closedLoop reports whether producers wait for answers.
func (p *play) closedLoop() bool { return p.w.Loop == scenario.Closed }

// flatOut reports whether producers send as fast as they can.
func (p *play) flatOut() bool { return !p.closedLoop() && p.w.Rate.IsMax() }

// newPlay prepares the simulation of a load.
func newPlay(of *world, part scenario.Part, o *mem.Options, at Moments) (*play, error) {
	if o.Sync {
		return nil, fmt.Errorf("the model has no broker without queues")
	}
	w := &part.Scenario.Workload
	p := &play{world: of, w: w, o: o, seed: part.Scenario.Seed, from: int64(part.From), at: at, window: int64(part.Scenario.Phases.Duration),
		interval: int64(part.Scenario.Record.Interval), drain: int64(part.Scenario.Phases.Drain), stops: part.Stops, layout: layOut(w)}
	if w.Messages > 0 {
		p.window = never
	}
	p.end, p.bucket = p.window, 1.001
	if part.Scenario.Record.Digits == 2 {
		p.bucket = 1.008
	}
	if at.Interrupted > 0 {
		p.end = min(p.window, max(0, at.Interrupted+grace-p.from))
	}
	p.ending = p.end
	if part.Scenario.Phases.Warmup > 0 {
		p.warmup = int64(part.Scenario.Phases.Warmup)
	}
	p.work = p.busy
	return p, nil
}

// arrive creates the messages of the schedule.
func (p *play) arrive() error {
	if !p.paced() {
		return nil
	}
	horizon := max(p.stop(), p.at.Closed+1)
	if p.stops {
		horizon = p.end
	}
	all, err := schedule(p.w, p.seed, time.Duration(p.warmup), time.Duration(p.window), time.Duration(p.end), time.Duration(horizon))
	if err != nil {
		return err
	}
	turn, next := make([]int, p.w.Producers), make([]int64, len(p.layout.streams))
	for _, d := range all {
		ids := p.layout.ofProducer[d.producer]
		id := ids[turn[d.producer]%len(ids)]
		turn[d.producer]++
		p.due = append(p.due, &message{due: d.at, stream: id, number: next[id]})
		next[id]++
	}
	return nil
}

// reset returns to the state before the first send.
func (p *play) reset() {
	p.consumers, p.acks, p.random, p.received, p.open, p.all = nil, nil, nil, nil, nil, nil
	p.end = p.ending
	p.frost = frost{}
	if p.ice != p.frost {
		p.frost = frost{p.ice.from - p.from, p.ice.to - p.from}
	}
	for c := range p.layout.consumers {
		p.consumers = append(p.consumers, &queue{places: p.o.Queue, free: -never, shut: p.at.Shut>>c&1 > 0})
	}
	p.outages = outages{left: p.o.DisconnectAfter}
	p.heldBack = make([]*parcel, len(p.layout.streams))
	for i := range p.layout.streams {
		p.acks = append(p.acks, &queue{places: p.o.Queue, free: -never})
		p.random = append(p.random, rand.New(rand.NewPCG(p.o.Seed, 1+uint64(i))))
		p.layout.streams[i].next = 0
	}
	p.faults, p.turns, p.seen, p.addressed, p.left = place(p.o), map[[2]int]int{}, 0, 0, p.w.Messages
	for _, m := range p.due {
		*m = message{due: m.due, stream: m.stream, number: m.number, at: never}
		p.add(m)
	}
	p.makeSenders()
}

// add adds a message to the load.
func (p *play) add(m *message) {
	m.size = int64(p.w.Size.Largest())
	p.all = append(p.all, m)
	if m.due >= 0 && m.due < p.end {
		p.open = append(p.open, m)
	}
}

// stalling returns when a message of the load paused the broker; false if none did.
func (p *play) stalling() (frost, bool) {
	if p.o.StallFor == 0 {
		return frost{}, false
	}
	n := uint64(0)
	for _, m := range p.inOrder() {
		if m.due < 0 || m.answer == unsent || m.fault == cutOff {
			continue
		}
		if n == p.o.StallAfter {
			return frost{p.from + m.sent, p.from + m.sent + int64(p.o.StallFor)}, true
		}
		n++
	}
	return frost{}, false
}

// inOrder returns the messages in the order in which they were sent.
func (p *play) inOrder() []*message {
	all := slices.Clone(p.all)
	slices.SortStableFunc(all, func(a, b *message) int {
		switch {
		case a.sent < b.sent:
			return -1
		case a.sent > b.sent:
			return 1
		}
		return 0
	})
	return all
}

// through reports whether all of the window is resolved at an instant.
func (p *play) through(at int64) bool {
	for _, s := range p.senders {
		if s.past() > at {
			return false
		}
	}
	for n := len(p.open) - 1; n >= 0; n-- {
		if p.resolution(p.open[n]) > at {
			return false
		}
		p.open = p.open[:n]
	}
	return true
}

// resolution returns when a message was resolved, by its answer and the deliveries to all
// groups; never if one of these is missing and may still come.
func (p *play) resolution(m *message) int64 {
	if m.answer == unanswered || m.answer == unsent {
		return never
	}
	t := max(m.back, m.at)
	if m.answer == atOnce {
		return t
	}
	for g := range p.layout.groups {
		if p.layout.groups[g].has(p.layout.streams[m.stream].topic) {
			r := m.first(g)
			if r == nil {
				return never
			}
			t = max(t, r.at)
		}
	}
	return t
}

// first returns the first copy of the message that came to the group; nil if none did.
func (m *message) first(group int) (first *receipt) {
	for i := range m.copies {
		if r := &m.copies[i]; r.group == group && (first == nil || r.at < first.at) {
			first = r
		}
	}
	return first
}

// deliver simulates what mem does with one message that is sent.
func (p *play) deliver(m *message) {
	m.back = m.sent
	if p.severed(m) {
		m.fault, m.answer, m.at = cutOff, atOnce, m.sent
		return
	}
	f := unharmed
	measured := m.due >= 0
	if measured {
		p.seen++
		f = p.faults.hit(p.heldBack[m.stream] == nil)
	}
	m.fault = f
	switch f {
	case unharmed:
		late := p.heldBack[m.stream]
		p.publish(m, 0, late)
		p.heldBack[m.stream] = nil
		p.acknowledge(m, acknowledged)
	case rejected:
		m.answer, m.at = atOnce, m.sent
	case lost:
		switch {
		case !p.acknowledges():
			p.acknowledge(m, acknowledged)
		case p.o.GiveUp > 0:
			m.answer, m.at = gaveUp, m.sent+int64(p.o.GiveUp)
		default:
			p.acknowledge(m, gaveUp)
		}
	case lostAcked:
		p.acknowledge(m, acknowledged)
	case refused:
		p.acknowledge(m, nacked)
	case held:
		p.heldBack[m.stream] = &parcel{m, p.address(m)}
		p.acknowledge(m, acknowledged)
	case damaged, twinned:
		r := p.random[m.stream]
		r.IntN(int(m.size) - 32) // which byte of the body
		r.IntN(8)                // which bit of it
		p.publish(m, 0, nil)
		if f == twinned {
			p.publish(m, 1, nil)
		}
		p.acknowledge(m, acknowledged)
	case doubled:
		p.publish(m, 0, nil)
		p.publish(m, 1, nil)
		p.acknowledge(m, acknowledged)
	case slandered:
		p.publish(m, 0, nil)
		p.acknowledge(m, nacked)
	}
}

func (p *play) acknowledges() bool { return p.o.Ack == "broker" }

// address returns when a message that is being sent is ready to be handed on. Each call counts
// a message and may draw jitter, so it must be called exactly as often as mem does this.
func (p *play) address(m *message) int64 {
	delay := int64(p.o.Delay)
	if m.due >= 0 && p.o.SlowDelay > 0 {
		if p.addressed++; p.addressed > p.o.SlowAfter {
			delay = int64(p.o.SlowDelay)
		}
	}
	if p.o.Jitter > 0 && m.due >= 0 {
		delay += p.random[m.stream].Int64N(int64(p.o.Jitter))
	}
	return m.back + delay
}

// publish puts a message into the queues of all its groups, one after the other, and behind
// it a held-back one, if late is not nil.
func (p *play) publish(m *message, copy int, late *parcel) {
	topic := p.layout.streams[m.stream].topic
	ready, addressed := int64(0), false
	for g := range p.layout.groups {
		of := &p.layout.groups[g]
		if !of.has(topic) {
			continue
		}
		if !addressed {
			ready, addressed = p.address(m), true
		}
		key := [2]int{topic, g}
		p.turns[key]++
		member := of.members[(p.turns[key]+p.at.Turn)%len(of.members)]
		q := p.consumers[member]
		put := func(x *message, ready int64, copy int) {
			if p.away("consumers", m.sent) {
				return
			}
			v := q.pass(m.back, ready, p.frost, p.opened(), p.work)
			m.back = v.entered
			came := v.begun
			if p.w.Pattern == scenario.RequestReply { // the reply comes when the work is done
				came = q.thawed(p.frost, p.busy(v.begun), m.sent)
			}
			r := receipt{group: g, consumer: member, begun: v.begun, at: came, copy: copy, whole: x.fault != damaged && (x.fault != twinned || copy > 0), marked: copy > 0 && x.fault == doubled && p.o.MarkDuplicates && p.w.Pattern != scenario.RequestReply}
			x.copies, p.received = append(x.copies, r), append(p.received, arrival{x, r})
		}
		put(m, ready, copy)
		if late != nil {
			put(late.m, late.ready, 0)
		}
	}
}

// opened returns when consumers begin to take messages; never if they do not connect.
func (p *play) opened() int64 {
	switch from := p.w.Consumer.From; {
	case from.IsZero():
		return -never
	case p.at.Connected == 0:
		return never
	}
	return p.at.Connected
}

// busy returns until when a consumer is busy that was handed a message at begun.
func (p *play) busy(begun int64) int64 {
	until := begun + int64(p.w.Consumer.Work)
	if pause := p.w.Consumer.Pause; pause.For > 0 && begun >= int64(pause.At) {
		until = max(until, p.resumed())
	}
	return until
}

// resumed returns when the pause of consumers ends; an interruption ends it with the window.
func (p *play) resumed() int64 {
	end := int64(p.w.Consumer.Pause.At + p.w.Consumer.Pause.For)
	if p.at.Interrupted > 0 && p.end < p.window {
		return min(end, p.end)
	}
	return end
}

// acknowledge sends an answer to the producer. The send returns when the answer has a place in
// the queue.
func (p *play) acknowledge(m *message, a answer) {
	m.answer = a
	if !p.acknowledges() {
		m.answer, m.at = handedOver, m.back
		return
	}
	v := p.acks[m.stream].pass(m.back, m.back+int64(p.o.AckDelay), p.frost, -never, nil)
	m.back, m.at = v.entered, v.begun
}
