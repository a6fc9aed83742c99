package mem

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"sixnines/driver"
)

// producer implements driver.Producer and driver.Syncer.
type producer struct {
	session *session
	topic   *topic
	name    string // of the topic
	acks    driver.Acks
	replies *consumer // receives the answers; nil: not a requester
	begun   bool      // its messages are counted, see Options.Begin
	random  *rand.Rand
	held    *packet // waits to be overtaken; nil: none

	answers chan answer // acknowledgements on their way; nil: they come inside Send

	*line
	silent chan struct{} // closed when no Done comes from a goroutine any more

	waiting sync.WaitGroup // for acknowledgements that time out
}

// answer is an acknowledgement on its way.
type answer struct {
	token uint64
	err   error
	twice bool
	due   time.Time       // when it arrives; zero: at once
	over  <-chan struct{} // closed when the connection by which it comes is lost
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	return s.producer(ctx, spec, acks, nil)
}

func (s *session) producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies *consumer) (*producer, error) {
	if int64(spec.Size) > int64(s.options.MaxPayload) {
		return nil, s.tooLarge(spec.Size)
	}
	if err := s.reach(ctx, "connect a producer"); err != nil {
		return nil, err
	}
	topics, err := s.topics([]string{spec.Topic})
	if err != nil {
		return nil, err
	}
	p := &producer{
		session: s, topic: topics[0], name: spec.Topic, acks: acks, replies: replies, begun: s.options.Begin == beginOpen,
		random: rand.New(rand.NewPCG(s.options.Seed, 1+uint64(spec.ID))),
		line:   newLine(port{s, producers, spec.Conn}), silent: make(chan struct{}),
	}
	if s.options.acknowledges() && !s.options.Sync {
		p.answers = make(chan answer, s.options.Queue)
	}
	if err := s.enter(p); err != nil {
		return nil, err
	}
	if p.answers != nil {
		go p.acknowledge()
	} else {
		close(p.silent)
	}
	return p, nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.ended() {
		return p.failed(driver.ErrClosed)
	}
	if len(payload) > int(p.session.options.MaxPayload) {
		return p.session.tooLarge(len(payload))
	}
	if p.gone.Load() {
		return p.failed(driver.ErrNotConnected)
	}
	if p.begun {
		if p.session.options.DisconnectFor > 0 {
			if p.session.outages.tick(); p.gone.Load() {
				return p.failed(driver.ErrNotConnected)
			}
		}
		if p.session.options.StallFor > 0 {
			p.session.stall.tick()
		}
		if p.session.plan != nil {
			return p.sendPlanned(token, payload)
		}
	}
	p.topic.log.add(payload)
	return p.sent(token, p.publish(payload, false, nil))
}

// WindowBegins implements driver.WindowWatcher: the misbehaviour begins.
func (p *producer) WindowBegins() { p.begun = true }

// sendPlanned is Send under a plan of faults.
func (p *producer) sendPlanned(token uint64, payload []byte) error {
	// While a message waits to be overtaken, the one that overtakes it must
	// arrive, and unharmed.
	f := p.session.plan.next(p.held == nil)
	switch f {
	case reject, lose, loseAcked, nack, forget:
	default:
		p.topic.log.add(payload)
	}
	if f == none {
		late := p.held
		result := p.publish(payload, false, late)
		if late != nil && result.err == nil {
			p.held = nil
			late.release()
		}
		return p.sent(token, result)
	}
	if p.topic.routes.Load() == nil {
		return p.failed(driver.ErrNoTopic)
	}
	switch f {
	case reject:
		return p.failed(driver.ErrRejected)
	case lose:
		if p.session.options.GiveUp > 0 {
			until, over := time.Now().Add(p.session.options.GiveUp), p.broken()
			p.waiting.Go(func() { p.giveUp(token, until, over) })
		} else if p.session.options.acknowledges() {
			p.answer(answer{token: token, err: p.failed(driver.ErrTimeout)})
		} else {
			p.answer(answer{token: token})
		}
	case loseAcked, withhold:
		p.answer(answer{token: token})
	case forget:
		return p.sent(token, p.publish(payload, false, nil))
	case nack:
		p.answer(answer{token: token, err: p.failed(driver.ErrRejected)})
	case reorder:
		p.held = p.session.broker.pack(payload)
		p.address(p.held)
		p.answer(answer{token: token})
	case corrupt, damageTwin:
		damaged := p.session.broker.pack(payload)
		p.damage(damaged.data)
		result := p.publish(damaged.data, false, nil)
		damaged.release()
		if f == damageTwin && result.err == nil {
			whole := p.publish(payload, false, nil)
			result = outcome{handed: result.handed + whole.handed, err: whole.err}
		}
		return p.sent(token, result)
	case duplicate:
		result := p.publish(payload, false, nil)
		if result.err == nil {
			again := p.publish(payload, p.session.options.MarkDuplicates, nil)
			result = outcome{handed: result.handed + again.handed, err: again.err}
		}
		return p.sent(token, result)
	case misreport, doubleAck, ackLost:
		result := p.publish(payload, false, nil)
		switch {
		case result.err != nil:
			return p.sent(token, result)
		case f == misreport:
			p.answer(answer{token: token, err: p.failed(driver.ErrRejected)})
		case f == doubleAck:
			p.answer(answer{token: token, twice: true})
		}
	}
	return nil
}

// damage flips a bit.
func (p *producer) damage(data []byte) {
	// What the load generator keeps for itself at the start of each payload.
	const head = 32
	part := data
	switch p.session.options.CorruptWhere {
	case "body":
		if len(data) > head {
			part = data[head:]
		}
	case "head":
		part = data[:min(head, len(data))]
	}
	if len(part) > 0 {
		part[p.random.IntN(len(part))] ^= 1 << p.random.IntN(8)
	}
}

// outcome is what became of a message on its way to the queues.
type outcome struct {
	handed int   // how many consumers have it
	err    error // why not more
}

// publish hands payload to all who are to have it, and after it late, if not
// nil, to the same ones.
func (p *producer) publish(payload []byte, redelivered bool, late *packet) outcome {
	routes := p.topic.routes.Load()
	if routes == nil {
		return outcome{err: driver.ErrNoTopic}
	}
	over := p.broken()
	if p.session.options.Sync && !p.session.broker.gate.pass(over) {
		return outcome{err: p.without(driver.ErrNotConnected)}
	}
	if late != nil {
		late.since = p.session.broker.changes.Load() // it has waited at the broker
	}
	var o outcome
	var packed *packet
	for i := range *routes {
		c := (*routes)[i].pick()
		if c.queue == nil {
			if !c.inline(driver.Message{Payload: payload, Redelivered: redelivered}, p.replies, over) {
				o.err = p.without(driver.ErrNotConnected)
				break
			}
			if late != nil {
				c.inline(driver.Message{Payload: late.data}, p.replies, over)
			}
		} else {
			if packed == nil {
				packed = p.session.broker.pack(payload)
				packed.redelivered = redelivered
				p.address(packed)
			}
			if !c.push(packed, over) {
				o.err = p.without(driver.ErrNotConnected)
				break
			}
			if late != nil {
				c.push(late, over)
			}
		}
		o.handed++
	}
	if packed != nil {
		packed.release()
	}
	return o
}

// address completes a packet for its way.
func (p *producer) address(packed *packet) {
	packed.reply = p.replies
	o := &p.session.options
	delay := o.Delay
	if o.SlowDelay > 0 && p.begun && p.session.addressed.Add(1) > o.SlowAfter {
		delay = o.SlowDelay
	}
	if delay > 0 || o.Jitter > 0 {
		if o.Jitter > 0 && p.begun {
			delay += time.Duration(p.random.Int64N(int64(o.Jitter)))
		}
		packed.due = time.Now().Add(delay)
	}
}

// sent acknowledges a message, or says why it was not sent.
func (p *producer) sent(token uint64, o outcome) error {
	if o.err == nil {
		p.answer(answer{token: token})
		return nil
	}
	if o.handed == 0 {
		return p.failed(o.err)
	}
	// Some have it and others do not: it was sent, and did not get through.
	if o.err == driver.ErrNotConnected {
		o.err = driver.ErrTimeout
	}
	p.acks.Done(token, p.failed(o.err))
	return nil
}

// answer sends an acknowledgement on its way.
func (p *producer) answer(a answer) {
	if p.answers == nil {
		p.done(a)
		return
	}
	if d := p.session.options.AckDelay; d > 0 {
		a.due = time.Now().Add(d)
	}
	a.over = p.broken()
	select {
	case p.answers <- a:
		return
	default:
	}
	select {
	case p.answers <- a:
	case <-a.over:
		a.err = p.unanswered()
		p.done(a)
	}
}

// giveUp waits in vain for an acknowledgement.
func (p *producer) giveUp(token uint64, until time.Time, over <-chan struct{}) {
	err := p.failed(driver.ErrTimeout)
	if !p.session.wait(until, over) {
		err = p.unanswered()
	}
	p.acks.Done(token, err)
}

func (p *producer) done(a answer) {
	p.acks.Done(a.token, a.err)
	if a.twice {
		p.acks.Done(a.token, a.err)
	}
}

// acknowledge passes acknowledgements on until the producer closes; those that
// are on their way then, or when the connection is lost, say so.
func (p *producer) acknowledge() {
	defer close(p.silent)
	defer p.waiting.Wait()
	for {
		select {
		case a := <-p.answers:
			arrived := !closed(a.over) && (a.due.IsZero() || p.session.wait(a.due, a.over))
			if !arrived || !p.session.broker.gate.pass(a.over) {
				a.err = p.unanswered()
			}
			p.done(a)
		case <-p.life:
			for {
				select {
				case a := <-p.answers:
					a.err = p.failed(driver.ErrClosed)
					p.done(a)
				default:
					return
				}
			}
		}
	}
}

// unanswered is what a message ends with whose connection is lost, or ends, before the
// broker has answered.
func (p *producer) unanswered() error {
	class := p.without(driver.ErrTimeout)
	if class == driver.ErrTimeout {
		return fmt.Errorf("mem: send to %q: %w: the connection was lost before the broker had answered", p.name, class)
	}
	return p.failed(class)
}

// failed wraps a class of errors.
func (p *producer) failed(class error) error {
	return fmt.Errorf("mem: send to %q: %w", p.name, class)
}

// Sync implements driver.Syncer.
func (p *producer) Sync(ctx context.Context) error {
	if p.ended() || p.gone.Load() {
		return p.failed(p.without(driver.ErrNotConnected))
	}
	return p.session.reach(ctx, "wait for the broker")
}

// Close implements driver.Producer.
func (p *producer) Close(ctx context.Context) error {
	if p.end() {
		p.session.leave(p)
	}
	if p.replies != nil {
		if err := p.replies.Close(ctx); err != nil {
			return err
		}
	}
	select {
	case <-p.silent:
		return nil
	default:
	}
	select {
	case <-p.silent:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("mem: close a producer: its Done does not return: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}
