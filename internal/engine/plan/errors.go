package plan

import (
	"errors"

	"sixnines/driver"
)

// Error classes of Run, besides those of package driver.
var (
	// ErrUsage: the scenario asks for what this driver cannot do.
	ErrUsage = errors.New("impossible scenario")
	// ErrAborted: the run was ended at once; what was written is a cut-short
	// result.
	ErrAborted = errors.New("aborted")
)

// ClassName returns the name of the error class of package driver that err wraps; empty: it wraps none
// of them.
func ClassName(err error) string {
	if class := driver.Class(err); class != nil {
		return class.Error()
	}
	return ""
}
