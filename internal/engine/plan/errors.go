package plan

import (
	"errors"

	"sixnines/driver"
	"sixnines/result"
)

// Error classes of Run, besides those of package driver.
var (
	// ErrUsage: the scenario asks for what this driver cannot do.
	ErrUsage = errors.New("impossible scenario")
	// ErrAborted: the run was ended at once; what was written is a cut-short
	// result.
	ErrAborted = errors.New("aborted")
)

// LeftError is why a run ended without a result, with what it could not remove from the broker.
type LeftError struct {
	Why  error
	Left []result.Leftover
}

// Error says both.
func (e *LeftError) Error() string {
	text := e.Why.Error()
	for _, l := range e.Left {
		text += "; left behind: " + l.What + " " + l.Name + ": " + l.Why
	}
	return text
}

// Unwrap returns why the run ended.
func (e *LeftError) Unwrap() error { return e.Why }

// ClassName returns the name of the error class of package driver that err wraps; empty: it wraps none
// of them.
func ClassName(err error) string {
	if class := driver.Class(err); class != nil {
		return class.Error()
	}
	return ""
}
