package trials

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sixnines/result"
)

// Options are the options of [Series.Run]. Run calls the functions on its caller's goroutine.
type Options struct {
	Pause time.Duration // between trials
	// Pausing is called before each pause with the trial that comes after it; it may be nil.
	Pausing func(*Turn)
	// Failures is the number of failed trials in a row that ends the series; below 2:
	// the first failure ends it.
	Failures int
	// Wanted says which of the planned trials to make now; the others stay planned. Its
	// answer may change between trials. Nil: all.
	Wanted func(Trial) bool
	// Ending is closed when no further trial shall begin.
	Ending <-chan struct{}
	// Make makes a trial and returns its state; Planned: it was stopped before its window, which its attempts
	// say. An error
	// ends the series unless the state is Refused, or is Failed and Failures allows it.
	Make func(*Turn) (State, error)
	// Pair reports whether two trials of one round that follow each other in the order are made at once; nil: none are.
	// Wanted is asked of the first only. If only one of them was made before, it is made again.
	Pair func(a, b Trial) bool
	// Both makes the trials of a pair at once, instead of Make. The states and errors are in the order of the turns, each
	// of which has a keeper of its own: that of a cell is the same in each round. A trial that is made alone has the
	// first keeper, and the broker of the second does not run beside it.
	Both func(*[2]Turn) ([2]State, [2]error)
	// After is called after each trial, once its state is set, and may spare others, see [Series.Spare]; its error ends
	// the series. It may be nil.
	After func(Trial) error
	// More is called when all trials were tried and returns further ones: new rounds in
	// place of some that were set aside. If it returns none, the series is over; nil: it
	// always is.
	More func() []Trial
	// Progress is called after each trial; it may be nil.
	Progress func(Progress)
}

// Progress is the progress of a series.
type Progress struct {
	Done int           // trials that were made or tried
	Of   int           // these and the planned ones that are wanted
	Left time.Duration // estimated time for the remaining trials
}

// Turn is a trial that [Options].Make shall make now.
type Turn struct {
	Trial  Trial
	Cell   Cell
	Number int     // of the trial in the order, from 1
	Of     int     // number of trials in the series
	Path   string  // of the result file
	Keeper *Keeper // of brokers
}

// rest waits for the pause before a trial, which does not count as begun meanwhile. It returns false as soon as Ending is
// closed.
func (o *Options) rest(next *Turn) bool {
	if o.Pause <= 0 {
		return true
	}
	if o.Pausing != nil {
		o.Pausing(next)
	}
	wait := time.NewTimer(o.Pause)
	defer wait.Stop()
	select {
	case <-wait.C:
		return true
	case <-o.Ending:
		return false
	}
}

// Run makes the planned trials one after the other, and those that [Options].More adds, until
// all were tried, [Options].Ending is closed or too many failed. The manifest is written
// before and after each trial, so that it always has the current state. Run stops the broker
// at its end.
func (s *Series) Run(o Options) error {
	keepers := &[2]Keeper{}
	for i := range keepers {
		defer keepers[i].Stop("")
	}
	clock := &foresight{pause: o.Pause}
	if err := s.Halves(o.Pair); err != nil {
		return err
	}
	row := 0 // failed trials in a row
	first := true
	for i := 0; ; i++ {
		if i == len(s.Trials) && !ending(o.Ending) && o.More != nil && !s.other {
			more := o.More()
			for n := range more {
				more[n].State = Planned
			}
			s.Trials = append(s.Trials, more...)
			if len(more) > 0 {
				if err := s.write(s.dir); err != nil {
					return err
				}
			}
		}
		if i == len(s.Trials) {
			return nil
		}
		n := s.atOnce(i, o.Pair)
		if !s.wants(i, n, &o) {
			i += n - 1
			continue
		}
		if ending(o.Ending) {
			return nil
		}
		var turns [2]Turn
		side := 0 // of the first
		if n == 2 && s.Trials[i].Cell > s.Trials[i+1].Cell {
			side = 1
		}
		for k := range n {
			t := &s.Trials[i+k]
			turns[k] = Turn{Trial: *t, Cell: s.Cells[t.Cell], Number: i + k + 1, Of: len(s.Trials), Path: filepath.Join(s.dir, t.File), Keeper: &keepers[(side+k)%2]}
		}
		if !first && !o.rest(&turns[0]) {
			return nil
		}
		first = false
		if n == 1 {
			keepers[1].Stop("a trial between them was made alone")
		}
		began, err := s.turn(turns[:n], func() ([2]State, [2]error) {
			if n == 2 {
				return o.Both(&turns)
			}
			state, err := o.Make(&turns[0])
			return [2]State{state}, [2]error{err}
		})
		failed, complete := false, true
		for k := range n {
			failed, complete = failed || s.Trials[i+k].State == Failed, complete && s.Trials[i+k].State == Made
		}
		if o.After != nil {
			for k := range n {
				if broken := o.After(s.Trials[i+k]); broken != nil {
					return errors.Join(err, broken)
				}
			}
		}
		i += n - 1
		if failed {
			row++
			keepers[0].Spoil("a trial failed")
			keepers[1].Spoil("a trial failed")
		} else {
			row = 0
		}
		for k := range n {
			if turns[k].Cell.Fresh {
				turns[k].Keeper.Stop("the cell has one for each trial")
			}
		}
		if complete {
			clock.learn(turns[0].Cell.Takes, s.now().Sub(began))
		}
		if o.Progress != nil {
			o.Progress(s.progress(i+1, clock, &o))
		}
		if err != nil && (!failed || row >= max(1, o.Failures)) {
			return err
		}
	}
}

// atOnce returns how many trials are made at once from trial i, from 0, on: two if it and the next one are a pair.
func (s *Series) atOnce(i int, pair func(a, b Trial) bool) int {
	if pair == nil || i+1 >= len(s.Trials) {
		return 1
	}
	if a, b := s.Trials[i], s.Trials[i+1]; a.Round != b.Round || a.Cell == b.Cell || !pair(a, b) {
		return 1
	}
	return 2
}

// Halves plans the trials anew of pairs, see [Options].Pair, of which only one was made: both are made at once. Run does so first.
func (s *Series) Halves(pair func(a, b Trial) bool) error {
	found := false
	for i := 0; i < len(s.Trials); {
		both := s.Trials[i : i+s.atOnce(i, pair)]
		i += len(both)
		if len(both) == 1 || both[0].State == both[1].State ||
			slices.ContainsFunc(both, func(t Trial) bool { return t.Aside != "" || t.State == Unneeded }) {
			continue
		}
		for k := range both {
			t := &both[k]
			if t.State == Made {
				t.Attempts = t.attempted(result.AttemptPartner)
			}
			if err := s.clear(t); err != nil {
				return err
			}
		}
		found = true
	}
	if !found {
		return nil
	}
	return s.write(s.dir)
}

// turn makes trials, one or two at once, and writes their states to the manifest, before and after.
func (s *Series) turn(turns []Turn, made func() ([2]State, [2]error)) (began time.Time, err error) {
	began = s.now()
	var noting sync.Mutex // guards Brokers while trials are made at once
	for k := range turns {
		t := &s.Trials[turns[k].Number-1]
		*t = t.plan()
		t.State, t.Began, t.Session = Running, &began, len(s.Sessions)
		keeper := turns[k].Keeper
		keeper.served = false
		keeper.note = func(b Broker, why string) {
			noting.Lock()
			defer noting.Unlock()
			s.Brokers = append(s.Brokers, Served{Name: b.String(), Started: s.now(), Why: why})
			keeper.number = len(s.Brokers)
		}
	}
	if err := s.write(s.dir); err != nil {
		return began, err
	}
	states, errs := made()
	for k := range turns {
		t := &s.Trials[turns[k].Number-1]
		state := states[k]
		if state == Planned || state == Unbegun {
			if state == Planned {
				t.Attempts = t.attempted(result.AttemptStopped)
			}
			t.State = Planned
			*t = t.plan()
			continue
		}
		ended := s.now()
		t.State, t.Ended = state, &ended
		if turns[k].Keeper.served {
			t.Broker = turns[k].Keeper.number
		}
		if (state == Failed || state == Refused) && errs[k] != nil {
			t.Error = errs[k].Error()
		}
		if state == Refused {
			errs[k] = nil
		}
	}
	if err = cmp.Or(errs[0], errs[1]); errs[0] != nil && errs[1] != nil {
		err = errors.Join(errs[:]...)
	}
	if broken := s.write(s.dir); broken != nil && err == nil {
		return began, broken
	}
	return began, err
}

// wants reports whether to make the n trials from trial i on now, at once.
func (s *Series) wants(i, n int, o *Options) bool {
	for _, t := range s.Trials[i : i+n] {
		if t.State != Planned || t.Aside != "" {
			return false
		}
	}
	return o.Wanted == nil || o.Wanted(s.Trials[i])
}

// progress returns the progress of the series before trial number next, from 0.
func (s *Series) progress(next int, f *foresight, o *Options) Progress {
	var p Progress
	for i := 0; i < len(s.Trials); {
		n := s.atOnce(i, o.Pair)
		wanted := s.wants(i, n, o)
		for _, t := range s.Trials[i : i+n] {
			switch {
			case t.State == Unneeded:
			case t.State != Planned:
				p.Done++
				p.Of++
			case wanted:
				p.Of++
			}
		}
		if wanted && i >= next {
			p.Left += f.of(s.Cells[s.Trials[i].Cell].Takes)
		}
		i += n
	}
	return p
}

func ending(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// foresight estimates the length of trials, of two at once as of one: the planned length plus the mean excess of those
// made so far, plus the pause.
type foresight struct {
	pause  time.Duration
	beyond time.Duration // excess over the plan, summed over the trials made
	made   int
}

func (f *foresight) learn(planned, took time.Duration) {
	f.beyond += max(0, took-planned)
	f.made++
}

func (f *foresight) of(planned time.Duration) time.Duration {
	if f.made > 0 {
		planned += f.beyond / time.Duration(f.made)
	}
	return planned + f.pause
}
