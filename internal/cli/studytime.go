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

// foreseen returns how long trials take, about, and how many times brokers are started for them.
func (p *studyPlan) foreseen(places []trials.Place) (all time.Duration, starts int) {
	kept := "" // the group whose broker is running and unchanged
	for _, at := range places {
		c := &p.cells[at.Cell]
		all += c.takes() + trialBeside + p.beside
		if c.managed && c.group != kept {
			starts++
			all += startTakes
		}
		if kept = c.group; c.managed && changesBroker(c.scenario) {
			kept = ""
		}
	}
	return all, starts
}

// replacing returns how long the rounds take that may be made in place of unusable ones, at most; replace is
// [studyOptions.replace].
func (p *studyPlan) replacing(places []trials.Place, replace int) (all time.Duration) {
	seen := map[int]bool{}
	for _, at := range places {
		if c := &p.cells[at.Cell]; !seen[at.Cell] {
			seen[at.Cell] = true
			all += time.Duration(p.mostReplaced(c, replace)) * (c.takes() + trialBeside + p.beside)
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
	text := fmt.Sprintf("%s of %s, about %s including %s", spell.Plural(len(places), "trial"), spell.Plural(len(cells), "cell"),
		longTime(float64(all)), spell.Plural(starts, "broker start"))
	if first := p.certain(places); len(first) < len(places) {
		least, _ := p.foreseen(first)
		text = fmt.Sprintf("%s to %s of %s, about %s (all is decided at the next look) to %s (at the last) including up to %s", spell.Count(len(first)),
			spell.Plural(len(places), "trial"), spell.Plural(len(cells), "cell"), longTime(float64(least)), longTime(float64(all)), spell.Plural(starts, "broker start"))
	}
	if more := p.replacing(places, replace); more > 0 {
		text += fmt.Sprintf(", and %s at most if unusable rounds are replaced", longTime(float64(all+more)))
	}
	return text
}
