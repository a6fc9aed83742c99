package cli

import (
	"cmp"
	"fmt"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

const (
	// defaultSlice is how long a side has its turn.
	defaultSlice = 500 * time.Millisecond
	// The shortest and longest slices: a shorter one is as long as messages may take, in a longer one the machine changes.
	leastSlice, mostSlice = 50 * time.Millisecond, 10 * time.Second
	// edgeShare of a slice is idle, at its end: what the side has in flight ends before the other one's turn.
	edgeShare = 10
)

// checkSlices fixes how long a side has its turn. It is called before the design is chosen.
func (t *abRuns) checkSlices() error {
	switch {
	case t.slice == 0 && t.kind == string(result.DesignTurn):
		t.slice = defaultSlice
	case t.slice == 0:
		return nil
	case t.kind == "":
		t.kind = string(result.DesignTurn)
	case t.kind != string(result.DesignTurn):
		return wrongUsage("leave one of them out", "--slices and --design %s exclude each other: in slices the sides are loaded in turn", t.kind)
	}
	if t.slice < leastSlice || t.slice > mostSlice {
		return wrongUsage(fmt.Sprintf("give it %s to %s", spell.Duration(leastSlice), spell.Duration(mostSlice)), "--slices %s is out of range", spell.Duration(t.slice))
	}
	return nil
}

// notInTurn says why two loads that can be up at the same time cannot be loaded in turn; empty: they can.
func (t *abRuns) notInTurn() string {
	slice := cmp.Or(t.slice, defaultSlice)
	for i := range t.arms {
		s := t.arms[i].scenario
		for _, p := range s.Parts() {
			switch kind := p.Workload.Arrivals.Kind; {
			case p.Workload.Messages > 0:
				return "a number of messages has no time for slices"
			case p.From > 0 || p.Phases.Duration != s.Phases.Duration:
				return "a workload has a window of its own"
			case kind != "" && kind != scenario.Constant && kind != scenario.Poisson:
				return "slices would change what the arrivals (" + string(kind) + ") are"
			}
		}
		if s.Record.Probe == scenario.ProbeOn {
			return "the probe would measure in the other side's turn, too"
		}
		if s.Phases.Duration%(2*slice) != 0 || s.Phases.Duration == 0 {
			return fmt.Sprintf("the window of %s is no multiple of two slices of %s", spell.Duration(s.Phases.Duration), spell.Duration(slice))
		}
	}
	return ""
}

// unprobed is a scenario for slices: without a probe that nobody has asked for, since it would measure in the other side's
// turn, too.
func unprobed(s *scenario.Scenario) *scenario.Scenario {
	c := *s
	if c.Record.Probe == scenario.ProbeAuto {
		c.Record.Probe = scenario.ProbeOff
	}
	return &c
}

// slicesOf are the slices of the first or the second run of a pair; nil: both are loaded all the time.
func (t *abRuns) slicesOf(second bool) *result.Slices {
	slice := t.Design.Slice
	if t.Design.Kind != result.DesignTurn {
		return nil
	}
	s := &result.Slices{On: slice - slice/edgeShare, Every: 2 * slice}
	if second {
		s.After = slice
	}
	return s
}
