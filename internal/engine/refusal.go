package engine

import (
	"errors"
	"slices"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/result"
)

// className is the name of the class that err wraps; empty: it wraps none.
func className(err error) string {
	if class := driver.Class(err); class != nil {
		return class.Error()
	}
	return ""
}

// refusals counts a lane's refused messages of the window by the class of their error,
// see driver.Classes; those of none come after the last class.
type refusals [12]struct {
	n     atomic.Int64
	first atomic.Pointer[refusal]
}

// refusal is why a message was refused, and when.
type refusal struct {
	err error
	at  int64
}

// add counts a refused message. It is safe for concurrent use.
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

// tellRefusals writes, when nothing is sent any more, an event for each class of errors by
// which messages of the window were refused: how many, and the first error.
func (s *sending) tellRefusals() {
	for class := range len(refusals{}) {
		var n int64
		var first *refusal
		for _, l := range s.lanes {
			of := &l.refusals[class]
			n += of.n.Load()
			if x := of.first.Load(); x != nil && (first == nil || x.at < first.at) {
				first = x
			}
		}
		if first != nil {
			s.event(result.Event{At: first.at, Kind: result.EventRefused, Detail: first.err.Error(), Class: className(first.err), Count: n})
		}
	}
}
