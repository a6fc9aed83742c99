package cli

import (
	"context"
	"os"
)

// interrupts turns signals into what a run understands: the first ends the
// window early, the second the run at once, and the third stops waiting for it.
type interrupts struct {
	early  context.Context // ends with the first
	abort  chan struct{}   // closed by the second
	giveUp chan struct{}   // closed by the third
	stop   func()
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
				switch n {
				case 1:
					say(name(s) + ": the window ends here; waiting for the last messages. Once more to stop at once.")
					cancel()
				case 2:
					say(name(s) + " again: stopping at once.")
					close(i.abort)
				case 3:
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
