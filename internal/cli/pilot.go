package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sixnines/internal/compare"
	"sixnines/result"
	"sixnines/scenario"
)

// pilotWindow is the longest window of a pilot's runs.
const pilotWindow = 2 * time.Second

// notBothError says that the sides run alone and not at once.
type notBothError struct{ error }

func (e notBothError) Unwrap() error { return e.error }

// pilot finds out whether two loads can be measured at the same time.
type pilot struct {
	*series
	sides         [2]*cell
	apart, atOnce time.Duration // how long a pair takes, by the last round
}

// choose makes a run of each side alone and of both at once, up to [compare.PilotRounds] times, and chooses the design by
// what they used and how their figures differ; why is the error of sides that run alone and not at once. There is no
// design if a signal ended it.
func (p *pilot) choose() (d *result.Design, why string, err error) {
	d = &result.Design{}
	for more := true; more; {
		round, err := p.round()
		if p.stops.ending() || errors.Is(err, errEnded) {
			return nil, "", nil
		}
		var not notBothError
		if errors.As(err, &not) {
			d.Kind, d.Reason = result.DesignApart, result.DesignNotBoth
			return d, oneLine(not.Error()), nil
		}
		if err != nil {
			return nil, "", err
		}
		d.Pilot = append(d.Pilot, round)
		d.Kind, d.Reason, more = compare.Choose(d.Pilot)
	}
	return d, "", nil
}

// times makes a pair as the design says, for how long it takes.
func (p *pilot) times(d *result.Design) (time.Duration, error) {
	if d.AtOnce() {
		_, err := p.both()
		return p.atOnce, err
	}
	_, err := p.alone()
	return p.apart, err
}

// round makes a round: A alone, B alone, both at once.
func (p *pilot) round() (round result.PilotRound, err error) {
	alone, err := p.alone()
	if err != nil || p.stops.ending() {
		return round, err
	}
	both, err := p.both()
	if err != nil {
		return round, err
	}
	return compare.Pilot(alone, both), nil
}

// alone makes a run of each side alone.
func (p *pilot) alone() (alone [2]*result.Run, err error) {
	p.apart = 0
	for side := range alone {
		show := p.display(p.quiet, p.sides[side].scenario, endsSeries)
		stops := p.stops.next(show.say)
		began := time.Now()
		show.say("pilot: " + p.sides[side].label + " alone")
		alone[side], err = p.run(side, nil, stops, show)
		p.apart += p.rest(side, time.Since(began))
		p.stops.done()
		show.close()
		if err != nil || p.stops.ending() {
			return alone, err
		}
	}
	return alone, nil
}

// both makes a run of each side, both at once.
func (p *pilot) both() (both [2]*result.Run, err error) {
	shows := p.sideDisplays(p.sides)
	defer shows.close()
	stops := p.stops.next(shows.to.say)
	defer p.stops.done()
	shows.to.say("pilot: " + p.sides[0].label + " beside " + p.sides[1].label)
	meet := newMeeting()
	var errs [2]error
	var made sync.WaitGroup
	began := time.Now()
	for side := range both {
		later := time.Duration(0)
		if side == 1 {
			later = halfGap(p.sides[1].scenario)
		}
		made.Go(func() {
			defer meet.leave()
			both[side], errs[side] = p.run(side, meet.start(later), stops, shows.of(side))
		})
	}
	made.Wait()
	p.atOnce = p.rest(0, time.Since(began))
	for side, err := range errs {
		if err != nil && !errors.Is(err, errPartner) {
			return both, notBothError{ofSide(p.sides[side].label, err)}
		}
	}
	if both[0] == nil || both[1] == nil {
		return both, errEnded
	}
	return both, nil
}

// rest is how long a pair takes of which a run of the pilot took so long.
func (p *pilot) rest(side int, took time.Duration) time.Duration {
	return took + p.sides[side].scenario.Phases.Duration - p.short(side).Phases.Duration
}

// short is a side's scenario in the pilot: with a shorter window, if its load is the same throughout.
func (p *pilot) short(side int) *scenario.Scenario {
	s := *p.sides[side].scenario
	if kind := s.Workload.Arrivals.Kind; len(s.Workloads) == 0 && (kind == scenario.Constant || kind == scenario.Poisson) {
		s.Phases.Duration = min(s.Phases.Duration, pilotWindow)
	}
	s.Record.Raw = false
	return &s
}

// run makes a run, of which nothing stays.
func (p *pilot) run(side int, start func(context.Context, int64) (int64, error), stops *interrupts, show display) (*result.Run, error) {
	file := filepath.Join(p.dir, "pilot-"+strings.ReplaceAll(p.sides[side].label, "/", "-")+".jsonl")
	run, err := p.measure(stops, show, measurement{scenario: p.short(side), entry: p.sides[side].entry, file: file, start: start})
	if gone := os.Remove(p.path(file)); gone != nil && !errors.Is(gone, fs.ErrNotExist) && err == nil {
		err = failed("check the directory and its permissions", gone)
	}
	return run, err
}
