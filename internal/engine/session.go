package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
	"sixnines/result"
	"sixnines/scenario"
)

// open connects both sides and provisions.
func (ld *load) open(ctx context.Context) error {
	began := clock.Now()
	session, err := ld.openSession(ctx)
	if err != nil {
		return err
	}
	ld.session = session
	ld.cold = append(ld.cold, result.Cold{Name: "connect", Duration: time.Duration(clock.Now() - began)})
	ld.ack = ld.config.Entry.Capabilities.Ack
	if a, ok := session.(driver.AckReporter); ok {
		ld.ack = a.Ack()
	}
	w := ld.workload
	if w.Loop == scenario.Closed && w.Pattern == scenario.Publish && ld.ack == driver.AckKindNone {
		return fmt.Errorf("%w: with these options driver %s acknowledges nothing that a closed loop could wait for", ErrUsage, ld.config.Entry.Name)
	}
	switch {
	case w.Pattern == scenario.Publish && ld.ack == driver.AckKindNone:
		ld.closes = closeNever
	case w.Pattern == scenario.Publish, w.Loop == scenario.Open && ld.ack != driver.AckKindNone:
		ld.closes = closeOnAck
	default:
		ld.closes = closeOnDelivery
	}
	ld.ackResponse, ld.ackService, ld.rawAcked = recorder.PublishResponse, recorder.PublishService, result.RawAcked
	if ld.ack == driver.AckKindReply {
		ld.ackResponse, ld.ackService, ld.rawAcked = recorder.RoundTripResponse, recorder.RoundTripService, result.RawReplied
		if w.Pattern == scenario.Publish {
			ld.primary = ld.ackResponse
		}
	}
	ld.semantics, err = session.Provision(ctx, driver.Topology{Topics: ld.layout.topics, Groups: ld.layout.groupNames,
		Producers: w.Producers, Consumers: w.Consumers, MaxSize: int(w.Size.Largest()), Slow: w.Consumer.Work > 0})
	if err != nil {
		return err
	}
	if ld.follower != nil && !slices.ContainsFunc(ld.metrics(), ld.follower.of) {
		return fmt.Errorf("%w: with these options driver %s does not time %s, so no interval of it can be waited for", ErrUsage, ld.config.Entry.Name, ld.follower.until.Metric)
	}
	if ld.replies {
		if ld.responders, err = ld.openSession(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (ld *load) openSession(ctx context.Context) (driver.Session, error) {
	t := ld.scenario.Target
	d := transport.NewDialer(ld.timed)
	options := t.Options
	if len(ld.config.Options) > 0 {
		options = maps.Clone(ld.config.Options)
		maps.Copy(options, t.Options)
	}
	target := driver.Target{URL: ld.brokerURL(), Run: ld.name, Options: options, Dial: d.Dial,
		Batch: !ld.timed, Notify: ld.notify}
	if tls := t.TLS; tls != nil {
		target.TLS = &driver.TLS{CA: tls.CA, Cert: tls.Cert, Key: tls.Key, ServerName: tls.ServerName,
			InsecureSkipVerify: tls.InsecureSkipVerify}
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	s, err := ld.config.Entry.Driver.Open(ctx, target)
	if err != nil {
		d.CloseAll()
		return nil, err
	}
	ld.dialers = append(ld.dialers, d)
	return s, nil
}

func (ld *load) notify(e driver.Event) {
	switch e.Kind {
	case driver.Dropped:
		ld.dropped.Add(int64(max(1, e.Count)))
	case driver.Returned:
		ld.returned.Add(int64(max(1, e.Count)))
	}
	ld.event(result.Event{At: clock.Now(), Kind: e.Kind.String(), Detail: e.Detail, Count: int64(e.Count)})
}

// close ends the sessions, within a time of its own.
func (ld *load) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if ld.session != nil && ld.semantics.Transport != "" {
		errs = append(errs, ld.session.Deprovision(ctx))
	}
	for _, s := range []driver.Session{ld.responders, ld.session} {
		if s != nil {
			errs = append(errs, s.Close(ctx))
		}
	}
	ld.cut()
	return errors.Join(errs...)
}

// cut closes all connections of the load.
func (ld *load) cut() {
	for _, d := range ld.dialers {
		d.CloseAll()
	}
}

// disconnect closes producers and consumers, then the sessions. Leftovers are
// told, not fatal: the measurement is done.
func (ld *load) disconnect() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var errs []error
	for _, st := range ld.streams {
		errs = append(errs, st.producer.Close(ctx))
	}
	for _, c := range ld.clients {
		errs = append(errs, c.Close(ctx))
	}
	return errors.Join(append(errs, ld.close())...)
}
