package drivertest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"sixnines/driver"
)

// rig is a session under test with its network and events.
type rig struct {
	h       *Harness
	session driver.Session
	network *network
	events  *events
	run     string

	semantics driver.Semantics // returned by Provision
}

// events collects the events of Target.Notify.
type events struct {
	watch
	all []driver.Event
}

func (e *events) notify(ev driver.Event) { e.update(func() { e.all = append(e.all, ev) }) }

func (e *events) has(ctx context.Context, kind driver.EventKind) error {
	return e.wait(ctx, func() bool {
		for _, ev := range e.all {
			if ev.Kind == kind {
				return true
			}
		}
		return false
	}, func() string { return fmt.Sprintf("no event %q was reported, only %v", kind, e.all) })
}

// with adds the events, if any, to err.
func (e *events) with(err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.all) == 0 {
		return err
	}
	return fmt.Errorf("%w; events: %v", err, e.all)
}

// newRun returns a name that no other run has.
func newRun() string { return "drivertest-" + strings.ToLower(rand.Text()[:12]) }

// prepare completes a target. The network and events may be nil.
func prepare(t driver.Target, run string, n *network, e *events) driver.Target {
	t.Run = run
	if n != nil {
		t.Dial = n.dial
	}
	if e != nil {
		t.Notify = e.notify
	}
	return t
}

// openRig opens a session in the run and provisions nothing.
func openRig(ctx context.Context, h *Harness, run string, batch bool) (*rig, error) {
	r := &rig{h: h, run: run, network: newNetwork(), events: &events{}}
	t := prepare(h.Target, run, r.network, r.events)
	t.Batch = batch
	var err error
	if r.session, err = h.Entry.Driver.Open(ctx, t); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return r, nil
}

// with runs f on a session with the topics and groups of t provisioned; afterwards it
// deprovisions and closes the session.
func with(ctx context.Context, h *Harness, t driver.Topology, f func(r *rig) error) error {
	return withBatch(ctx, h, t, false, f)
}

func withBatch(ctx context.Context, h *Harness, t driver.Topology, batch bool, f func(r *rig) error) error {
	r, err := openRig(ctx, h, newRun(), batch)
	if err != nil {
		return err
	}
	if t.Producers == 0 {
		t.Producers = 1
	}
	if t.Consumers == 0 {
		t.Consumers = 1
	}
	if t.MaxSize == 0 {
		t.MaxSize = 1 << 10
	}
	if err := r.provision(ctx, t); err != nil {
		return errors.Join(err, r.close())
	}
	if err = f(r); err != nil {
		err = r.events.with(err) // before closing adds more events
		r.session.Deprovision(ctx)
		r.close()
		return err
	}
	if err = r.session.Deprovision(ctx); err != nil {
		err = fmt.Errorf("deprovision: %w", err)
	}
	return errors.Join(err, r.close())
}

func topics(names ...string) driver.Topology { return driver.Topology{Topics: names} }

// close closes the session, and fails if that takes too long.
func (r *rig) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), r.h.patience())
	defer cancel()
	if err := r.session.Close(ctx); err != nil {
		return fmt.Errorf("close the session: %w", err)
	}
	return nil
}

// producer connects a producer with the ID, on its own connection.
func (r *rig) producer(ctx context.Context, id int, topic string, size int, acks driver.Acks) (driver.Producer, error) {
	p, err := r.session.Producer(ctx, driver.ProducerSpec{ID: id, Topic: topic, Conn: id, Size: size}, acks)
	if err != nil {
		return nil, fmt.Errorf("producer of %q: %w", topic, err)
	}
	return p, nil
}

// consumer connects a consumer with the ID, on its own connection.
func (r *rig) consumer(ctx context.Context, id int, group string, b *inbox, topics ...string) (driver.Consumer, error) {
	c, err := r.session.Consumer(ctx, driver.ConsumerSpec{ID: id, Conn: id, Topics: topics, Group: group}, b.deliver)
	if err != nil {
		return nil, fmt.Errorf("consumer of %q: %w", topics, err)
	}
	return c, nil
}

// flush flushes the producer, if it implements driver.Flusher.
func flush(p driver.Producer) error {
	if f, ok := p.(driver.Flusher); ok {
		if err := f.Flush(); err != nil {
			return fmt.Errorf("flush: %w", err)
		}
	}
	return nil
}

// size returns the size, in bytes, of a small payload that the driver carries and that
// has room for a letter.
func (h *Harness) size() int { return max(letterSize, h.can().MinSize, 64) }

// sendMany sends n letters, numbered from first, and flushes.
func sendMany(l *ledger, p driver.Producer, producer uint32, first uint64, n, size int) error {
	for seq := first; seq < first+uint64(n); seq++ {
		if err := l.send(p, tokenOf(producer, seq), letter{producer, seq}.write(size)); err != nil {
			return fmt.Errorf("send message %d of producer %d: %w", seq, producer, err)
		}
	}
	return flush(p)
}

// tokenOf returns a token with pseudo-random bits, since a driver must not interpret
// them.
func tokenOf(producer uint32, seq uint64) uint64 {
	return (seq<<16 | uint64(producer)) * 0x9E3779B97F4A7C15
}

// limit runs f and returns its error, or another error if f takes longer than a large
// multiple of what ordinary calls to the broker take now.
func (h *Harness) limit(ctx context.Context, what string, f func() error) error {
	bound, err := h.generous(ctx)
	if err != nil {
		return err
	}
	result := make(chan error, 1)
	go func() { result <- f() }()
	select {
	case err := <-result:
		return err
	case <-time.After(bound):
		return fmt.Errorf("%s has not returned in %v", what, bound)
	}
}

// generous measures how long it takes to open and close a session, and returns
// a large multiple.
func (h *Harness) generous(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	r, err := openRig(ctx, h, newRun(), false)
	if err != nil {
		return 0, err
	}
	if err := r.close(); err != nil {
		return 0, err
	}
	return min(time.Second+50*time.Since(start), h.patience()), nil
}

// can returns the driver's capabilities with the harness's options.
func (h *Harness) can() driver.Capabilities { return h.Entry.With(h.Target.Options) }
