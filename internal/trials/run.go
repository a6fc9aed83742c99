package trials

import (
	"path/filepath"
	"time"
)

// Options are how a series is made.
type Options struct {
	Pause time.Duration // between trials
	// Failures is how many trials in a row may fail before the series ends; below
	// 2: the first ends it.
	Failures int
	// Wanted says which of the planned trials are to be made now; the others stay
	// planned. It may change its mind between trials. Nil: all.
	Wanted func(Trial) bool
	// Ending is closed when no further trial shall begin.
	Ending <-chan struct{}
	// Make makes a trial, and says how it came out: Planned where there is nothing
	// of it that is wanted. An error ends the series unless the state is Failed
	// and Failures allows it.
	Make func(*Turn) (State, error)
	// More is asked when none is planned any more which others shall be made: those of
	// new rounds, in place of some that were set aside. None: the series is over; nil:
	// there are no others.
	More func() []Trial
	// Progress is called after each trial; it may be nil.
	Progress func(Progress)
}

// Progress is how far a series has come.
type Progress struct {
	Done int // trials that are made, or were tried
	Of   int
	Left time.Duration // that those still to be made take, as far as can be foreseen
}

// Turn is a trial that is to be made now.
type Turn struct {
	Trial  Trial
	Cell   Cell
	Number int // in the order, from 1
	Of     int // trials of the series
	Path   string
	Keeper *Keeper       // of brokers
	Pause  time.Duration // before it; 0: none
	ending <-chan struct{}
}

// Wait waits for the pause before the trial and reports whether it is still
// wanted.
func (t *Turn) Wait() bool {
	if t.Pause <= 0 {
		return true
	}
	wait := time.NewTimer(t.Pause)
	defer wait.Stop()
	select {
	case <-wait.C:
		return true
	case <-t.ending:
		return false
	}
}

// Run makes the trials that are planned, one after the other, until all were
// tried, those that [Options].More adds as well, somebody wants no more or too many failed. The manifest says at any time
// how far it has come. The broker is stopped in the end.
func (s *Series) Run(o Options) error {
	keeper := &Keeper{}
	defer keeper.Stop("")
	clock := &foresight{pause: o.Pause}
	row := 0 // trials that failed, one after the other
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
		t := &s.Trials[i]
		if !o.wants(t) {
			continue
		}
		if ending(o.Ending) {
			return nil
		}
		turn := &Turn{Trial: *t, Cell: s.Cells[t.Cell], Number: i + 1, Of: len(s.Trials), Path: filepath.Join(s.dir, t.File), Keeper: keeper, ending: o.Ending}
		if !first {
			turn.Pause = o.Pause
		}
		first = false
		began, err := s.turn(t, turn, o.Make)
		if t.State == Failed {
			row++
			keeper.Spoil("a trial failed")
		} else {
			row = 0
		}
		if turn.Cell.Fresh {
			keeper.Stop("the cell has one for each trial")
		}
		if t.State == Made {
			clock.learn(turn.Cell.Takes, s.now().Sub(began)-turn.Pause)
		}
		if o.Progress != nil {
			o.Progress(s.progress(i+1, clock, o))
		}
		if err != nil && (t.State != Failed || row >= max(1, o.Failures)) {
			return err
		}
	}
}

// turn makes one trial and keeps the books.
func (s *Series) turn(t *Trial, turn *Turn, made func(*Turn) (State, error)) (began time.Time, err error) {
	began = s.now()
	*t = t.plan()
	t.State, t.Began, t.Session = Running, &began, len(s.Sessions)
	if err := s.write(s.dir); err != nil {
		return began, err
	}
	turn.Keeper.served = false
	turn.Keeper.note = func(b Broker, why string) {
		s.Brokers = append(s.Brokers, Served{Name: b.String(), Started: s.now(), Why: why})
	}
	state, err := made(turn)
	if state == Planned {
		*t = t.plan()
	} else {
		ended := s.now()
		t.State, t.Ended = state, &ended
		if turn.Keeper.served {
			t.Broker = len(s.Brokers)
		}
		if (state == Failed || state == Refused) && err != nil {
			t.Error = err.Error()
		}
		if state == Refused {
			err = nil
		}
	}
	if broken := s.write(s.dir); broken != nil && err == nil {
		return began, broken
	}
	return began, err
}

// wants reports whether a trial is to be made.
func (o *Options) wants(t *Trial) bool {
	return t.State == Planned && t.Aside == "" && (o.Wanted == nil || o.Wanted(*t))
}

// progress is how far the series has come before trial number next, from 0.
func (s *Series) progress(next int, f *foresight, o Options) Progress {
	var p Progress
	for i := range s.Trials {
		switch t := &s.Trials[i]; {
		case t.State != Planned:
			p.Done++
			p.Of++
		case o.wants(t):
			p.Of++
			if i >= next {
				p.Left += f.of(s.Cells[t.Cell].Takes)
			}
		}
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

// foresight says how long trials will take: as long as they are planned, and what
// those before took beyond that.
type foresight struct {
	pause  time.Duration
	beyond time.Duration // of all that were made
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
