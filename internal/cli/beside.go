package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sixnines/internal/engine"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// errPartner ends a run whose partner cannot begin.
var errPartner = errors.New("the other run of its pair could not begin")

// meeting is where the two runs of a pair wait for each other, so that their windows begin together.
type meeting struct {
	over     chan struct{} // closed when both are there, or one never will be
	mu       sync.Mutex    // guards the rest
	earliest int64         // the later of the instants at which they could begin
	came     int
	err      error // why they do not begin
}

func newMeeting() *meeting { return &meeting{over: make(chan struct{})} }

// start returns an [engine.Config.Start]: the window begins with the other one, and after later more.
func (m *meeting) start(later time.Duration) func(context.Context, int64) (int64, error) {
	return func(ctx context.Context, earliest int64) (int64, error) {
		m.mu.Lock()
		m.earliest = max(m.earliest, earliest)
		if m.came++; m.came == 2 {
			close(m.over)
		}
		m.mu.Unlock()
		select {
		case <-m.over:
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.earliest + int64(later), m.err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// leave says that a run has ended. If the other one still waits, it does not begin.
func (m *meeting) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.came < 2 {
		m.came, m.err = 2, errPartner
		close(m.over)
	}
}

// twoAtOnce makes two runs at the same time, which text announces. The window of the second begins with that of the first, and
// later more.
func (s *series) twoAtOnce(turns *[2]trials.Turn, text string, of [2]trialSpec, later time.Duration) (runs [2]*result.Run, states [2]trials.State, errs [2]error) {
	sides := [2]*cell{&s.cells[turns[0].Trial.Cell], &s.cells[turns[1].Trial.Cell]}
	shows := s.sideDisplays(sides)
	defer shows.close()
	stops := s.stops.next(shows.to.say)
	defer s.stops.done()
	shows.to.say(fmt.Sprintf("%s, %s beside %s (runs %d and %d of %d)", text, sides[0].label, sides[1].label, turns[0].Number, turns[1].Number, turns[0].Of))
	meet := newMeeting()
	var made sync.WaitGroup
	for k := range turns {
		spec := of[k]
		spec.header.Beside, spec.start = true, meet.start(time.Duration(k)*later)
		made.Go(func() {
			defer meet.leave()
			runs[k], states[k], errs[k] = s.run(&turns[k], spec, stops, shows.of(k))
		})
	}
	made.Wait()
	for k, err := range errs {
		if errs[k] = nil; err != nil && !errors.Is(err, errPartner) {
			errs[k] = ofSide(sides[k].label, err)
		} else if err != nil && states[k] == trials.Failed {
			states[k] = trials.Unbegun
		}
	}
	if states[0] == trials.Planned || states[1] == trials.Planned {
		states = [2]trials.State{trials.Planned, trials.Planned}
	}
	return runs, states, errs
}

// both makes the runs of a pair at the same time. The one that is second in the random order of the pair begins
// half of its mean gap later, so that their messages are not due at the same instants, or has the second turn.
func (t *abRuns) both(turns *[2]trials.Turn) ([2]trials.State, [2]error) {
	var of [2]trialSpec
	for k := range turns {
		of[k].header = t.headerOf(&turns[k])
		if of[k].header.Slices = t.slicesOf(k == 1); of[k].header.Slices != nil {
			of[k].scenario = unprobed(t.cells[turns[k].Trial.Cell].scenario)
		}
	}
	later := time.Duration(0)
	if t.Design.Kind == result.DesignBeside {
		later = halfGap(t.cells[turns[1].Trial.Cell].scenario)
	}
	runs, states, errs := t.twoAtOnce(turns, t.placeOf(&turns[0]), of, later)
	for k, run := range runs {
		if run != nil {
			t.keep(turns[k].Number-1, run)
		}
	}
	if errs == [2]error{} && turns[1].Number == 2 && states[0] != trials.Planned {
		errs[1] = t.foresee()
	}
	return states, errs
}

// halfGap is half of the mean time between two messages of a scenario's first load.
func halfGap(s *scenario.Scenario) time.Duration {
	rate := s.Parts()[0].Workload.Rate.Float()
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / rate / 2)
}

// sideDisplays shows two runs at once in one display: as if they were two workloads with these labels.
type sideDisplays struct {
	to     display
	labels [2]string

	mu   sync.Mutex
	last [2]engine.Progress // of each side
}

func (s *series) sideDisplays(sides [2]*cell) *sideDisplays {
	d, loads := &sideDisplays{}, 0
	for i, c := range sides {
		d.labels[i] = c.label
		loads += max(1, len(c.scenario.Workloads))
	}
	d.to = s.displayOf(s.quiet, loads, endsSeries)
	return d
}

func (d *sideDisplays) close() { d.to.close() }

// of returns the display of a side.
func (d *sideDisplays) of(side int) display { return sideDisplay{d, side} }

// sideDisplay is one side's part of a display. Closing it closes nothing.
type sideDisplay struct {
	*sideDisplays
	side int
}

func (d sideDisplay) say(text string) { d.to.say(d.labels[d.side] + ": " + text) }

func (d sideDisplay) close() {}

// observe shows both sides once both have come to the same phase.
func (d sideDisplay) observe(p engine.Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last[d.side] = p
	both := p
	both.Workloads = nil
	for i, q := range d.last {
		if q.Phase != p.Phase {
			return
		}
		if len(q.Workloads) == 0 {
			q.Workload = d.labels[i]
			both.Workloads = append(both.Workloads, q)
		}
		for _, w := range q.Workloads {
			w.Workload = joinWords(d.labels[i], w.Workload)
			both.Workloads = append(both.Workloads, w)
		}
	}
	d.to.observe(both)
}
