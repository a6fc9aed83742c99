package send

import (
	"errors"
	"slices"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
	"sixnines/result"
)

// refusals counts a lane's refused messages of the window by the class of their error, see
// driver.Classes; errors without a class have the last entry.
type refusals [12]struct {
	n     atomic.Int64
	first atomic.Pointer[refusal]
}

// refusal is why a message was refused, and when. It does not change once it is stored.
type refusal struct {
	err error
	at  int64 // CLOCK_MONOTONIC
}

// add counts a refused message. It is safe for concurrent use: of several first ones only the one that
// makes the count 1 stores its error. Until then a reader finds a count without an error.
func (r *refusals) add(err error) {
	classes := driver.Classes()
	class := slices.IndexFunc(classes, func(c error) bool { return errors.Is(err, c) })
	if class < 0 {
		class = len(classes)
	}
	if of := &r[class]; of.n.Add(1) == 1 {
		of.first.Store(&refusal{err, clock.Now()})
	}
}

// ReportRefusals writes an event for each class of errors by which messages of the window were
// refused: how many since the last call, and the first error of all. It is called once an interval
// and at the end, by one goroutine at a time.
func (s *Sending) ReportRefusals() {
	for class := range s.reportedRefusals {
		var n int64
		var first *refusal
		for _, l := range s.Lanes {
			of := &l.refusals[class]
			x := of.first.Load()
			if x == nil {
				continue // no refusal, or add has not stored the first yet: they count next time
			}
			n += of.n.Load()
			if first == nil || x.at < first.at {
				first = x
			}
		}
		before := &s.reportedRefusals[class]
		if n <= before.n {
			continue
		}
		if before.first == nil {
			before.first = first // later ones are the same event
		} else {
			first = &refusal{before.first.err, clock.Now()}
		}
		s.Event(result.Event{At: first.at, Kind: result.EventRefused, Detail: first.err.Error(), Class: plan.ClassName(first.err), Count: n - before.n})
		before.n = n
	}
}

// reportedRefusal is what events have reported of a class of refusals so far.
type reportedRefusal struct {
	n     int64
	first *refusal // nil: no event yet
}
