package plan

import "errors"

// Error classes of Run, besides those of package driver.
var (
	// ErrUsage: the scenario asks for what this driver cannot do.
	ErrUsage = errors.New("impossible scenario")
	// ErrAborted: the run was ended at once; what was written is a cut-short
	// result.
	ErrAborted = errors.New("aborted")
)
