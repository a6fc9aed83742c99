// Package enginetest runs loads in virtual time.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/clock/clocktest"
	"sixnines/internal/engine"
	"sixnines/internal/engine/actions"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
	"sixnines/scenario"
)

// Load is a scenario for driver mem, and what happens to it while it runs.
type Load struct {
	// Scenario is its text, with the driver's options.
	Scenario string
	// Interrupt, if not 0, is when the run is interrupted, from the start of the first
	// window: below 0 it is in the warm-up. The window ends a moment later, see the
	// event of kind "interrupted".
	Interrupt time.Duration
	// Abort, if not 0, is when the run is ended at once, without a drain; from the start of the first
	// window.
	Abort time.Duration
	// Actions happen to the broker, each on a goroutine of its own.
	Actions []Action
	// Doer is [engine.Config.Doer].
	Doer func(*scenario.Act) (actions.Doer, error)
	// Change, if not nil, changes the driver, before anything is checked.
	Change func(*driver.Entry)
	// DropEvery is [engine.Config.DropEvery].
	DropEvery int64
	// Late is how much later than the others the last process of [Crew] comes to each point.
	Late time.Duration
	// Segment is [engine.Config.Segment].
	Segment *result.Segment
	// File is where the result is written; empty: it is only returned.
	File string
	// Observer and Exporter are those of [engine.Config].
	Observer func(engine.Progress)
	Exporter engine.Exporter
}

// Action happens at At from the start of the first window.
type Action struct {
	At time.Duration
	Do func(*mem.Broker)
}

// Run runs the load in a bubble of its own, in virtual time, and returns its result, summary and
// verdict included, as [engine.Run] does. Everything that takes time takes exactly that: a
// driver that delays nothing delivers at the instant of sending. The same scenario gives
// the same counts each time, except for what several goroutines do at the very same
// instant: closed loops of several producers without random think times, and pacers
// after one of their connections was blocked.
//
// For consumers that come late mem is made to keep what is sent before.
//
// Flat out something must take time, or the number of messages must be limited
// and the warm-up left out: otherwise an instant would never end, and Run refuses the load.
func Run(t *testing.T, l Load) (r *result.Run, err error) {
	t.Helper()
	s, err := Scenario(l.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	if err := ends(s); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { r, err = run(t.Context(), s, l) })
	return r, err
}

// Verified is [Run] of a load that does not fail, and checks what must hold of every run.
func Verified(t *testing.T, l Load) *result.Run {
	t.Helper()
	if l.File == "" {
		l.File = t.TempDir() + "/run.jsonl"
	}
	r, err := Run(t, l)
	if err != nil {
		t.Fatal(err)
	}
	return judgetest.Verified(t, r, l.File)
}

// Scenario reads a scenario as Run does: normalised and valid.
func Scenario(text string) (*scenario.Scenario, error) {
	s, err := scenario.Parse("virtual.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	s.Normalise()
	return s, s.Validate()
}

// comesLate reports whether consumers of any load connect late.
func comesLate(s *scenario.Scenario) bool {
	return slices.ContainsFunc(s.Parts(), func(p scenario.Part) bool { return p.Scenario.ComesLate() })
}

// run is Run inside the bubble.
func run(ctx context.Context, s *scenario.Scenario, l Load) (*result.Run, error) {
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	abort := make(chan struct{})
	broker := mem.New()
	entry := broker.Entry()
	if comesLate(s) {
		keeping(&entry)
	}
	if l.Change != nil {
		l.Change(&entry)
	}
	var timers []*time.Timer
	defer func() {
		for _, t := range timers {
			t.Stop()
		}
	}()
	begun := func(start time.Time) {
		at := func(d time.Duration, do func()) {
			timers = append(timers, time.AfterFunc(time.Until(start.Add(d)), do))
		}
		if l.Interrupt != 0 {
			at(l.Interrupt, interrupt)
		}
		if l.Abort != 0 {
			at(l.Abort, func() { close(abort) })
		}
		for _, a := range l.Actions {
			at(a.At, func() { a.Do(broker) })
		}
	}
	defer time.Sleep(time.Hour) // consumers that the run did not wait for end their work
	return engine.Run(ctx, engine.Config{Scenario: s, Entry: entry, File: l.File, DropEvery: l.DropEvery, Segment: l.Segment, Abort: abort, Doer: l.Doer,
		Observer: l.Observer, Exporter: beginning{l.Exporter, begun}, Virtual: clocktest.New()})
}

// beginning is an exporter that calls begun when the load begins, with the start of the first window.
type beginning struct {
	engine.Exporter // gets everything too; nil: only begun is called
	begun           func(start time.Time)
}

// Begin implements [engine.Exporter].
func (b beginning) Begin(headers []result.Header) {
	if b.Exporter != nil {
		b.Exporter.Begin(headers)
	}
	first := headers[0].Started.Add(-headers[0].From)
	b.begun(first)
}

// Interval implements [engine.Exporter].
func (b beginning) Interval(v *result.Interval, added func(visit func(m result.Metric, low, high, count int64))) {
	if b.Exporter != nil {
		b.Exporter.Interval(v, added)
	}
}

// ends refuses a load that takes no time, so that an instant would never end.
func ends(s *scenario.Scenario) error {
	for _, p := range s.Parts() {
		w := &p.Scenario.Workload
		if !w.Rate.IsMax() || w.Consumer.Work > 0 || w.Messages > 0 && p.Scenario.Phases.Warmup == 0 {
			continue
		}
		o := mem.DefaultOptions()
		if err := driver.DecodeOptions(p.Scenario.Target.Options, &o); err != nil {
			return err
		}
		if o.Delay == 0 && o.AckDelay == 0 {
			return fmt.Errorf("flat out in virtual time: %w: give mem a delay or an ack_delay, the consumers work, or limit workload.messages and leave the warm-up out", errNothing)
		}
	}
	return nil
}

var errNothing = errors.New("nothing takes time")
