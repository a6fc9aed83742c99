// Package readback reads what the broker keeps of a load's messages when the run is over and its
// clients have closed: by a fresh session, from the beginning of each place to the end that the
// broker names, so that a message that was not delivered can be told from one that is lost.
package readback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/session"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/result"
)

const (
	// firstPause and lastPause are between two attempts, and double in between.
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
	// silence is how long no message may come before an attempt is given up.
	silence = 20 * time.Second
	// absence is how long a broker must say that it does not have a place, which one that has
	// just started may say of what it has not yet found again.
	absence = 3 * time.Second
	// closing is how long closing a session may take.
	closing = 5 * time.Second
	// instantsMemory is how many bytes a load spends on the instants of acknowledgements.
	instantsMemory = 256 << 20
)

// Back is what was read back of a load. The run's goroutine calls its methods, and Read once,
// before the others; while that lasts, the sessions' goroutines deliver.
type Back struct {
	*plan.Plan
	Session *session.Session
	streams []*stream.Stream

	places []*place
	found  result.ReadBack
}

// place is a place of the broker's, and what has been read from it.
type place struct {
	driver.Place
	topic   int                 // in the layout
	group   int                 // in the layout; −1: it has the messages of all
	ledgers []*integrity.Ledger // by stream of the load; nil: nothing of that has come
	head    head                // of the last reading
	// forgotten counts messages that were read and that no ledger could keep: any that is not there may be one.
	forgotten int64
	reading   driver.Reading
	read      bool  // to its end
	absent    bool  // the broker does not have it
	since     int64 // when the broker first said so, CLOCK_MONOTONIC; 0: it has not
	err       error // why it was not read the last time

	corrupted, foreign, duplicated, unmeasured int64 // of the last reading

	replicas   []*replica // as the last attempt has found them
	noReplicas error      // why it is not known which there are
}

// New returns what reads back the messages of p; nil: that is not asked for, or such a load has
// nothing that could be kept.
func New(p *plan.Plan, s *session.Session) *Back {
	if p.Scenario.Phases.ReadBack == 0 || p.Flow.Consumes || p.Flow.Replies {
		return nil
	}
	return &Back{Plan: p, Session: s}
}

// Bind has the load's streams, and makes them remember when each message was acknowledged.
func (b *Back) Bind(streams []*stream.Stream) {
	b.streams = streams
	var budget atomic.Int64
	budget.Store(instantsMemory / integrity.InstantChunk)
	for _, st := range streams {
		if st.Acked != nil {
			st.AckedAt = integrity.NewInstants(&budget)
		}
	}
}

// Read reads back. It ends when all places have been read, with Phases.ReadBack, when the broker stays
// down, or when ctx or the run's Abort says so. Producers and consumers have closed.
func (b *Back) Read(ctx context.Context) {
	b.found.From = clock.Now() - b.Start.Load()
	err := error(fmt.Errorf("%w: the broker of driver %s keeps nothing that could be read back", driver.ErrUnsupported, b.Entry.Name))
	if b.Entry.With(b.DriverOptions(b.Scenario.Target)).ReadsBack {
		err = b.readAll(ctx)
	}
	b.found.To = clock.Now() - b.Start.Load()
	b.conclude(err)
}

// readAll makes attempts until all places are read, and returns why the last one did not.
func (b *Back) readAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, b.Scenario.Phases.ReadBack, fmt.Errorf("%w: it was to take no longer than %v", driver.ErrTimeout, b.Scenario.Phases.ReadBack))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-b.Abort:
			stop(fmt.Errorf("%w: the run was ended", driver.ErrClosed))
		case <-ctx.Done():
		}
	}()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err, lasting := b.attempt(ctx)
		if err == nil || lasting {
			return err
		}
		if b.Down != nil {
			if why := b.Down(); why != nil {
				return fmt.Errorf("%w: %w", driver.ErrNotConnected, why)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

// attempt opens a session and reads the places that have not been read. err is of the first place
// that could not be read; lasting says that another attempt would end likewise.
func (b *Back) attempt(ctx context.Context) (err error, lasting bool) {
	s, err := b.Session.Again(ctx)
	if err != nil {
		return err, driver.Final(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		_ = s.Close(ctx) // it has read what it could
	}()
	back, ok := s.(driver.BackReader)
	if !ok {
		return fmt.Errorf("%w: driver %s announces that it reads back and does not", driver.ErrUnsupported, b.Entry.Name), true
	}
	all, err := back.Places(b.Session.Topology())
	if err != nil {
		return err, driver.Final(err)
	}
	b.know(all)
	for _, p := range b.places {
		if !p.read {
			if p.err = b.readPlace(ctx, back, p); p.err != nil && err == nil {
				err = p.err
			}
		}
	}
	return err, false
}

// know notes the places of the first session that names them.
func (b *Back) know(all []driver.Place) {
	if b.places != nil {
		return
	}
	for _, x := range all {
		// What a consumer that acknowledges nothing was sent is gone from a queue. The place has what the
		// driver's own mode does.
		if ack := b.Workload.Consumer.Ack; ack != "" {
			x.AtMostOnce = !x.Log && ack == "none"
		}
		p := &place{Place: x, group: -1, topic: slices.Index(b.Layout.Topics, x.Topic), ledgers: make([]*integrity.Ledger, len(b.streams))}
		for _, c := range b.Layout.Consumers {
			if x.Group != "" && c.Name == x.Group {
				p.group = c.Group
			}
		}
		b.places = append(b.places, p)
	}
}

// readPlace reads a place once. What came before an error stays ticked off, since it was kept, until the place
// is read to its end: a broker that elects a leader meanwhile may no longer have what the last one had.
func (b *Back) readPlace(ctx context.Context, back driver.BackReader, p *place) error {
	whole := ctx
	ctx, quiet, stop := untilSilent(ctx)
	defer stop()
	p.corrupted, p.foreign, p.duplicated, p.unmeasured = 0, 0, 0, 0
	again := make([]*integrity.Ledger, len(b.streams)) // of this reading alone, so that copies are counted
	p.head = newHead(len(b.streams))
	b.ask(ctx, back, p)
	quiet.Reset(silence)
	take, over := taking(quiet, func(k driver.Kept) { b.take(p, again, k) })
	reading, err := back.ReadBack(ctx, p.Place, take)
	over()
	switch {
	case err == nil:
		p.read, p.reading, p.since, p.ledgers, p.forgotten = true, reading, 0, again, forgotten(again)
		b.decideHead(p)
		quiet.Stop()
		b.readReplicas(whole, back, p)
	case errors.Is(err, driver.ErrNoTopic):
		now := clock.Now()
		if p.since == 0 {
			p.since = now
		}
		if now-p.since >= int64(absence) {
			p.read, p.absent = true, true
			return nil
		}
	default:
		p.since = 0
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("%w: %w", cause, err)
		}
	}
	return err
}

// untilSilent returns a context that ends when the timer, which runs already, has not been put off for silence,
// and a function that ends both.
func untilSilent(ctx context.Context) (_ context.Context, quiet *time.Timer, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	quiet = time.AfterFunc(silence, func() {
		cancel(fmt.Errorf("%w: nothing came in %v", driver.ErrTimeout, silence))
	})
	return ctx, quiet, func() {
		quiet.Stop()
		cancel(nil)
	}
}

// taking returns a function that calls take and puts off when nothing has come for too long, and one after
// which it does neither: a client may still be reading when ctx is over.
func taking(quiet *time.Timer, take driver.Take) (_ driver.Take, over func()) {
	var mu sync.Mutex // held while take runs
	ended := false
	return func(k driver.Kept) {
			mu.Lock()
			defer mu.Unlock()
			if !ended {
				quiet.Reset(silence)
				take(k)
			}
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			ended = true
		}
}

// take ticks a message off that was read from p.
func (b *Back) take(p *place, again []*integrity.Ledger, k driver.Kept) {
	of, seq, what := b.identify(p, k.Payload)
	if of != nil {
		p.head.came(of.ID, seq)
	}
	switch what {
	case damaged:
		p.corrupted++
	case foreign:
		p.foreign++
	case unmeasured:
		p.unmeasured++
	case measured:
		mark(p.ledgers, of, seq)
		if mark(again, of, seq) != integrity.New {
			p.duplicated++
		}
		for _, r := range p.replicas {
			r.placed(k, of, seq)
		}
	}
}

// The kinds of messages that a place has.
type kind int

const (
	measured   kind = iota // of the load's window
	unmeasured             // of the load, sent outside the window
	foreign                // of no load of this run, or of another
	damaged
)

// identify returns the stream and the number of a message of the load that was read from p; nil: it is of none.
func (b *Back) identify(p *place, payload []byte) (of *stream.Stream, seq uint64, what kind) {
	var e integrity.Envelope
	switch check := e.Get(payload, true); {
	case check == integrity.Damaged:
		return nil, 0, damaged
	case check == integrity.Short, e.Run != b.Id:
		return nil, 0, foreign
	case e.Kind != integrity.Data: // sent before the load
		return nil, 0, unmeasured
	case int(e.Stream) >= len(b.streams) || b.streams[e.Stream].Plan.Topic != p.topic:
		return nil, 0, foreign
	}
	of = b.streams[e.Stream]
	if !of.Begun || e.Sequence < of.First || e.Sequence >= of.Last {
		return of, e.Sequence, unmeasured
	}
	return of, e.Sequence, measured
}

// mark ticks a message off in the ledger of its stream, which it makes if it does not exist yet.
func mark(ledgers []*integrity.Ledger, of *stream.Stream, seq uint64) integrity.Mark {
	if ledgers[of.ID] == nil {
		ledgers[of.ID] = integrity.NewLedger(0)
	}
	return ledgers[of.ID].Mark(seq)
}

// errForgotten says why it is not known what a place has although it was read to its end.
var errForgotten = errors.New("more was read than can be remembered, in an order other than that of the numbers")

// forgotten returns how many messages ledgers could not keep.
func forgotten(ledgers []*integrity.Ledger) (n int64) {
	for _, l := range ledgers {
		if l != nil {
			ticked, late := l.Forgotten()
			n += ticked + late
		}
	}
	return n
}

// has reports whether a message is ticked off.
func has(ledgers []*integrity.Ledger, of *stream.Stream, seq uint64) bool {
	return ledgers[of.ID] != nil && ledgers[of.ID].Has(seq)
}

// conclude fills the record in. err is why not all places were read.
func (b *Back) conclude(err error) {
	r := &b.found
	read := 0
	r.Whole = len(b.places) > 0
	for _, p := range b.places {
		x := result.ReadPlace{Topic: p.Topic, Group: p.Group, Log: p.Log, AtMostOnce: p.AtMostOnce, Absent: p.absent}
		if p.read {
			read++
			x.Until, x.Removed, x.Copy, x.Messages = string(p.reading.Until), p.reading.Removed, p.reading.Copy, p.reading.Messages
			if x.Dropped, x.Forgotten = p.reading.Dropped, p.forgotten; p.forgotten > 0 {
				err = cmp.Or(err, errForgotten)
			}
			r.Read, r.Corrupted, r.Foreign = r.Read+x.Messages, r.Corrupted+p.corrupted, r.Foreign+p.foreign
			r.Duplicated, r.Unmeasured = r.Duplicated+p.duplicated, r.Unmeasured+p.unmeasured
		} else if p.err != nil {
			x.Error = p.err.Error()
		}
		if x.NotAskable = p.notAskable(); p.noReplicas != nil {
			x.NoReplicas = p.noReplicas.Error()
		}
		r.Whole = r.Whole && p.read && p.Log && p.group < 0 && !x.Removed && p.forgotten == 0
		if len(r.Places) < result.MostReadPlaces {
			r.Places = append(r.Places, x)
		} else {
			r.MorePlaces++
		}
	}
	switch {
	case err == nil:
		r.Outcome = result.ReadBackDone
	case len(b.places) == 0 && errors.Is(err, driver.ErrUnsupported):
		r.Outcome = result.ReadBackNothingKept
	case read > 0:
		r.Outcome = result.ReadBackPartly
	default:
		r.Outcome = result.ReadBackFailed
	}
	if err != nil {
		r.Why = err.Error()
	}
}

// Record returns what was read, for the accounts to be filled in.
func (b *Back) Record() *result.ReadBack { return &b.found }

// Fate is what reading back tells of a message.
type Fate int

// The values of Fate.
const (
	Unread  Fate = iota // not known: where it would be kept was not read
	Kept                // the broker keeps it
	Dropped             // a limit of the broker has removed it
	Removed             // the broker does not keep it, and may have removed it by a limit or handed it out
	Gone                // the broker does not keep it, and has no reason not to
)

// Fate returns that of a message for a delivery group of the layout, or for all of them if group is −1:
// then it is kept if each place has it that should. A place that was read until no more came may have it
// after all.
func (b *Back) Fate(group int, st *stream.Stream, seq uint64) Fate {
	fate := Unread
	for _, p := range b.places {
		if p.topic != st.Plan.Topic || p.group >= 0 && group >= 0 && p.group != group {
			continue
		}
		switch {
		case has(p.ledgers, st, seq):
			fate = max(fate, Kept)
			continue
		case !p.read || p.reading.Until == driver.ReadToSilence || p.forgotten > 0:
			return Unread
		case p.AtMostOnce && group >= 0:
			fate = max(fate, Removed)
			continue
		case p.reading.Removed:
			fate = max(fate, p.head.fate(st, seq))
			continue
		}
		fate = Gone
	}
	return fate
}
