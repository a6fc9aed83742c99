package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"sixnines/drivers/mem"
	"sixnines/scenario"
)

// play is one load being played.
type play struct {
	w      *scenario.Workload
	o      *mem.Options
	warmup int64
	window int64 // as planned
	end    int64 // as it was
	drain  int64
	at     Moments
	bucket float64

	layout    *layout
	faults    *placement
	frost     frost
	consumers []*queue
	work      func(begun int64) int64
	acks      []*queue     // by stream
	random    []*rand.Rand // by stream: what mem draws for the window's messages and later ones
	heldBack  []*parcel    // by stream: what waits to be overtaken
	turns     map[[2]int]int
	seen      uint64 // messages since the window's first
	addressed uint64
	connected []connection

	all      []*message
	open     []*message // measured ones that were not known to be resolved when that was last asked
	received []arrival  // in the order in which consumers got it, each by itself
}

// arrival is a copy of a message that came.
type arrival struct {
	m *message
	receipt
}

// connection is one on which producers send, one message after the other.
type connection struct {
	next  []int // of all, in order
	free  int64 // when its last send returned
	place int
	long  []frost // sends that took long
}

// longSend is from when on a send is asked for whom it waited.
const longSend = 100_000

// waited is for how long, between two instants, its client waited for somebody else: a
// shorter send is not asked, and what it took is the generator's own.
func (c *connection) waited(from, to int64) (sum int64) {
	for i := len(c.long) - 1; i >= 0 && c.long[i].to > from; i-- {
		sum += min(c.long[i].to, to) - max(c.long[i].from, from)
	}
	return sum
}

// parcel is a message at the broker that is to be handed on later.
type parcel struct {
	m     *message
	ready int64
}

// newPlay prepares a load.
func newPlay(s *scenario.Scenario, w *scenario.Workload, o *mem.Options, at Moments) (*play, error) {
	switch {
	case w.Loop != scenario.Open || w.Rate.IsMax():
		return nil, fmt.Errorf("the model has no loads without a schedule")
	case o.Sync:
		return nil, fmt.Errorf("the model has no broker without queues")
	}
	p := &play{w: w, o: o, at: at, window: int64(s.Phases.Duration), drain: int64(s.Phases.Drain), layout: layOut(w), faults: place(o), turns: map[[2]int]int{}}
	p.end, p.bucket = p.window, 1.001
	if s.Record.Digits == 2 {
		p.bucket = 1.008
	}
	if end := at.Interrupted + grace; at.Interrupted > 0 {
		p.end = min(p.window, end)
	}
	if s.Phases.Warmup > 0 {
		p.warmup = int64(s.Phases.Warmup)
	}
	p.work = p.busy
	if err := p.arrive(s.Seed); err != nil {
		return nil, err
	}
	return p, nil
}

// arrive makes the messages of the schedule.
func (p *play) arrive(seed uint64) error {
	all, err := schedule(p.w, seed, time.Duration(p.warmup), time.Duration(p.window), time.Duration(p.end), time.Duration(p.stop()))
	if err != nil {
		return err
	}
	turn := make([]int, p.w.Producers)
	for _, d := range all {
		ids := p.layout.ofProducer[d.producer]
		st := &p.layout.streams[ids[turn[d.producer]%len(ids)]]
		turn[d.producer]++
		p.all = append(p.all, &message{due: d.at, stream: st.id, number: st.next, size: int64(p.w.Size.Largest()), at: never})
		st.next++
	}
	return nil
}

// reset empties queues and forgets what was sent.
func (p *play) reset() {
	p.consumers, p.acks, p.random, p.received, p.open = nil, nil, nil, nil, nil
	for range p.layout.consumers {
		p.consumers = append(p.consumers, &queue{places: p.o.Queue, free: -never})
	}
	p.heldBack = make([]*parcel, len(p.layout.streams))
	for i := range p.layout.streams {
		p.acks = append(p.acks, &queue{places: p.o.Queue, free: -never})
		p.random = append(p.random, rand.New(rand.NewPCG(p.o.Seed, 1+uint64(i))))
	}
	p.faults, p.turns, p.seen, p.addressed = place(p.o), map[[2]int]int{}, 0, 0
	n := p.w.Connections.Producers
	p.connected = make([]connection, n)
	for i := range p.connected {
		p.connected[i].free = -never
	}
	for i, m := range p.all {
		*m = message{due: m.due, stream: m.stream, number: m.number, size: m.size, at: never}
		c := &p.connected[p.layout.streams[m.stream].producer%n]
		c.next = append(c.next, i)
		if m.due >= 0 && m.due < p.end {
			p.open = append(p.open, m)
		}
	}
}

// run plays the load. What freezes the broker is known only when the message is sent
// that does; nothing before that instant depends on it.
func (p *play) run() {
	p.reset()
	p.send()
	if p.o.StallFor > 0 && p.frost == (frost{}) {
		n := uint64(0)
		for _, m := range p.inOrder() {
			if m.due < 0 || m.answer == unsent {
				continue
			}
			if n == p.o.StallAfter {
				p.frost = frost{m.sent, m.sent + int64(p.o.StallFor)}
				p.reset()
				p.send()
				return
			}
			n++
		}
	}
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

// send sends every message, in the order of the instants at which that begins.
func (p *play) send() {
	last := p.stop()
	for {
		var c *connection
		at := int64(never)
		for i := range p.connected {
			if x := &p.connected[i]; x.place < len(x.next) {
				if t := max(p.all[x.next[x.place]].due, x.free); t < at {
					c, at = x, t
				}
			}
		}
		if c == nil {
			return
		}
		m := p.all[c.next[c.place]]
		c.place++
		if at >= last || m.due >= p.end && p.through(at) {
			m.answer, m.sent, m.at = unsent, never, never
			continue
		}
		m.sent = at
		m.own = at - m.due - c.waited(m.due, at)
		p.deliver(m)
		c.free = m.back
		if m.back-m.sent >= longSend {
			c.long = append(c.long, frost{m.sent, m.back})
		}
	}
}

// stop is when no more load is sent.
func (p *play) stop() int64 {
	if p.at.Stopped > 0 {
		return p.at.Stopped
	}
	return p.end + p.drain
}

// through reports whether all of the window is resolved at an instant, so that no more
// load is needed.
func (p *play) through(at int64) bool {
	for n := len(p.open) - 1; n >= 0; n-- {
		if p.resolution(p.open[n]) > at {
			return false
		}
		p.open = p.open[:n]
	}
	return true
}

// resolution is when the last of what is waited for of a message came: never, of one
// that lacks something that may come.
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

// first is the copy of the message that came to the group before others; nil if none
// did.
func (m *message) first(group int) (first *receipt) {
	for i := range m.copies {
		if r := &m.copies[i]; r.group == group && (first == nil || r.at < first.at) {
			first = r
		}
	}
	return first
}

// deliver sends one message: what mem does with it.
func (p *play) deliver(m *message) {
	m.back = m.sent
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
	case damaged:
		r := p.random[m.stream]
		r.IntN(int(m.size) - 32) // which byte of the body
		r.IntN(8)                // which bit of it
		p.publish(m, 0, nil)
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

// address is when a message that is being sent is ready to be handed on.
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

// publish puts a message into the queues of all that are to have it, one after the
// other, and behind it one that was held back.
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
		member := of.members[p.turns[key]%len(of.members)]
		q := p.consumers[member]
		put := func(x *message, ready int64, copy int) {
			v := q.pass(m.back, ready, p.frost, p.work)
			m.back = v.entered
			if p.w.Pattern == scenario.RequestReply { // the answer comes when the work is done
				v.begun = p.frost.thawed(p.busy(v.begun), m.sent)
			}
			r := receipt{group: g, consumer: member, at: v.begun, copy: copy, whole: x.fault != damaged, marked: copy > 0 && p.o.MarkDuplicates && p.w.Pattern != scenario.RequestReply}
			x.copies, p.received = append(x.copies, r), append(p.received, arrival{x, r})
		}
		put(m, ready, copy)
		if late != nil {
			put(late.m, late.ready, 0)
		}
	}
}

// busy is until when a consumer that was handed a message is busy.
func (p *play) busy(begun int64) int64 {
	until := begun + int64(p.w.Consumer.Work)
	if pause := p.w.Consumer.Pause; pause.For > 0 && begun >= int64(pause.At) {
		until = max(until, int64(pause.At)+int64(pause.For))
	}
	return until
}

// acknowledge sends an answer on its way to the producer, which has its place in the
// queue when the send returns.
func (p *play) acknowledge(m *message, a answer) {
	m.answer = a
	if !p.acknowledges() {
		m.answer, m.at = handedOver, m.back
		return
	}
	v := p.acks[m.stream].pass(m.back, m.back+int64(p.o.AckDelay), p.frost, nil)
	m.back, m.at = v.entered, v.begun
}
