package mem

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// session implements driver.Session and driver.RequestReplier.
type session struct {
	broker  *Broker
	run     string
	options Options
	wait    wait
	notify  func(driver.Event)
	plan    *plan // nil: no faults
	outages *outages

	mu     sync.Mutex
	closed bool
	parts  map[part]struct{} // producers and consumers that are open
	stall  stall

	addressed atomic.Uint64 // messages since the beginning, where the later ones are slow
}

// part is a producer or consumer, with its connection.
type part interface {
	Close(ctx context.Context) error
	connection() *line
	lose() bool    // see line.lose
	restore() bool // see line.restore
}

// append appends the session's parts.
func (s *session) append(all []part) []part {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.AppendSeq(all, maps.Keys(s.parts))
}

// greet waits until the broker is not frozen.
func (s *session) greet(ctx context.Context) error {
	if err := s.broker.gate.reach(ctx); err != nil {
		return fmt.Errorf("mem: open: %w: %w", driver.ErrNotConnected, err)
	}
	return nil
}

// topic finds a topic of the run. The broker's mu is held.
func (s *session) topic(t string) (*topic, error) {
	if found := s.broker.topics[name{s.run, t}]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("mem: topic %q of run %q: %w: provision it first", t, s.run, driver.ErrNoTopic)
}

// enter adds a producer or consumer that has been made.
func (s *session) enter(p part) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("mem: session of run %q: %w", s.run, driver.ErrClosed)
	}
	s.parts[p] = struct{}{}
	return nil
}

func (s *session) leave(p part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parts, p)
}

// reach asks the broker for something, which a frozen one does not answer.
func (s *session) reach(ctx context.Context, what string) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return fmt.Errorf("mem: %s: session %w", what, driver.ErrClosed)
	}
	if err := s.broker.gate.reach(ctx); err != nil {
		return fmt.Errorf("mem: %s: %w: %w", what, driver.ErrTimeout, err)
	}
	return nil
}

// Provision implements driver.Session. A topic that is there already becomes
// this session's.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if int64(t.MaxSize) > int64(s.options.MaxPayload) {
		return driver.Semantics{}, s.tooLarge(t.MaxSize)
	}
	if err := s.reach(ctx, "provision"); err != nil {
		return driver.Semantics{}, err
	}
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	for _, topic := range t.Topics {
		key := name{s.run, topic}
		if there := s.broker.topics[key]; there != nil {
			if !t.Existing { // else another session removes it
				there.owner = s
			}
			continue
		}
		s.broker.topics[key] = newTopic(s)
	}
	return s.semantics(), nil
}

// Deprovision implements driver.Session.
func (s *session) Deprovision(ctx context.Context) error {
	if err := s.broker.gate.reach(ctx); err != nil {
		return fmt.Errorf("mem: deprovision: %w: %w", driver.ErrTimeout, err)
	}
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	for key, t := range s.broker.topics {
		if t.owner == s {
			t.routes.Store(nil)
			delete(s.broker.topics, key)
		}
	}
	return nil
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	parts := s.parts
	s.parts = map[part]struct{}{}
	s.mu.Unlock()
	s.broker.mu.Lock()
	delete(s.broker.sessions, s)
	s.broker.mu.Unlock()
	s.stall.end()
	s.outages.end()
	errs := make([]error, 0, len(parts))
	var mu sync.Mutex
	var closing sync.WaitGroup
	for p := range parts {
		closing.Go(func() {
			err := p.Close(ctx)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	closing.Wait()
	return errors.Join(errs...)
}

func (s *session) tooLarge(size int) error {
	return fmt.Errorf("mem: messages of %d bytes: %w: option max_payload is %s", size, driver.ErrTooLarge, s.options.MaxPayload)
}

// stall freezes a broker once, for a while.
type stall struct {
	broker *Broker
	length time.Duration
	wait   wait
	cut    chan struct{} // closed when it is to end at once
	thawed chan struct{} // closed when it has ended

	mu   sync.Mutex
	left uint64 // messages until then
	over bool   // it has begun, or will not
	on   bool   // it has begun, and was not cut
}

func newStall(b *Broker, o *Options, w wait) stall {
	return stall{broker: b, length: o.StallFor, wait: w, cut: make(chan struct{}), thawed: make(chan struct{}),
		left: o.StallAfter, over: o.StallFor == 0}
}

// tick counts a message.
func (s *stall) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
	case s.left > 0:
		s.left--
	default:
		s.over, s.on = true, true
		s.broker.Freeze()
		until := time.Now().Add(s.length)
		go func() {
			defer close(s.thawed)
			s.wait(until, s.cut)
			s.broker.Thaw()
		}()
	}
}

// end takes back a stall that lasts, and prevents one to come.
func (s *stall) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.on {
		s.on = false
		close(s.cut)
		<-s.thawed
	}
}
