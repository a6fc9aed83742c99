package cli

import (
	"fmt"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/scenario"
)

// trialBeside is what a trial takes beside its cell: connecting, waiting for the last message,
// judging.
const trialBeside = 300 * time.Millisecond

// What is assumed of loads whose length the system decides, on a machine of two processors.
const (
	// assumedRate and assumedBytes are how many messages and bytes a second are sent and, with consumers that come when
	// all is filled, received again: 500,000 messages of 32 B took RabbitMQ 9 s for both, and 2,500,000 took 118 s.
	assumedRate  = 50_000
	assumedBytes = 100 << 20
	// benchTimes is how many times as long as asked a benchmark takes: it is set up for each of its parts, and tried
	// out. Forty benchmarks of 250 ms took 43 s.
	benchTimes = 4
)

// takes is about how long a trial of the cell takes once its broker has started. Consumers that come when all is filled have
// that to drain; consumers of a load without a rate are given as long again as the window, or as long as they may have.
func (c *studyCell) takes() time.Duration {
	all := c.lasts()
	if _, ok := c.Bench(); ok {
		return all + (benchTimes-1)*c.Takes
	}
	longest := time.Duration(0)
	for _, part := range c.scenario.Parts() {
		w := &part.Workload
		if !w.Rate.IsMax() {
			continue
		}
		moved := time.Duration(0)
		if n := float64(w.Messages); n > 0 {
			seconds := n/assumedRate + n*float64(w.Size.Largest())/assumedBytes
			moved = time.Duration(seconds * 1e9)
			if w.Consumer.From != (scenario.Begin{}) {
				moved *= 2
			}
		} else if w.Pattern != scenario.Publish && !part.CanLose() {
			moved = min(part.Phases.Duration, part.Phases.Drain)
		}
		longest = max(longest, moved)
	}
	return all + longest
}

// foreseen returns how long trials take, about, and how many times brokers are started for them: two that are made at the
// same time take as long as the longer one.
func (p *studyPlan) foreseen(places []trials.Place) (all time.Duration, starts int) {
	var kept [2]string // the groups whose brokers are running and unchanged: of trials made alone, and of the second of two
	for i := 0; i < len(places); {
		n := p.turn(places[i:])
		if n == 1 {
			kept[1] = ""
		}
		takes, started := time.Duration(0), false
		for _, at := range places[i : i+n] {
			c, side := &p.cells[at.Cell], 0
			if n == 2 && at.Cell == max(places[i].Cell, places[i+1].Cell) {
				side = 1
			}
			takes = max(takes, c.takes())
			if c.managed && c.group != kept[side] {
				starts, started = starts+1, true
			}
			if kept[side] = c.group; c.managed && changesBroker(c.scenario) {
				kept[side] = ""
			}
		}
		if all += takes + trialBeside + p.fleet; started {
			all += startTakes
		}
		i += n
	}
	return all, starts
}

// turn returns how many of the first of these trials are made at once.
func (p *studyPlan) turn(places []trials.Place) int {
	if len(places) > 1 && places[0].Round == places[1].Round && p.atOnceWith(places[0].Cell) == places[1].Cell {
		return 2
	}
	return 1
}

// replacing returns how long the rounds take that may be made in place of unusable ones, at most; replace is
// [studyOptions.replace].
func (p *studyPlan) replacing(places []trials.Place, replace int) (all time.Duration) {
	seen := map[int]bool{}
	for _, at := range places {
		c, other := &p.cells[at.Cell], p.atOnceWith(at.Cell)
		if seen[at.Cell] {
			continue
		}
		seen[at.Cell] = true
		if other < 0 || !seen[other] {
			all += time.Duration(p.mostReplaced(c, replace)) * (c.takes() + trialBeside + p.fleet)
		}
	}
	return all
}

// mostReplaced returns how many rounds of a cell are made at most in place of unusable ones; replace is
// [studyOptions.replace].
func (p *studyPlan) mostReplaced(c *studyCell, replace int) int {
	switch {
	case replace >= 0:
		return replace
	case p.length == study.Quick:
		return 0 // it makes one round of each cell
	}
	return replaced(c.Rounds)
}

// estimate says how long trials take; replace is [studyOptions.replace].
func (p *studyPlan) estimate(places []trials.Place, replace int) string {
	all, starts := p.foreseen(places)
	cells := map[int]bool{}
	for _, at := range places {
		cells[at.Cell] = true
	}
	piloting, pilots := p.piloting(cells)
	all += piloting
	text := fmt.Sprintf("%s of %s, about %s including %s", spell.Plural(len(places), "trial"), spell.Plural(len(cells), "cell"),
		longTime(float64(all)), spell.Plural(starts, "broker start"))
	if first := p.certain(places); len(first) < len(places) {
		least, _ := p.foreseen(first)
		text = fmt.Sprintf("%s to %s of %s, about %s (all is decided at the next look) to %s (at the last) including up to %s", spell.Count(len(first)),
			spell.Plural(len(places), "trial"), spell.Plural(len(cells), "cell"), longTime(float64(least+piloting)), longTime(float64(all)), spell.Plural(starts, "broker start"))
	}
	if pilots > 0 {
		text += fmt.Sprintf(" and %s of %s, which may be repeated twice", spell.Plural(pilots, "pilot"), longTime(float64(piloting)))
	}
	if more := p.replacing(places, replace); more > 0 {
		text += fmt.Sprintf(", and %s at most if unusable rounds are replaced", longTime(float64(all+more)))
	}
	return text
}
