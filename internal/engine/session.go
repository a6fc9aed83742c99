package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/stream"
	"sixnines/internal/transport"
	"sixnines/result"
)

// openTimeout bounds the first contact: a wrong address is reported
// soon.
const openTimeout = 8 * time.Second

// session is a load's presence at the broker, and what follows from what the driver
// is with these options. Nothing of it changes after open but the connections and
// what the driver tells.
type session struct {
	*plan.Plan
	main       driver.Session // of producers and consumers
	responders driver.Session // of its own, for request–reply
	dialers    []*transport.Dialer
	semantics  driver.Semantics
	cold       []result.Cold
	measured   bool // the load was measured

	ownsDialing bool // the client dials by itself

	// What the driver told of.
	dropped  atomic.Int64
	returned atomic.Int64
	denied   atomic.Int64
}

// open connects both sides, provisions, and decides what follows from what the
// driver is with these options.
func (s *session) open(ctx context.Context) (err error) {
	began := clock.Now()
	if s.main, err = s.openSession(ctx); err != nil {
		return err
	}
	s.cold = append(s.cold, result.Cold{Name: "connect", Duration: time.Duration(clock.Now() - began)})
	if a, ok := s.main.(driver.AckReporter); ok {
		s.Flow = flow.Of(s.Workload, a.Ack())
	}
	s.ownsDialing = s.Entry.Capabilities.OwnsDialing
	if d, ok := s.main.(driver.DialReporter); ok {
		s.ownsDialing = d.OwnsDialing()
	}
	w := s.Workload
	if s.Flow.Closed && s.Flow.Closes == flow.Never {
		return fmt.Errorf("%w: with these options driver %s acknowledges nothing that a closed loop could wait for", plan.ErrUsage, s.Entry.Name)
	}
	if s.Flow.Closes == flow.Never && w.InFlight.Each > 0 {
		return fmt.Errorf("%w: with these options driver %s acknowledges nothing that a producer could wait for; leave workload.in_flight.each out, or choose another pattern", plan.ErrUsage, s.Entry.Name)
	}
	s.semantics, err = s.main.Provision(ctx, driver.Topology{Topics: s.Layout.Topics, Groups: s.Layout.GroupNames,
		Producers: w.Producers, Consumers: w.Consumers, MaxSize: int(w.Size.Largest()), Slow: w.Consumer.Slow(),
		Late: !w.Consumer.From.IsZero(), KeySize: int(w.KeySize), Headers: stream.HeadersOf(w.Headers),
		Keep: w.Keeps(), Existing: w.Existing != ""})
	if w.Existing != "" && errors.Is(err, driver.ErrNoTopic) {
		return fmt.Errorf("%w: nothing is at the broker as %s for so many topics and groups; run with lifetime: keep, and give the name that it tells: %w", plan.ErrUsage, w.Existing, err)
	}
	return err
}

// openResponders opens the session of the responders, if there are any.
func (s *session) openResponders(ctx context.Context) (err error) {
	if s.Flow.Replies {
		s.responders, err = s.openSession(ctx)
	}
	return err
}

func (s *session) openSession(ctx context.Context) (driver.Session, error) {
	t := s.Scenario.Target
	d := transport.NewDialer(s.Flow.Timed)
	options := t.Options
	if len(s.Options) > 0 {
		options = maps.Clone(s.Options)
		maps.Copy(options, t.Options)
	}
	target := driver.Target{URL: s.Url, Run: s.Name, Options: options, Dial: d.Dial,
		Batch: !s.Flow.Timed, Notify: s.notify, Wait: s.wait}
	if tls := t.TLS; tls != nil {
		target.TLS = &driver.TLS{CA: tls.CA, Cert: tls.Cert, Key: tls.Key, ServerName: tls.ServerName,
			InsecureSkipVerify: tls.InsecureSkipVerify}
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	opened, err := s.Entry.Driver.Open(ctx, target)
	if err != nil {
		d.CloseAll()
		return nil, err
	}
	s.Connected(d)
	s.dialers = append(s.dialers, d)
	return opened, nil
}

// wait is [driver.Target.Wait].
func (s *session) wait(until time.Time, quit <-chan struct{}) bool {
	return s.Precise.Until(clock.At(until), quit)
}

// notify takes what the driver tells. What the broker refuses before the window ends the
// run; in it, it is counted.
func (s *session) notify(e driver.Event) {
	n := int64(max(1, e.Count))
	if e.Err != nil && (e.Kind == driver.Denied || errors.Is(e.Err, driver.ErrUnauthorized)) && s.Refuse(e.Err) {
		return
	}
	switch e.Kind {
	case driver.Dropped:
		s.dropped.Add(n)
	case driver.Returned:
		s.returned.Add(n)
	case driver.Denied:
		s.denied.Add(n)
	}
	told := result.Event{At: clock.Now(), Kind: result.EventKind(e.Kind.String()), Detail: e.Detail, Count: int64(e.Count)}
	if e.Err != nil {
		told.Class = className(e.Err)
		if told.Detail == "" {
			told.Detail = e.Err.Error()
		}
	}
	s.Event(told)
}

// close ends the sessions, within a time limit of its own.
func (s *session) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	// A run that measured nothing does not remove what others have made.
	if s.main != nil && s.semantics.Transport != "" && (s.Workload.Existing == "" || s.measured) {
		errs = append(errs, s.main.Deprovision(ctx))
	}
	for _, s := range []driver.Session{s.responders, s.main} {
		if s != nil {
			errs = append(errs, s.Close(ctx))
		}
	}
	s.cut()
	return errors.Join(errs...)
}

// giveUp closes the session of producers and consumers, whatever they do.
func (s *session) giveUp() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.main.Close(ctx) // what it leaves is told of when it is closed again
}

// cut closes all connections of the load.
func (s *session) cut() {
	for _, d := range s.dialers {
		d.CloseAll()
	}
}
