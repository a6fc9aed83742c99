// Package session has a load's sessions with the driver, the connections that they made, what was
// provisioned, and what the driver reports.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/stream"
	"sixnines/internal/transport"
	"sixnines/result"
)

// openTimeout bounds the first contact: a wrong address is reported
// soon.
const openTimeout = 8 * time.Second

// Session is a load's presence at the broker, and what follows from what the driver is with these
// options. The run's goroutine opens and closes it. What is not atomic is fixed once Open and
// OpenResponders have returned, but for SetupTimes and Measured; what it points to, such as the
// connections, is safe for concurrent use.
type Session struct {
	*plan.Plan
	Main       driver.Session      // of producers and consumers; nil: it is not open
	Responders driver.Session      // of the responders; nil without request–reply
	Dialers    []*transport.Dialer // of Main, and then of Responders
	Semantics  driver.Semantics    // what the driver states
	SetupTimes []result.SetupTime  // the run's goroutine adds to it until the header is written
	// provisioned says that Provision was called: also where it fails it may have made something.
	provisioned bool
	Measured    bool // the load was measured; the run's goroutine sets it before Close

	// Counters of messages by what the driver has reported of them. The client's goroutines add, anyone reads.

	Dropped  atomic.Int64 // the client threw them away
	Returned atomic.Int64 // the broker could not route them
	Denied   atomic.Int64 // the broker refused them without saying which

	// Lost is when the driver last reported a lost connection, before the load was stopped, CLOCK_MONOTONIC;
	// 0: it reported none. The client's goroutines store, anyone reads.
	Lost atomic.Int64
}

// Open opens the session of producers and consumers, and provisions. The error wraps plan.ErrUsage where
// what it uses does not exist, or is the driver's. What was opened is left for Close.
func (s *Session) Open(ctx context.Context) (err error) {
	began := clock.Now()
	if s.Main, err = s.openSession(ctx); err != nil {
		return err
	}
	s.SetupTimes = append(s.SetupTimes, result.SetupTime{Name: "connect", Duration: time.Duration(clock.Now() - began)})
	w := s.Workload
	s.provisioned = true
	s.Semantics, err = s.Main.Provision(ctx, s.Topology())
	if w.Existing != "" && errors.Is(err, driver.ErrNoTopic) {
		return fmt.Errorf("%w: the broker has no topics and groups with the name %s in this number; make them by a run with lifetime: keep, and give the name that it prints: %w", plan.ErrUsage, w.Existing, err)
	}
	if s.Scenario.Target.Topic != "" && s.stays() {
		s.Semantics.Warnings = append(s.Semantics.Warnings, "the run's messages stay in "+s.Scenario.Target.Topic+", consumed or not, until its own limits remove them: it is a log, and nothing there is deleted")
	}
	if tls := s.Scenario.Target.TLS; tls != nil && tls.InsecureSkipVerify {
		s.Semantics.Warnings = append(s.Semantics.Warnings, "the server's certificate is not checked")
	}
	return err
}

// stays reports whether topics keep messages that were consumed.
func (s *Session) stays() bool {
	back, ok := s.Main.(driver.BackReader)
	if t := s.Topology(); ok && t.Consumers > 0 {
		places, err := back.Places(t)
		return err == nil && slices.ContainsFunc(places, func(p driver.Place) bool { return p.Log })
	}
	return false
}

// Topology is what the load needs at the broker.
func (s *Session) Topology() driver.Topology {
	w, all := s.Workload, s.Workload
	if s.Crosses() {
		all = &s.Scenario.Workload // one process provisions for all
	}
	return driver.Topology{Topics: s.Layout.Topics, Groups: s.Layout.GroupNames,
		Producers: all.Producers, Consumers: all.Consumers, MaxSize: int(w.Size.Largest()), Slow: s.Scenario.Slow(),
		Late: s.ComesLate, KeySize: int(w.KeySize), Headers: stream.HeadersOf(w.Headers),
		Keep: w.Retains(), Existing: w.Existing != "" || !s.Provisions(), ReadBack: s.Scenario.Phases.ReadBack > 0}
}

// Again opens another session with the same run at the broker, which provisions nothing. The caller
// closes it; its connections are Close's. The error is the driver's.
func (s *Session) Again(ctx context.Context) (driver.Session, error) { return s.openSession(ctx) }

// OpenResponders opens the session of the responders, if the load has them. The error is the driver's.
func (s *Session) OpenResponders(ctx context.Context) (err error) {
	if s.Flow.Replies {
		s.Responders, err = s.openSession(ctx)
	}
	return err
}

// Target is where the load's sessions are opened, and how. They have no Dial yet.
func (s *Session) Target() driver.Target {
	t := s.Scenario.Target
	return driver.Target{URL: s.Url, Run: s.Name, Prefix: t.Prefix, Given: t.Topic != "", Options: s.DriverOptions(t), TLS: (*driver.TLS)(t.TLS),
		Batch: !s.Flow.Timed, Notify: s.notify, Wait: s.wait}
}

func (s *Session) openSession(ctx context.Context) (driver.Session, error) {
	d := transport.NewDialerVia(s.Flow.Timed, s.Via)
	target := s.Target()
	target.Dial = d.Dial
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	opened, err := s.Entry.Driver.Open(ctx, target)
	if err != nil {
		d.CloseAll()
		return nil, err
	}
	s.Connected(d)
	s.Dialers = append(s.Dialers, d)
	return opened, nil
}

// wait is [driver.Target.Wait].
func (s *Session) wait(until time.Time, quit <-chan struct{}) bool {
	return s.Precise.Until(clock.At(until), quit)
}

// notify is [driver.Target.Notify]: it takes what the driver reports, on any goroutine. What the broker
// refuses before the window ends the run; in the window it is counted.
func (s *Session) notify(e driver.Event) {
	n := int64(max(1, e.Count))
	if e.Err != nil && (e.Kind == driver.Denied || errors.Is(e.Err, driver.ErrUnauthorized)) && s.Refuse(e.Err) {
		return
	}
	now := clock.Now()
	switch e.Kind {
	case driver.Disconnected, driver.GivenUp:
		if !s.Stopped.Load() { // else it is the run that closes it
			s.Lost.Store(now)
		}
	case driver.Dropped:
		s.Dropped.Add(n)
	case driver.Returned:
		s.Returned.Add(n)
	case driver.Denied:
		s.Denied.Add(n)
	}
	event := result.Event{At: now, Kind: result.EventKind(e.Kind.String()), Detail: e.Detail, Count: int64(e.Count)}
	if e.Err != nil {
		event.Class = plan.ClassName(e.Err)
		if event.Detail == "" {
			event.Detail = e.Err.Error()
		}
	}
	s.Event(event)
}

// TopicName is what the load's first topic is called at the broker; empty: it has no name there. Open has
// returned.
func (s *Session) TopicName() string {
	if n := s.Entry.Naming; s.Semantics.Topic == "" && n.Separator != "" && len(s.Layout.Topics) > 0 {
		t := &s.Scenario.Target
		return n.TopicName(driver.Target{Run: s.Name, Prefix: t.Prefix, Given: t.Topic != ""}, s.Layout.Topics[0])
	}
	return s.Semantics.Topic
}

// Refusals says how producers learn that the broker refuses their messages; empty: the load has no
// producers, or no broker. Open has returned.
func (s *Session) Refusals() string {
	if s.Flow.Consumes || s.Flow.Listens || s.Entry.Capabilities.Brokerless {
		return ""
	}
	how := driver.RefusalsAnswered
	if s.Flow.Ack == driver.AckKindNone {
		how = driver.RefusalsSilent
	}
	return string(cmp.Or(s.Semantics.Refusals, how))
}

// Close removes what was provisioned, ends the sessions and closes all connections, within 10 s for what
// the driver does. It joins the driver's errors. It may be called when Open has failed.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	// A run that measured nothing does not remove what others have made.
	if s.Main != nil && s.provisioned && s.Provisions() && (s.Workload.Existing == "" || s.Measured) {
		errs = append(errs, s.Main.Deprovision(ctx))
	}
	for _, s := range []driver.Session{s.Responders, s.Main} {
		if s != nil {
			errs = append(errs, s.Close(ctx))
		}
	}
	s.Cut()
	return errors.Join(errs...)
}

// GiveUp closes the session of producers and consumers while they are in use, within 5 s: a send that
// hangs ends with it. Close still has to be called.
func (s *Session) GiveUp() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.Main.Close(ctx) // Close reports the error of the second time
}

// Cut closes all connections of the load that the engine has dialled.
func (s *Session) Cut() {
	for _, d := range s.Dialers {
		d.CloseAll()
	}
}
