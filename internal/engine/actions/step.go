package actions

import (
	"context"
	"time"

	"sixnines/result"
	"sixnines/scenario"
)

// Doer does one act. It knows what it acts on: the executor knows neither loads nor brokers. One that
// changes what outlives the process notes first, in its journal, how that is undone, and does nothing if
// that fails.
type Doer interface {
	// Do does the act, and returns when it happened, CLOCK_MONOTONIC; 0: when Do returned.
	// at is when it was due. The context ends when the act must be undone, and with the run; an act
	// that had not happened by then returns the context's error.
	Do(ctx context.Context, at int64) (happened int64, err error)
}

// Undoer is a Doer whose act lasts. Undo restores what was before and returns when that
// happened, as Do does. It is called once for each Do that was called, whether that succeeded,
// failed or panicked, and never while Do runs.
type Undoer interface {
	Doer
	Undo(ctx context.Context) (happened int64, err error)
}

// Early is a Doer that is called Ahead before its act's instant, and waits for that by itself.
type Early interface {
	Ahead() time.Duration
}

// Describer is a Doer that adds to the events of its act what only it knows: to which nodes it happened, and
// closer bounds of its instant than the calls of Do or Undo, where it has them. It is called after Do or Undo has
// returned, and never while one of them runs.
type Describer interface {
	Describe(e *result.Event)
}

// Step is an act of the plan with what does it. The caller fills the exported fields before
// [Executor.Start], which fills in Ready; they do not change afterwards.
type Step struct {
	Number int    // in the plan, from 1; 0: the step is not in the plan
	Text   string // the act in the notation of scenarios
	At     int64  // when it is to happen, CLOCK_MONOTONIC; 0 where Ready decides
	// Ready, if not nil, waits until the act may happen, instead of until At; false: the run
	// is over.
	Ready func() bool
	For   time.Duration // how long it lasts, if Doer is an Undoer
	// Always has it happen after an interruption, too.
	Always bool
	Doer   Doer
	// Told has what events of the step have in common: kind, detail and count.
	Told  result.Event
	Event func(result.Event) // takes events, whose instants are CLOCK_MONOTONIC; safe for concurrent use

	// Made by Start.
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when Do has returned
	undone chan struct{} // closed when Undo has returned

	began int64 // when it happened, CLOCK_MONOTONIC; 0: it has not. Written before done is closed, read after
	over  bool  // a goroutine undoes it, or has; guarded by Executor.mu
}

// NewStep returns the step of an act, without its Doer and its instant. number is that of the act in the plan, from 1.
func NewStep(a *scenario.Act, number int, event func(result.Event)) *Step {
	return &Step{Number: number, Text: a.String(), For: a.Length(), Event: event,
		Told: result.Event{Kind: result.EventAction, Detail: string(a.Kind) + ": " + string(a.Subject)}}
}
