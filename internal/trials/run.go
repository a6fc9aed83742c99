package trials

import (
	"path/filepath"
	"time"
)

// Options are the options of [Series.Run]. Run calls the functions on its caller's goroutine.
type Options struct {
	Pause time.Duration // between trials
	// Failures is the number of failed trials in a row that ends the series; below 2:
	// the first failure ends it.
	Failures int
	// Wanted says which of the planned trials to make now; the others stay planned. Its
	// answer may change between trials. Nil: all.
	Wanted func(Trial) bool
	// Ending is closed when no further trial shall begin.
	Ending <-chan struct{}
	// Make makes a trial and returns its state; Planned discards the attempt. An error
	// ends the series unless the state is Refused, or is Failed and Failures allows it.
	Make func(*Turn) (State, error)
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
	Number int           // of the trial in the order, from 1
	Of     int           // number of trials in the series
	Path   string        // of the result file
	Keeper *Keeper       // of brokers
	Pause  time.Duration // before it; 0: none
	ending <-chan struct{}
}

// Wait waits for the pause before the trial. It returns false as soon as [Options].Ending is
// closed.
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

// Run makes the planned trials one after the other, and those that [Options].More adds, until
// all were tried, [Options].Ending is closed or too many failed. The manifest is written
// before and after each trial, so that it always has the current state. Run stops the broker
// at its end.
func (s *Series) Run(o Options) error {
	keeper := &Keeper{}
	defer keeper.Stop("")
	clock := &foresight{pause: o.Pause}
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

// turn makes one trial and writes its state to the manifest, before and after.
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

// wants reports whether to make a trial now.
func (o *Options) wants(t *Trial) bool {
	return t.State == Planned && t.Aside == "" && (o.Wanted == nil || o.Wanted(*t))
}

// progress returns the progress of the series before trial number next, from 0.
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

// foresight estimates the length of trials: the planned length plus the mean excess of the
// trials made so far, plus the pause.
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
