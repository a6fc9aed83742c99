package model

import (
	"context"
	"sync"
	"time"

	"sixnines/driver"
)

// leaving notes facts that no record of a run has: when each message of the load was sent, and
// when the first producer was closed, because messages that come while clients are closed are in
// the last interval too.
type leaving struct {
	driver.Driver
	once sync.Once
	at   time.Time

	producers []*leavingProducer // of all loads, as they connect
}

// sends returns the instants at which producers sent, from a given instant on.
func (l *leaving) sends(start time.Time) (all [][]int64) {
	for _, p := range l.producers {
		var own []int64
		for _, at := range p.sent {
			own = append(own, int64(at.Sub(start)))
		}
		all = append(all, own)
	}
	return all
}

// of has a driver note that.
func (l *leaving) of(e *driver.Entry) {
	l.Driver = e.Driver
	e.Driver = l
}

// since is that instant, from another one on.
func (l *leaving) since(start time.Time) int64 { return int64(l.at.Sub(start)) }

// Open implements driver.Driver.
func (l *leaving) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := l.Driver.Open(ctx, t)
	return &leavingSession{s, l}, err
}

type leavingSession struct {
	driver.Session
	of *leaving
}

// Producer implements driver.Session.
func (s *leavingSession) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.Session.Producer(ctx, spec, acks)
	return s.of.producer(p), err
}

// Requester implements driver.RequestReplier.
func (s *leavingSession) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	p, err := s.Session.(driver.RequestReplier).Requester(ctx, spec, acks, replies)
	return s.of.producer(p), err
}

// Responder implements driver.RequestReplier.
func (s *leavingSession) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(driver.Message) []byte) (driver.Consumer, error) {
	return s.Session.(driver.RequestReplier).Responder(ctx, spec, respond)
}

// Places implements driver.BackReader.
func (s *leavingSession) Places(t driver.Topology) ([]driver.Place, error) {
	return s.Session.(driver.BackReader).Places(t)
}

// ReadBack implements driver.BackReader.
func (s *leavingSession) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	return s.Session.(driver.BackReader).ReadBack(ctx, p, take)
}

type leavingProducer struct {
	driver.Producer
	of   *leaving
	sent []time.Time
}

func (l *leaving) producer(p driver.Producer) driver.Producer {
	l.producers = append(l.producers, &leavingProducer{Producer: p, of: l})
	return l.producers[len(l.producers)-1]
}

// Send implements driver.Producer.
func (p *leavingProducer) Send(token uint64, payload []byte) error {
	if payload[7]>>2&7 == 0 { // of the load, not a readiness probe
		p.sent = append(p.sent, time.Now())
	}
	return p.Producer.Send(token, payload)
}

// Close implements driver.Producer.
func (p *leavingProducer) Close(ctx context.Context) error {
	p.of.once.Do(func() { p.of.at = time.Now() })
	return p.Producer.Close(ctx)
}

// Sync implements driver.Syncer.
func (p *leavingProducer) Sync(ctx context.Context) error {
	return p.Producer.(driver.Syncer).Sync(ctx)
}

// WindowBegins implements driver.WindowWatcher.
func (p *leavingProducer) WindowBegins() { p.Producer.(driver.WindowWatcher).WindowBegins() }
