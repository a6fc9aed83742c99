package engine

import (
	"context"
	"time"

	"sixnines/internal/engine/send"
	"sixnines/result"
)

// listening sends nothing: other processes send in the same window what the load's consumers receive.
type listening struct{ *send.Sending }

// Mode is that of result.Header.Mode.
func (listening) Mode() string { return result.ModeOpen }

// Prepare: the warm-up is that of those who send.
func (l listening) Prepare(context.Context) (ahead time.Duration, err error) { return l.Warmup, nil }

// Start has nothing to start.
func (listening) Start() {}

// Finish: no send is under way.
func (listening) Finish(aborted bool) bool { return aborted }
