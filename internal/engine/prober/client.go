package prober

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/integrity"
	"sixnines/internal/transport"
)

// The names of what the probe has at the broker.
const (
	topic         = "t0"
	consumerGroup = "g0"
	replyGroup    = "responders"
)

// setUp connects, and sends messages, which are not measured, until one has come back. The error is
// that of a step, or what the broker refused meanwhile.
func (p *prober) setUp(ctx context.Context) error {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	p.refused = refuse
	ctx, cancel := context.WithTimeout(ctx, setUpLimit)
	defer cancel()
	for _, step := range []func(context.Context) error{p.open, p.connect, p.try} {
		err := step(ctx)
		if why := context.Cause(ctx); why != nil {
			err = why // the step's own error is its consequence
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// group is the name of the consumers' group; empty: they are in no group.
func (p *prober) group() string {
	switch {
	case p.workload.Groups == 0:
		return ""
	case p.replies:
		return replyGroup
	}
	return consumerGroup
}

// open opens the sessions and provisions.
func (p *prober) open(ctx context.Context) (err error) {
	p.dialer = transport.NewDialer(true)
	if p.main, err = p.openSession(ctx); err != nil {
		return err
	}
	p.acks = p.entry.With(p.scenario.Target.Options).Ack
	topology := driver.Topology{Topics: []string{topic}, Producers: 1, Consumers: p.workload.Consumers, MaxSize: int(p.workload.Size.Largest())}
	if g := p.group(); g != "" {
		topology.Groups = []string{g}
	}
	if _, err = p.main.Provision(ctx, topology); err != nil {
		return err
	}
	p.provided = true
	if p.replies {
		p.responders, err = p.openSession(ctx)
	}
	return err
}

func (p *prober) openSession(ctx context.Context) (driver.Session, error) {
	t := p.scenario.Target
	precise := clock.NewPrecise(1)
	target := driver.Target{URL: t.URL, Run: fmt.Sprintf("%08x", p.run), Prefix: t.Prefix, Options: maps.Clone(t.Options), TLS: (*driver.TLS)(t.TLS), Dial: p.dialer.Dial, Notify: p.notify,
		Wait: func(until time.Time, quit <-chan struct{}) bool { return precise.Until(clock.At(until), quit) }}
	if target.URL == "" {
		target.URL = p.entry.DefaultURL
	}
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	return p.entry.Driver.Open(ctx, target)
}

// notify is [driver.Target.Notify]: it ends the setup where the broker refuses something. In the window
// it does nothing: a refusal shows as messages that are not resolved.
func (p *prober) notify(e driver.Event) {
	if e.Err != nil && (e.Kind == driver.Denied || errors.Is(e.Err, driver.ErrUnauthorized)) {
		p.refused(e.Err)
	}
}

// connect connects the consumers or responders, and then the producer.
func (p *prober) connect(ctx context.Context) error {
	ack, err := flow.ConsumerAck(p.workload.Consumer.Ack)
	if err != nil {
		return err
	}
	for i := range p.workload.Consumers {
		spec := driver.ConsumerSpec{ID: i, Topics: []string{topic}, Group: p.group(), Ack: ack}
		var consumer driver.Consumer
		if p.replies {
			rr, ok := p.responders.(driver.RequestReplier)
			if !ok {
				return fmt.Errorf("%w: driver %s announces request–reply but does not implement it", driver.ErrUnsupported, p.entry.Name)
			}
			var reply []byte
			consumer, err = rr.Responder(ctx, spec, func(m driver.Message) []byte {
				reply, _ = integrity.Answer(reply, m.Payload)
				return reply
			})
		} else {
			consumer, err = p.main.Consumer(ctx, spec, p.deliver)
		}
		if err != nil {
			return fmt.Errorf("consumer %d: %w", i, err)
		}
		p.consumers = append(p.consumers, consumer)
	}
	spec := driver.ProducerSpec{Topic: topic, Size: int(p.workload.Size.Largest()), Limited: true}
	var producer driver.Producer
	if p.replies {
		rr, ok := p.main.(driver.RequestReplier)
		if !ok {
			return fmt.Errorf("%w: driver %s announces request–reply but does not implement it", driver.ErrUnsupported, p.entry.Name)
		}
		producer, err = rr.Requester(ctx, spec, p, p.deliver)
	} else {
		producer, err = p.main.Producer(ctx, spec, p)
	}
	if err != nil {
		return fmt.Errorf("producer: %w", err)
	}
	p.producer = producer // not what comes with an error: it may be a nil pointer, which is no nil Producer
	p.flusher, _ = p.producer.(driver.Flusher)
	return nil
}

// try sends a first message, again and again until one is back.
func (p *prober) try(ctx context.Context) error {
	began := clock.Now()
	for round := 0; ; round++ {
		if i, ok := p.take(); ok {
			if err := p.transmit(i, integrity.Readiness, clock.Now(), false); driver.Final(err) {
				return fmt.Errorf("first message: %w", err)
			}
		}
		for patience := clock.Now() + int64(min(time.Second, 5*time.Millisecond<<min(round, 8))); clock.Now() < patience; {
			if p.seen.Load() || p.publish && p.answered.Load() {
				return nil
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w: no message has come back", driver.ErrTimeout)
			case <-time.After(200 * time.Microsecond):
			}
		}
		if p.publish && clock.Now()-began > int64(answerLimit) {
			return nil // the broker answers nothing; what is measured shows whether messages get through
		}
	}
}

// close disconnects and removes what was provisioned, within closeLimit. It joins the errors, and may
// be called after a setup that failed.
func (p *prober) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	var errs []error
	if p.producer != nil {
		errs = append(errs, p.producer.Close(ctx))
	}
	for _, c := range p.consumers {
		errs = append(errs, c.Close(ctx))
	}
	if p.provided {
		errs = append(errs, p.main.Deprovision(ctx))
	}
	for _, s := range []driver.Session{p.responders, p.main} {
		if s != nil {
			errs = append(errs, s.Close(ctx))
		}
	}
	if p.dialer != nil {
		p.dialer.CloseAll()
	}
	return errors.Join(errs...)
}

// take takes a message that the client does not have; false: the client has them all.
func (p *prober) take() (i uint32, ok bool) {
	select {
	case i = <-p.free:
		return i, true
	default:
		return 0, false
	}
}

// send sends on the schedule from start, CLOCK_MONOTONIC, until it is over or the prober stops. Where the
// client has all messages, it waits until one is given back.
func (p *prober) send(start int64) {
	due := p.schedule.Producer(0)
	for {
		offset, ok := due.Next()
		if !ok || !p.sleepUntil(start+offset) {
			return
		}
		select {
		case i := <-p.free:
			_ = p.transmit(i, integrity.Data, start+offset, true) // a message that is refused is not counted as sent
		case <-p.stop:
			return
		}
	}
}

// sleepUntil waits until an instant of CLOCK_MONOTONIC, by a timer of Go's, which may be late; false if
// the prober stops before.
func (p *prober) sleepUntil(at int64) bool {
	timer := time.NewTimer(time.Duration(at - clock.Now()))
	defer timer.Stop()
	select {
	case <-p.stop:
		return false
	case <-timer.C:
		return true
	}
}

// transmit builds message i, which the caller has taken, and hands it to the client. If Send fails the
// message is free again. The error is that of Send or Flush.
func (p *prober) transmit(i uint32, kind integrity.Kind, due int64, measured bool) error {
	m := &p.messages[i]
	sent := clock.Now()
	env := integrity.Envelope{Run: p.run, Kind: kind, Intended: due, Sequence: p.next, Lag: sent - due}
	payload, sum := m.payload, m.sum
	if p.sizes != nil {
		class := p.sizes.Class(0, p.next)
		size := p.sizes.Classes()[class]
		payload, sum = payload[:size:size], m.sums[class]
	}
	env.Put(payload, sum)
	p.next++
	m.sent, m.measured = sent, measured
	m.borrowed.Store(true)
	if measured {
		p.count(func(t *tally) { t.sent++ })
	}
	err := p.producer.Send(uint64(i), payload)
	if err != nil {
		if m.borrowed.Store(false); measured {
			p.count(func(t *tally) { t.sent-- })
		}
		p.free <- i
		return err
	}
	if p.flusher != nil {
		return p.flusher.Flush()
	}
	return nil
}

// count changes the tally under the lock.
func (p *prober) count(change func(*tally)) {
	p.mu.Lock()
	change(&p.total)
	p.mu.Unlock()
}

// Done implements [driver.Acks]. It is safe for concurrent use.
func (p *prober) Done(token uint64, err error) {
	now := clock.Now() // the instant that is reported, so it is read first
	if token >= uint64(len(p.messages)) {
		return
	}
	m := &p.messages[token]
	if !m.borrowed.CompareAndSwap(true, false) {
		return // the driver calls it twice
	}
	switch {
	case !m.measured:
		if err == nil {
			p.answered.Store(true)
		} else if driver.Final(err) {
			p.refused(fmt.Errorf("first message: %w", err))
		}
	case err != nil:
		p.count(func(t *tally) { t.failed++ })
	case p.publish && p.acks != driver.AckKindNone:
		p.mu.Lock()
		p.total.resolved++
		p.values = append(p.values, now-m.sent)
		p.mu.Unlock()
	}
	p.free <- uint32(token) // it has room for all, and so does not block
}

// deliver implements [driver.Deliver]. It is safe for concurrent use: each consumer calls it.
func (p *prober) deliver(m driver.Message) {
	now := clock.Now() // the instant that is reported, so it is read first
	kind := integrity.Data
	if p.replies {
		kind = integrity.Reply
	}
	var e integrity.Envelope
	if e.Get(m.Payload, true) != integrity.Good || e.Run != p.run {
		return
	}
	if e.Kind == integrity.Readiness {
		p.seen.Store(true)
		return
	}
	start, end := p.start.Load(), p.end.Load() // start first: once it is known, end is
	if e.Kind != kind || start == 0 || e.Intended < start || e.Intended >= end {
		return
	}
	p.mu.Lock()
	if p.received.Mark(e.Sequence) == integrity.New {
		p.total.resolved++
		p.values = append(p.values, now-(e.Intended+e.Lag))
	}
	p.mu.Unlock()
}
