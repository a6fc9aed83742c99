package cli

import (
	"os"
	"sync/atomic"
)

// setSignals passes signals on to the run under way, and remembers that there
// was one: it ends the set, whether it came early in a run, when that run had
// just stopped listening, or in the pause.
type setSignals struct {
	heard atomic.Bool
	out   chan os.Signal
	stop  func()
}

// setSignals begins to listen, once for all runs: a signal between two of them
// must neither be lost nor kill us.
func (a *app) setSignals() *setSignals {
	s := &setSignals{out: make(chan os.Signal, 3), stop: func() {}}
	if a.Signals == nil {
		return s
	}
	in, release := a.Signals()
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case sig := <-in:
				s.heard.Store(true)
				select {
				case s.out <- sig:
				default: // three are waiting: more say nothing new
				}
			}
		}
	}()
	s.stop = func() {
		close(over)
		<-ended
		release()
	}
	return s
}

// listener is the app whose runs hear of these signals.
func (s *setSignals) listener(a *app) *app {
	listening := *a
	listening.Signals = func() (<-chan os.Signal, func()) { return s.out, func() {} }
	return &listening
}
