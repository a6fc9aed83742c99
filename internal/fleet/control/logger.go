package control

import (
	"fmt"
	"sync"
	"sync/atomic"

	"sixnines/internal/fleet/wire"
)

// logger passes on what the server logs as a warning or worse once it is ready: what it says of its options before
// that are choices of ours. Why it cannot start is in failed.
type logger struct {
	say   func(line string) // nil: to nobody
	ready atomic.Bool

	mu    sync.Mutex
	fatal error // the server cannot go on
}

// Noticef implements server.Logger.
func (*logger) Noticef(string, ...any) {}

// Debugf implements server.Logger.
func (*logger) Debugf(string, ...any) {}

// Tracef implements server.Logger.
func (*logger) Tracef(string, ...any) {}

// Warnf implements server.Logger.
func (l *logger) Warnf(format string, v ...any) { l.pass(format, v) }

// Errorf implements server.Logger.
func (l *logger) Errorf(format string, v ...any) { l.pass(format, v) }

// Fatalf implements server.Logger. The server goes on after it, so that it does not end this process.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		l.fatal = fmt.Errorf(format, v...)
	}
}

// failed returns why the server cannot go on.
func (l *logger) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

func (l *logger) pass(format string, v []any) {
	if l.say != nil && l.ready.Load() {
		l.say(wire.Line(fmt.Sprintf(format, v...)))
	}
}
