package cli

import (
	"context"
	"os"
	"sync"
)

// seriesStops turns signals into what a series of runs understands, of which
// each is worth what the others are, and half of one nothing. The first ends the
// series: the run under way is still made as it was planned, unless its window
// has not begun; the others are to that run what the first, second and third are
// to a run that stands alone.
type seriesStops struct {
	stop  func()
	ended chan struct{} // closed by the first

	mu      sync.Mutex
	current *interrupts // of the run under way; nil between runs
	cancel  context.CancelFunc
	say     func(string)
}

// seriesStops begins to watch.
func (a *app) seriesStops(ctx context.Context) *seriesStops {
	s := &seriesStops{ended: make(chan struct{})}
	var signals <-chan os.Signal
	release := func() {}
	if a.Signals != nil {
		signals, release = a.Signals()
	}
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		over := ctx.Done()
		for n := 1; n <= 4; n++ {
			select {
			case <-done:
				return
			case <-over:
				over = nil // once
				s.signal(n, "stopped")
			case sig := <-signals:
				s.signal(n, name(sig))
			}
		}
	}()
	s.stop = func() {
		close(done)
		<-watched
		release()
	}
	return s
}

// signal is the n-th.
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
		s.say(who + ": ending after this run. Once more to end its window now.")
	case n == 1:
		s.say(who + ": stopping; nothing of this run has been measured yet.")
		s.forgo()
	case n == 2 && !i.vain.Load():
		s.say(who + " again: the window ends here; waiting for the last messages. Once more to stop at once.")
		s.cancel()
	case n == 3 && !i.vain.Load():
		s.say(who + " once more: stopping at once.")
		close(i.abort)
	case n == 3 || n == 4 && !i.vain.Load():
		s.say(who + " once more: not waiting any longer.")
		close(i.giveUp)
	}
}

// forgo ends the run under way before its window.
func (s *seriesStops) forgo() {
	s.current.vain.Store(true)
	s.cancel()
	close(s.current.abort)
}

// next returns what the next run listens to; say tells people what a signal did.
func (s *seriesStops) next(say func(string)) *interrupts {
	s.mu.Lock()
	defer s.mu.Unlock()
	early, cancel := context.WithCancel(context.Background()) // the series' own end is not this run's
	s.current = &interrupts{early: early, abort: make(chan struct{}), giveUp: make(chan struct{}), stop: func() {}}
	s.cancel, s.say = cancel, say
	if s.ending() {
		s.forgo() // the signal came just before
	}
	return s.current
}

// done ends the run that next began.
func (s *seriesStops) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	s.current = nil
}

// ending reports whether there shall be no further run.
func (s *seriesStops) ending() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}
