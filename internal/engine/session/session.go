// Package session is a load's presence at the broker: its sessions with the driver, the
// connections that they made, what was provisioned, and what the driver reports.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// Session is a load's presence at the broker, and what follows from what the driver
// is with these options. Nothing of it changes after open but the connections and
// what the driver tells.
type Session struct {
	*plan.Plan
	Main       driver.Session // of producers and consumers
	Responders driver.Session // of its own, for request–reply
	Dialers    []*transport.Dialer
	Semantics  driver.Semantics
	SetupTimes []result.SetupTime
	Measured   bool // the load was measured

	// Counters of what the driver has reported. Notify adds on the client's goroutines, anyone reads.
	Dropped  atomic.Int64
	Returned atomic.Int64
	Denied   atomic.Int64
}

// Open connects both sides, and provisions.
func (s *Session) Open(ctx context.Context) (err error) {
	began := clock.Now()
	if s.Main, err = s.openSession(ctx); err != nil {
		return err
	}
	s.SetupTimes = append(s.SetupTimes, result.SetupTime{Name: "connect", Duration: time.Duration(clock.Now() - began)})
	w := s.Workload
	s.Semantics, err = s.Main.Provision(ctx, driver.Topology{Topics: s.Layout.Topics, Groups: s.Layout.GroupNames,
		Producers: w.Producers, Consumers: w.Consumers, MaxSize: int(w.Size.Largest()), Slow: s.Scenario.Slow(),
		Late: s.ComesLate, KeySize: int(w.KeySize), Headers: stream.HeadersOf(w.Headers),
		Keep: w.Retains(), Existing: w.Existing != ""})
	if w.Existing != "" && errors.Is(err, driver.ErrNoTopic) {
		return fmt.Errorf("%w: nothing is at the broker as %s for so many topics and groups; run with lifetime: keep, and give the name that it tells: %w", plan.ErrUsage, w.Existing, err)
	}
	if tls := s.Scenario.Target.TLS; tls != nil && tls.InsecureSkipVerify {
		s.Semantics.Warnings = append(s.Semantics.Warnings, "the server's certificate is not checked")
	}
	return err
}

// OpenResponders opens the session of the responders, if there are any.
func (s *Session) OpenResponders(ctx context.Context) (err error) {
	if s.Flow.Replies {
		s.Responders, err = s.openSession(ctx)
	}
	return err
}

func (s *Session) openSession(ctx context.Context) (driver.Session, error) {
	t := s.Scenario.Target
	d := transport.NewDialer(s.Flow.Timed)
	target := driver.Target{URL: s.Url, Run: s.Name, Options: s.DriverOptions(t), Dial: d.Dial,
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
	s.Dialers = append(s.Dialers, d)
	return opened, nil
}

// wait is [driver.Target.Wait].
func (s *Session) wait(until time.Time, quit <-chan struct{}) bool {
	return s.Precise.Until(clock.At(until), quit)
}

// notify takes what the driver tells. What the broker refuses before the window ends the
// run; in it, it is counted.
func (s *Session) notify(e driver.Event) {
	n := int64(max(1, e.Count))
	if e.Err != nil && (e.Kind == driver.Denied || errors.Is(e.Err, driver.ErrUnauthorized)) && s.Refuse(e.Err) {
		return
	}
	switch e.Kind {
	case driver.Dropped:
		s.Dropped.Add(n)
	case driver.Returned:
		s.Returned.Add(n)
	case driver.Denied:
		s.Denied.Add(n)
	}
	event := result.Event{At: clock.Now(), Kind: result.EventKind(e.Kind.String()), Detail: e.Detail, Count: int64(e.Count)}
	if e.Err != nil {
		event.Class = plan.ClassName(e.Err)
		if event.Detail == "" {
			event.Detail = e.Err.Error()
		}
	}
	s.Event(event)
}

// Refusals is how producers learn that the broker refuses their messages; empty: there are
// none, or no broker.
func (s *Session) Refusals() string {
	if s.Flow.Consumes || s.Entry.Capabilities.Brokerless {
		return ""
	}
	how := driver.RefusalsAnswered
	if s.Flow.Ack == driver.AckKindNone {
		how = driver.RefusalsSilent
	}
	return string(cmp.Or(s.Semantics.Refusals, how))
}

// Close ends the sessions, within a time limit of its own.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	// A run that measured nothing does not remove what others have made.
	if s.Main != nil && s.Semantics.Transport != "" && (s.Workload.Existing == "" || s.Measured) {
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

// GiveUp closes the session of producers and consumers, whatever they do.
func (s *Session) GiveUp() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.Main.Close(ctx) // what it leaves is reported when it is closed again
}

// Cut closes all connections of the load.
func (s *Session) Cut() {
	for _, d := range s.Dialers {
		d.CloseAll()
	}
}
