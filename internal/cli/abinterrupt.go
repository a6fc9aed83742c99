package cli

import (
	"context"
	"os"
	"sync"
)

// trialStops turns signals into what a series of runs understands: the first
// ends the series after the run under way, and the others are to that run what
// the first, second and third are to a run that stands alone.
type trialStops struct {
	stop func()

	mu      sync.Mutex
	over    bool        // the series is to end
	current *interrupts // of the run under way; nil between runs
	cancel  context.CancelFunc
	say     func(string)
}

// trialStops begins to watch.
func (a *app) trialStops(ctx context.Context) *trialStops {
	s := &trialStops{}
	var signals <-chan os.Signal
	release := func() {}
	if a.Signals != nil {
		signals, release = a.Signals()
	}
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		ended := ctx.Done()
		for n := 1; n <= 4; n++ {
			select {
			case <-done:
				return
			case <-ended:
				ended = nil // once
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
func (s *trialStops) signal(n int, who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	i := s.current
	if i == nil {
		return
	}
	switch {
	case n == 1:
		s.say(who + ": ending after this run. Once more to end this run, too.")
	case n == 2 && i.measuring.Load():
		s.say(who + " again: the window ends here; waiting for the last messages.")
		s.cancel()
	case n == 2:
		s.say(who + " again: stopping; nothing of this run has been measured yet.")
		i.vain.Store(true)
		s.cancel()
		close(i.abort)
	case n == 3 && !i.vain.Load():
		s.say(who + " once more: stopping at once.")
		close(i.abort)
	case n == 4:
		s.say(who + " once more: not waiting any longer.")
		close(i.giveUp)
	}
}

// next returns what the next run listens to; say tells people what a signal did.
func (s *trialStops) next(say func(string)) *interrupts {
	s.mu.Lock()
	defer s.mu.Unlock()
	early, cancel := context.WithCancel(context.Background()) // the series' own end is not this run's
	s.current = &interrupts{early: early, abort: make(chan struct{}), giveUp: make(chan struct{}), stop: func() {}}
	s.cancel, s.say = cancel, say
	return s.current
}

// done ends the run that next began.
func (s *trialStops) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	s.current = nil
}

// ending reports whether there shall be no further run.
func (s *trialStops) ending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}
