package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"sixnines/internal/engine"
)

// watch calls signal for each of the first most signals that end a program, with its
// number, from 1, and its name, which from the second on says that it came again. Closing
// over counts as a signal; over may be nil. The calls come from one goroutine.
func (env *Env) watch(over <-chan struct{}, most int, signal func(n int, who string)) (stop func()) {
	var signals <-chan os.Signal
	release := func() {}
	if env.Signals != nil {
		signals, release = env.Signals()
	}
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for n := 1; n <= most; n++ {
			who := "stopped"
			select {
			case <-done:
				return
			case <-over:
				over = nil // once
			case s := <-signals:
				who = name(s)
			}
			switch {
			case n == 2:
				who += " again"
			case n > 2:
				who += " once more"
			}
			signal(n, who)
		}
	}()
	return func() {
		close(done)
		<-watched
		release()
	}
}

// name is what people call a signal.
func name(s os.Signal) string {
	if s == os.Interrupt {
		return "Ctrl-C"
	}
	return "signal " + s.String()
}

// errEnded is the context's cause if a signal ends the current work.
var errEnded = errors.New("ended")

// interruptible returns a context that ends with the first signal, with the cause that cause
// returns; a nil cause stands for [errEnded].
func (env *Env) interruptible(ctx context.Context, cause func(who string) error) (context.Context, func()) {
	if cause == nil {
		cause = func(who string) error { return fmt.Errorf("%w by %s", errEnded, who) }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := env.watch(nil, 1, func(_ int, who string) { cancel(cause(who)) })
	return ctx, func() { stop(); cancel(nil) }
}

// interrupts turns signals into actions on a run: the first signal ends the window
// early, the second ends the run at once, and the third stops waiting for it.
// Before the window there is nothing to keep, so the first signal ends the run.
type interrupts struct {
	early  context.Context // ends with the first signal
	abort  chan struct{}   // closed by the second signal, see end
	once   sync.Once       // of closing abort: a signal and finish may come together
	giveUp chan struct{}   // closed by the third signal
	stop   func()
	cancel context.CancelFunc // ends early
	say    func(string)       // reports to the user what a signal did

	measuring atomic.Bool // the window has begun; set by observe, read by signal
	vain      atomic.Bool // the first signal came before the window
}

func newInterrupts(ctx context.Context, say func(string)) *interrupts {
	i := &interrupts{abort: make(chan struct{}), giveUp: make(chan struct{}), say: say}
	i.early, i.cancel = context.WithCancel(ctx)
	return i
}

// interrupts begins to watch; say reports what a signal did.
func (env *Env) interrupts(ctx context.Context, say func(string)) *interrupts {
	i := newInterrupts(ctx, say)
	stop := env.watch(nil, 3, func(n int, who string) {
		if n == 1 && !i.measuring.Load() {
			say(who + ": stopping; nothing has been measured yet.")
			i.forgo()
			return
		}
		i.signal(n, who)
	})
	i.stop = func() { stop(); i.cancel() }
	return i
}

// observe follows the run's phases.
func (i *interrupts) observe(p engine.Progress) {
	if p.Phase != phaseConnect && p.Phase != phaseWarmup {
		i.measuring.Store(true)
	}
}

// signal passes the n-th signal to the run. If the first came before the window, the second has
// no effect, since the run already ends.
func (i *interrupts) signal(n int, who string) {
	switch {
	case n == 1:
		i.say(who + ": the window ends here; waiting for the last messages. Once more stops at once.")
		i.cancel()
	case n == 2 && !i.vain.Load():
		i.say(who + ": stopping at once.")
		i.end()
	case n == 3:
		i.say(who + ": not waiting any longer.")
		close(i.giveUp)
	}
}

// finish ends the window now, or the run before its window, for a reason of our own.
func (i *interrupts) finish(why string) {
	if !i.measuring.Load() {
		i.say(why + ": stopping; nothing has been measured yet.")
		i.forgo()
		return
	}
	i.say(why + ": the window ends here; waiting for the last messages.")
	i.cancel()
}

// forgo ends the run before its window.
func (i *interrupts) forgo() {
	i.vain.Store(true)
	i.cancel()
	i.end()
}

// end ends the run at once.
func (i *interrupts) end() { i.once.Do(func() { close(i.abort) }) }

// seriesStops turns signals into actions on a series of runs. All runs of a series have the
// same length, so half a run is useless: the first signal ends the series after the current
// run, or at once before that run's window. The second to fourth signals do to the run what
// the first to third do to a single run.
type seriesStops struct {
	stop  func()
	ended chan struct{} // closed by the first signal

	mu      sync.Mutex
	current *interrupts // of the current run; nil between runs
}

// seriesStops begins to watch.
func (env *Env) seriesStops(ctx context.Context) *seriesStops {
	s := &seriesStops{ended: make(chan struct{})}
	s.stop = env.watch(ctx.Done(), 4, s.signal)
	return s
}

// signal handles the n-th signal.
func (s *seriesStops) signal(n int, who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n == 1 {
		close(s.ended)
	}
	i := s.current
	switch {
	case i == nil:
	case n == 1 && i.measuring.Load():
		i.say(who + ": ending after this run. Once more ends its window now.")
	case n == 1:
		i.say(who + ": stopping; nothing of this run has been measured yet.")
		i.forgo()
	case !i.vain.Load():
		i.signal(n-1, who)
	case n == 3:
		i.signal(n, who)
	}
}

// next returns the interrupts of the next run; say reports what a signal did.
func (s *seriesStops) next(say func(string)) *interrupts {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = newInterrupts(context.Background(), say) // the end of the series must not end this run
	if s.ending() {
		s.current.forgo() // the signal came just before this run
	}
	return s.current
}

// done ends the run that next began.
func (s *seriesStops) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.cancel()
	s.current = nil
}

// ending reports whether no further run is to begin.
func (s *seriesStops) ending() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}
