// Package actions carries out the acts of a run's plan. Each is done, timed when it really happened,
// and undone in every case: when its time is over, when the run ends or is interrupted, and when its
// Doer fails or panics. The caller gives each act its Doer; one that changes the machine notes in
// internal/journal how that is undone if this process is killed.
package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/window"
	"sixnines/result"
)

// patience is how long undoing waits for a Do that has not returned, and how long Undo may
// take when the run ends or is interrupted. Undo takes at most inTime when its time is over: a broker
// may be slow to start.
const (
	patience = 30 * time.Second
	inTime   = 2 * time.Minute
)

// ending is the key of the contexts of Undo at the end of a run.
type ending struct{}

// ErrInterrupted is the cause with which the context of a Do ends when the run was interrupted.
var ErrInterrupted = errors.New("the run was interrupted")

// Ends reports whether the context of an Undo is that of the end of the run: the machine must be as it was,
// and the run needs nothing any more.
func Ends(ctx context.Context) bool { return ctx.Value(ending{}) != nil }

// Executor carries out steps. Its methods are safe for concurrent use.
type Executor struct {
	life    *window.Life
	ctx     context.Context // of all steps; End cancels it
	cancel  context.CancelCauseFunc
	running sync.WaitGroup // steps that are carried out, each on a goroutine

	mu          sync.Mutex // guards the rest, and over of each step
	on          []*Step    // steps that last and are not undone, in the order in which they were done
	interrupted bool       // Interrupt was called
	ended       bool       // End was called
}

// New returns an executor of a run.
func New(life *window.Life) *Executor {
	x := &Executor{life: life}
	x.ctx, x.cancel = context.WithCancelCause(context.Background())
	return x
}

// Start has each step done when it is due, on a goroutine of its own, and returns. Steps do not wait for
// each other.
func (x *Executor) Start(steps []*Step) {
	for _, s := range steps {
		s.done, s.undone = make(chan struct{}), make(chan struct{})
		s.ctx, s.cancel = context.WithCancelCause(x.ctx)
		x.running.Go(func() { x.carryOut(s) })
	}
}

// Interrupt undoes the acts that last, the latest first, and waits for that. From then on only steps
// with Always are done.
func (x *Executor) Interrupt() {
	x.mu.Lock()
	x.interrupted = true
	x.mu.Unlock()
	x.undoAll()
}

// End undoes the acts that last, the latest first, and waits for that. From then on no step is done. It
// may be called again.
func (x *Executor) End() {
	x.mu.Lock()
	x.ended = true
	why := x.why()
	x.mu.Unlock()
	x.cancel(why)
	x.undoAll()
}

// why returns the cause with which contexts end now. The caller holds mu.
func (x *Executor) why() error {
	if x.interrupted {
		return ErrInterrupted
	}
	return nil
}

// Wait returns when no step is being carried out any more. The run must be over.
func (x *Executor) Wait() { x.running.Wait() }

// undoAll undoes the newest step until none lasts. It holds the lock only to look: undoing takes long,
// and takes the step out of the list under the lock itself.
func (x *Executor) undoAll() {
	for {
		x.mu.Lock()
		n := len(x.on)
		if n == 0 {
			x.mu.Unlock()
			return
		}
		s := x.on[n-1]
		x.mu.Unlock()
		x.undo(s, patience)
	}
}

// carryOut waits until a step is due, does it, and undoes it when its time is over.
func (x *Executor) carryOut(s *Step) {
	defer s.cancel(nil)
	if s.Ready == nil {
		at := s.At
		if early, is := s.Doer.(Early); is {
			at -= int64(early.Ahead())
		}
		s.Ready = func() bool { return x.life.SleepUntil(at) }
	}
	if !s.Ready() || !x.do(s) {
		return
	}
	// One that happened late lasts as long as one that was in time.
	if _, lasts := s.Doer.(Undoer); lasts && x.life.SleepUntil(max(s.At, s.began)+int64(s.For)) {
		x.undo(s, inTime)
	}
}

// do does a step, unless the run was interrupted or ended before; false: it was not done, or failed. The
// step is in the list before the lock is released, so an End that comes from then on undoes it; and one
// that came before is seen in ended.
func (x *Executor) do(s *Step) bool {
	_, lasts := s.Doer.(Undoer)
	x.mu.Lock()
	if x.ended || x.interrupted && !s.Always {
		x.mu.Unlock()
		return false
	}
	if lasts {
		x.on = append(x.on, s)
	}
	x.mu.Unlock()
	done, err := guarded(s.At, func() (int64, error) { return s.Doer.Do(s.ctx, s.At) })
	if err == nil {
		s.began = done.at
		planned := s.At
		if planned == 0 {
			planned = done.at
		}
		s.told(s.Told.Kind, done, planned, 0)
	} else if !errors.Is(err, context.Canceled) || s.ctx.Err() == nil { // else it was undone before it happened, which is no failure
		s.failed(err)
	}
	close(s.done)
	if err != nil {
		x.undo(s, patience)
	}
	return err == nil
}

// undo undoes a step that lasts, and returns when that is done. The step's own goroutine, Interrupt and
// End may call it at the same time: the first sets over and undoes, the others wait for it.
func (x *Executor) undo(s *Step, limit time.Duration) {
	undoer, lasts := s.Doer.(Undoer)
	if !lasts {
		return
	}
	x.mu.Lock()
	if s.over {
		x.mu.Unlock()
		<-s.undone
		return
	}
	s.over = true
	ended, why := x.ended, x.why()
	x.mu.Unlock()
	s.cancel(why)
	defer close(s.undone)
	began := int64(0)
	select {
	case <-s.done:
		began = s.began
	case <-time.After(patience):
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if ended {
		ctx = context.WithValue(ctx, ending{}, true)
	}
	undone, err := guarded(0, func() (int64, error) { return undoer.Undo(ctx) })
	switch {
	case err != nil:
		s.failed(fmt.Errorf("it could not be undone: %w", err))
	case began != 0:
		s.told(result.EventActionOver, undone, s.At+int64(s.For), began)
	}
	x.mu.Lock()
	x.on = slices.DeleteFunc(x.on, func(o *Step) bool { return o == s })
	x.mu.Unlock()
}

// interval is when something happened, CLOCK_MONOTONIC, and what bounds it on both sides.
type interval struct{ asked, at, done int64 }

// guarded calls f, which does nothing before a planned instant, and returns when what it did happened: when it
// returned, if f does not say. A panic of f becomes its error.
func guarded(planned int64, f func() (int64, error)) (when interval, err error) {
	called := max(clock.Now(), planned)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
		when.done = clock.Now()
		if when.at == 0 {
			when.at = when.done
		}
		when.asked = min(called, when.at)
	}()
	when.at, err = f()
	return when, err
}

// told writes an event of what happened to a step. planned is CLOCK_MONOTONIC; began is when the step had
// happened, if it is over now, and 0 otherwise.
func (s *Step) told(kind result.EventKind, when interval, planned, began int64) {
	e := s.Told
	e.At, e.Kind = when.at, kind
	if began != 0 {
		e.Count = 0
	}
	if s.Number > 0 {
		e.Action = &result.Acted{Number: s.Number, Planned: planned, Began: began, Asked: when.asked, Done: when.done}
		if d, is := s.Doer.(Describer); is {
			d.Describe(&e)
		}
		// The Doer's bounds are closer, if they are of this instant and not of the one before.
		if a := e.Action; a.Asked > e.At || a.Done < e.At {
			a.Asked, a.Done = when.asked, when.done
		}
	}
	s.Event(e)
}

// failed writes an event that a step did not happen, or was not undone.
func (s *Step) failed(err error) {
	s.Event(result.Event{At: clock.Now(), Kind: result.EventActionFailed, Detail: s.Text + ": " + err.Error(),
		Action: &result.Acted{Number: s.Number, Planned: s.At}})
}
