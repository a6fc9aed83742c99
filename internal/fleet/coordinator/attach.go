package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/clock"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
)

// Attachment is a run whose coordinator died, and which another one finishes.
type Attachment struct {
	Conn    *nats.Conn
	Version string
	Run     string
	// Collector makes the collector from what the first coordinator's Config.Note says.
	Collector func(note []byte) (Collector, error)
	Abort     <-chan struct{} // as Config.Abort
	Say       func(line string)
}

// Errors of [Attach]. The text names the run.
var (
	// ErrLed: the run has its coordinator.
	ErrLed = errors.New("the run has its coordinator")
	// ErrNotStarted: its coordinator died before the start.
	ErrNotStarted = errors.New("the run was never started")
)

// Attach goes on with a run whose coordinator died: it collects what the control plane and the agents have, waits for what
// goes on, and ends as [Run] does. The result is the same, since all records are kept until they are confirmed. The
// error about a run that is not there wraps [control.ErrNoRun].
func Attach(ctx context.Context, a Attachment) (*Outcome, error) {
	stream, err := control.Stream(ctx, a.Conn, a.Run)
	if err != nil {
		return nil, err
	}
	switch led, err := Led(ctx, a.Conn, a.Version, a.Run); {
	case err != nil:
		return nil, err
	case led:
		return nil, fmt.Errorf("%w: %s", ErrLed, a.Run)
	}
	m, err := manifestOf(ctx, stream, a.Version, a.Run)
	if err != nil {
		return nil, err
	}
	c, err := a.Collector(m.Note)
	if err != nil {
		return nil, err
	}
	r := &run{Config: Config{Conn: a.Conn, Version: a.Version, Run: a.Run, Collector: c, Note: m.Note, Abort: a.Abort, Say: a.Say,
		Patience: time.Duration(m.Patience), Limit: time.Duration(m.Limit), Choose: func(wire.Hello) bool { return false }},
		byID: map[string]*member{}, started: Started{Run: a.Run, Clock: m.Clock, Start: m.Start}}
	for i, x := range m.Members {
		k := &member{index: i, Member: Member{Hello: x.Hello, Segment: x.Segment, Offset: x.Offset, Bound: x.Bound}, heard: clock.Now(), proved: x.Bound}
		r.members, r.byID[x.Hello.ID] = append(r.members, k), k
		r.started.Members = append(r.started.Members, k.Member)
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	deaf, err := r.listen()
	if err != nil {
		return nil, err
	}
	defer deaf()
	stopPulse := r.beat(own)
	defer stopPulse()
	start, known := r.startHere(own)
	r.over = clock.Now() + int64(r.Patience) // nobody goes on: what is there is all
	if known {
		r.over = start + int64(r.Limit) + int64(r.Patience)
	}
	if err := r.goOn(own, known && start > clock.Now()); err != nil {
		return nil, err
	}
	if err := r.Collector.Begin(&r.started); err != nil {
		return nil, fmt.Errorf("begin the result: %w", err)
	}
	if r.records, err = newRecords(own, stream, r.Run); err != nil {
		return nil, err
	}
	r.say("run %s of %s has a coordinator again", r.Run, names(r.hellos()))
	return r.collect(ctx, own)
}

// manifestOf reads what a run is.
func manifestOf(ctx context.Context, stream jetstream.Stream, version, run string) (*wire.Manifest, error) {
	msg, err := stream.GetLastMsgForSubject(ctx, wire.ManifestSubject(run))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, fmt.Errorf("%w: %s", ErrNotStarted, run)
	}
	if err != nil {
		return nil, fmt.Errorf("read what run %s is: %w", run, err)
	}
	m := &wire.Manifest{}
	if err := wire.Decode(version, msg.Data, m); err != nil {
		return nil, fmt.Errorf("read what run %s is: %w", run, err)
	}
	return m, nil
}

// startHere is the common start on this process's clock; false if no clock of the run can be compared with it.
func (r *run) startHere(ctx context.Context) (int64, bool) {
	if r.started.Clock == clock.Domain() {
		return r.started.Start, true
	}
	for _, m := range r.members {
		if c, err := AskClock(ctx, r.Conn, &m.Hello, 0); err == nil {
			return r.started.Start + m.Offset - c.Offset, true
		}
	}
	return 0, false
}

// goOn gives the start to agents that were not given it, if it is ahead; else their runs are ended: they could only begin when
// the others are elsewhere.
func (r *run) goOn(ctx context.Context, ahead bool) error {
	seen, err := Survey(ctx, r.Conn, r.Version)
	if err != nil {
		return err
	}
	for _, s := range seen {
		m := r.byID[s.Hello.ID]
		if m == nil || s.Err != nil || s.Status.Run != r.Run {
			continue
		}
		m.status = s.Status
		r.heard(m)
		switch {
		case s.Status.State != wire.Preparing:
		case ahead:
			m.told = r.request(ctx, m, wire.RequestGo, &wire.Go{Run: r.Run, Point: wire.Ready, At: r.started.Start + m.Offset, Bound: m.Bound})
		default:
			m.told = errors.New("its coordinator died before that")
			r.tell(ctx, []*member{m}, wire.RequestStop, &wire.Stop{Run: r.Run, AtOnce: true, Why: "it was not given the start"})
		}
	}
	return nil
}
