package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/beside"
	"sixnines/internal/engine/output"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/process"
	"sixnines/internal/engine/session"
	"sixnines/internal/engine/watch"
	"sixnines/internal/engine/window"
	"sixnines/result"
)

// setupTimeout bounds connecting, provisioning, and waiting for first messages; of an agent each of these, not the wait for others.
const setupTimeout = 30 * time.Second

// lead is the time between deciding on the start and the first message due.
const lead = 5 * time.Millisecond

// execute goes through the phases. Whatever was opened is closed again. With plan.ErrAborted there may
// be a result, which was cut short.
func (r *run) execute(ctx context.Context) (run *result.Run, err error) {
	// The output is made first: drivers may report events from Open on. It is
	// written to once the header is.
	if r.out, err = output.New(r.config.File, r.config.Scenario.Secrets(r.config.Entry.Secret)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.out.Discard()
		}
	}()
	r.progress(Progress{Phase: "connect"})
	for _, ld := range r.loads {
		ld.side = beside.Start(ld.session, ld.recording, r.config.Probe)
		defer func() { ld.side.End(err != nil) }()
	}
	if err := r.setUp(ctx); err != nil {
		return nil, r.giveUp(err)
	}
	if r.config.Connected != nil {
		r.config.Connected(r.ends())
	}
	for _, ld := range r.loads {
		if ld.warmsUntilStable() {
			ld.warmUntilStable(ctx)
		}
		ld.awaitAnswers(ctx)
		ld.side.Begin()
	}
	if err := r.RefusedEarly(); err != nil {
		return nil, r.giveUp(err)
	}
	r.watch = watch.Start(watch.Options{Virtual: r.Virtual != nil, Idle: r.config.Idle, Connections: r.openConns(),
		Usage: r.config.Usage, Event: r.out.Event, Breathe: r.breath.take})
	defer r.watch.Stop()
	r.Frozen = r.watch.Frozen()
	for _, ld := range r.loads {
		ld.accounts.Sampler = ld.accounts.NewSampler()
	}
	defer r.raiseProcs()()
	if r.Virtual == nil {
		r.held = process.HoldCollector()
		defer r.held.Release()
	}

	col, aborted, err := r.measure(ctx)
	if err != nil {
		return nil, r.giveUp(err)
	}
	for _, ld := range r.loads {
		ld.side.Stop()
	}
	r.Observed = clock.Now()
	var leftOver error
	for _, ld := range r.loads {
		leftOver = errors.Join(leftOver, ld.leave())
		ld.side.End(aborted)
	}
	if err := r.readBack(ctx, col, aborted); err != nil {
		return nil, r.giveUp(err)
	}
	r.part()
	leftOver = errors.Join(leftOver, r.close())
	res, err := col.finish(leftOver, aborted)
	if err != nil {
		return nil, err
	}
	if aborted {
		return res, plan.ErrAborted
	}
	return res, nil
}

// readBack reads what the broker keeps of the loads that ask for it. The last interval is written
// first: it ends with the clients, however long reading takes.
func (r *run) readBack(ctx context.Context, col *collector, aborted bool) error {
	if aborted {
		return nil
	}
	if ctx.Err() != nil { // it has ended the window; Abort ends the reading
		ctx = context.WithoutCancel(ctx)
	}
	wrote := false
	for _, ld := range r.loads {
		if ld.accounts.Back == nil {
			continue
		}
		if !wrote {
			if err := col.rest(); err != nil {
				return err
			}
			wrote = true
		}
		for _, st := range ld.accounts.Sending.Streams { // without a schedule, a load ends with its last message
			st.End()
		}
		ld.accounts.Back.Read(ctx)
	}
	return nil
}

// setUp connects all loads and sees to it that their messages arrive.
func (r *run) setUp(ctx context.Context) error {
	setup, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	each := 4 * setupTimeout
	if r.config.Segment == nil { // else the fleet says how long all may take, and for which agent it waited
		var cancel context.CancelFunc
		setup, cancel = context.WithTimeout(setup, setupTimeout)
		defer cancel()
	}
	go func() {
		select {
		case <-r.Refused:
			refuse(r.RefusedEarly())
		case <-setup.Done():
		}
	}()
	steps := []func(*load, context.Context) error{(*load).open, (*load).connect, (*load).awaitReadiness}
	for i, step := range steps {
		if err := r.meet(setup, i); err != nil {
			return err
		}
		for _, ld := range r.loads {
			limited, cancel := context.WithTimeout(setup, each)
			defer cancel()
			err := step(ld, limited)
			if why := r.RefusedEarly(); why != nil {
				err = why // the step's own error is its consequence
			} else if err != nil && ctx.Err() != nil {
				err = fmt.Errorf("%w before the load began", plan.ErrAborted) // likewise: the step was interrupted
			}
			if err != nil {
				return ofWorkload(ld.Part.Name, err)
			}
		}
	}
	if err := r.meet(setup, len(steps)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w before the load began", plan.ErrAborted)
	}
	for _, ld := range r.loads {
		if ld.Workload.Retains() {
			r.progress(Progress{Phase: "connect", Workload: ld.Part.Name, LeftAs: ld.Name})
		}
	}
	return nil
}

// raiseProcs gives each pacer, the hiccup meter's thread and the sampler a
// processor of its own beside those for the client's goroutines: the meter keeps
// its processor while it sleeps in the kernel, and a pacer that wakes must find one. With one
// too few a delivery now and then found none, and waited until the runtime's monitor
// took one away from a sleeping thread, up to 10 ms later: the p99 of 20,000 messages a second
// was 7 ms instead of a third of one.
func (r *run) raiseProcs() (restore func()) {
	if r.Virtual != nil {
		return func() {}
	}
	process.Hold()
	base, more := plan.Processors(), r.watch.Threads()
	for _, ld := range r.loads {
		if ld.accounts.Sampler != nil {
			more++
		}
		if ld.Schedule != nil {
			more += ld.MostPacers()
		}
		if ld.churn != nil {
			more++
		}
	}
	process.SetProcessors(base + more)
	return process.Release
}

// measure goes from the warm-up to the end of the drain. When it returns, senders, acts, the samplers and
// the collector have ended, so that their fields may be read.
func (r *run) measure(ctx context.Context) (col *collector, aborted bool, err error) {
	defer r.halt()
	var ahead time.Duration
	for _, ld := range r.loads {
		before, err := ld.sender.Prepare(ctx)
		if why := r.RefusedEarly(); why != nil {
			err = why
		}
		if err != nil {
			return nil, true, ofWorkload(ld.Part.Name, err)
		}
		ahead = max(ahead, before)
	}
	for _, ld := range r.loads {
		ld.startStages()
	}
	start := clock.Now() + int64(lead) + int64(ahead)
	if r.config.Start != nil {
		if start, err = r.config.Start(ctx, start); err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("%w before the load began", plan.ErrAborted)
			}
			return nil, true, err
		}
	}
	r.fixWindow(start)
	if err := r.writeHeader(start); err != nil {
		return nil, false, err
	}
	col = r.startCollector()
	r.startActs()
	for _, ld := range r.loads {
		ld.accounts.StartSampler()
		ld.sender.Start()
		ld.churn.Begin()
		ld.receiving.StartDepth(ld.sending.Senders.Go)
	}
	aborted = r.untilEnd(ctx)
	if r.interrupted {
		r.acts.Interrupt()
	}
	if !r.early {
		aborted = r.drain(ctx, aborted)
	}
	for _, ld := range r.loads {
		ld.accounts.Sampled()
	}
	r.halt()
	err = col.wait()
	if why := r.RefusedEarly(); why != nil {
		err = errors.Join(why, err)
	} else if r.early {
		err = errors.Join(fmt.Errorf("%w in the warm-up: nothing has been measured", plan.ErrAborted), err)
	}
	return col, aborted, err
}

// fixWindow fixes the run's window and those of the loads. start is CLOCK_MONOTONIC.
func (r *run) fixWindow(start int64) {
	r.Fix(start, start+int64(r.length))
	r.Begins.Store(start)
	for _, ld := range r.loads {
		begin := start + int64(ld.Part.From)
		ld.Fix(begin, begin+int64(ld.Length))
	}
}

// endLook is how long untilEnd may sleep before it looks again: the window's end may be moved.
const endLook = 10 * time.Millisecond

// untilEnd waits for the end of the window. The end of ctx moves it to graceOfEnd from now. aborted says
// that the run ends at once, without a drain.
func (r *run) untilEnd(ctx context.Context) (aborted bool) {
	done := ctx.Done()
	for {
		r.Quiesce(window.OrderRun)
		all := r.allSent() // before the clock is read: what was sent meanwhile would be behind the end
		now := clock.Now()
		end := r.End.Load()
		if now >= end || all {
			r.endAll(now + 1) // messages sent at this instant are part of the window
			return false
		}
		select {
		case <-done:
			if r.early = clock.Now() < r.Start.Load(); r.early {
				return true
			}
			r.interrupt()
			done = nil
		case <-r.config.Abort:
			r.early = clock.Now() < r.Start.Load()
			r.interrupt()
			return true
		case <-r.Refused:
			r.early = true
			return true
		case <-r.Past:
		case <-time.After(min(time.Duration(end-now), endLook)):
		}
	}
}

// allSent reports whether the windows of all loads are limited by a number of messages, and all of these
// were sent. (Without a limit a sender is past the window a moment before its end, as soon as
// no more messages are due in it.)
func (r *run) allSent() bool {
	for _, ld := range r.loads {
		if !ld.sending.Left.Limited || !ld.sending.IsPast() {
			return false
		}
	}
	return true
}

// endAll moves to now, CLOCK_MONOTONIC, the ends of all windows that end later. One that has not
// begun is then empty. It is safe for concurrent use.
func (r *run) endAll(now int64) {
	window.Lower(&r.End, now)
	for _, ld := range r.loads {
		ld.EndBy(now)
	}
}

// graceOfEnd is how far ahead an interruption puts the window's end, so that no message from after
// it is being sent at that moment.
const graceOfEnd = 20 * time.Millisecond

// interrupt ends the window on request.
func (r *run) interrupt() {
	if r.shorten(result.EventInterrupted) {
		r.interrupted = true
	}
}

// shorten ends the window graceOfEnd from now, unless it ends before that, and reports whether it did.
// Messages due later are not part of it. It is safe for concurrent use: the collector calls it, too.
func (r *run) shorten(why result.EventKind) bool {
	now := clock.Now() + int64(graceOfEnd)
	if !window.Lower(&r.End, now) {
		return false
	}
	r.endAll(now)
	r.out.Event(result.Event{At: now, Kind: why, Detail: "the window ends here"})
	return true
}

// drain waits until every measured message is resolved, or the limit. The load
// goes on meanwhile. Where consumers come late, so that it may take long, the end of
// the context ends it too, unless that has ended the window.
func (r *run) drain(ctx context.Context, aborted bool) bool {
	var enough <-chan struct{}
	if r.hasLate() && ctx.Err() == nil {
		enough = ctx.Done()
	}
	limit := clock.Now() + int64(r.scenario.Phases.Drain)
	var last int64
	for _, ld := range r.loads {
		aborted = ld.sender.Finish(aborted)
		last = max(last, ld.End.Load())
	}
	window.Lower(&r.End, last) // an unpaced load may be done sooner
	for !aborted && !r.resolved() && clock.Now() < limit && !r.stalled() {
		select {
		case <-r.config.Abort:
			aborted = true
		case <-enough:
			r.out.Event(result.Event{At: clock.Now(), Kind: result.EventInterrupted, Detail: "the drain ends here"})
			return aborted
		case <-time.After(2 * time.Millisecond):
		}
		r.Quiesce(window.OrderRun)
	}
	return aborted
}

// resolved reports whether nothing measured is outstanding in any load.
func (r *run) resolved() bool {
	for _, ld := range r.loads {
		if !ld.resolved() {
			return false
		}
	}
	return true
}

// halt stops acts, senders and what supervises them, and returns when they have ended. A second call
// does nothing.
func (r *run) halt() {
	r.acts.End()
	r.StopAll()
	// A send that the broker blocks ends when its connection is closed, or, where the
	// client has made that itself, its session.
	done := make(chan struct{})
	go func() {
		for _, ld := range r.loads {
			ld.sending.Senders.Wait()
		}
		r.acts.Wait()
		close(done)
	}()
	for _, end := range []func(*session.Session){(*session.Session).Cut, (*session.Session).GiveUp} {
		select {
		case <-done:
			return
		case <-time.After(time.Second):
			for _, ld := range r.loads {
				end(ld.session)
			}
		}
	}
	<-done
}
