package cli

import (
	"context"
	"os"
	"sync/atomic"

	"sixnines/internal/engine"
)

// interrupts turns signals into what a run understands: the first ends the
// window early, the second the run at once, and the third stops waiting for it.
// Before the window there is nothing to keep: there the first ends the run.
type interrupts struct {
	early  context.Context // ends with the first
	abort  chan struct{}   // closed by the second
	giveUp chan struct{}   // closed by the third
	stop   func()

	measuring atomic.Bool // the window has begun
	vain      atomic.Bool // the first came before it
}

// observe follows the run's phases.
func (i *interrupts) observe(p engine.Progress) {
	if p.Phase != phaseConnect && p.Phase != phaseWarmup {
		i.measuring.Store(true)
	}
}

// interrupts begins to watch; say tells people what a signal did.
func (a *app) interrupts(ctx context.Context, say func(string)) *interrupts {
	early, cancel := context.WithCancel(ctx)
	i := &interrupts{early: early, abort: make(chan struct{}), giveUp: make(chan struct{})}
	var signals <-chan os.Signal
	release := func() {}
	if a.Signals != nil {
		signals, release = a.Signals()
	}
	over := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for n := 1; n <= 3; n++ {
			select {
			case <-over:
				return
			case s := <-signals:
				switch {
				case n == 1 && i.measuring.Load():
					say(name(s) + ": the window ends here; waiting for the last messages. Once more to stop at once.")
					cancel()
				case n == 1:
					say(name(s) + ": stopping; nothing has been measured yet.")
					i.vain.Store(true)
					cancel()
					close(i.abort)
				case n == 2 && !i.vain.Load():
					say(name(s) + " again: stopping at once.")
					close(i.abort)
				case n == 3:
					say(name(s) + " once more: not waiting any longer.")
					close(i.giveUp)
				}
			}
		}
	}()
	i.stop = func() {
		close(over)
		<-watched
		release()
		cancel()
	}
	return i
}

// name is what people call a signal.
func name(s os.Signal) string {
	if s == os.Interrupt {
		return "Ctrl-C"
	}
	return "signal " + s.String()
}
