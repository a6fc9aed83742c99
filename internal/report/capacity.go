package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"sixnines/internal/judge"
	"sixnines/internal/spell"
	"sixnines/internal/sweep"
)

// Capacity is the outcome of a search for the highest rate.
type Capacity struct {
	sweep.Answer
	Load       string // what was searched, for people
	Objectives []string
	Windows    []time.Duration // of the trials, in their order
	Directory  string          // of the results
	Sizing     *Sizing         // nil: not asked for
}

// Sizing is how many systems a rate needs.
type Sizing struct {
	Rate       float64 // messages a second
	Headroom   float64 // a share
	Machines   int     // 0: not known, since no rate was shown to hold
	Assumption string
}

// CapacityTerminal writes the answer for people: the trials, and what they show.
func CapacityTerminal(w io.Writer, c *Capacity, opt Options) error {
	p := newPrinter(opt)
	p.document(c.document())
	return p.write(w)
}

// document is what the answer says.
func (c *Capacity) document() document {
	x := &table{Head: columnHeads("lrrll", "trials", "rate", "window", "outcome", "limit"), Even: true}
	for i, t := range c.Trials {
		x.add(string(t.Stage), rate(t.Rate.Float()), spell.Period(c.Windows[i]), string(t.Outcome), string(t.Limit))
	}
	var out document
	out.say("", plain(c.Load)+": "+plain(strings.Join(c.Objectives, ", ")), normal)
	out.add(gap{}, x, gap{})
	for _, sentence := range c.findings() {
		out.say("", sentence, normal)
	}
	return out
}

// findings returns what the trials show, one sentence each.
func (c *Capacity) findings() (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case c.Holds == 0 && c.Fails == 0:
		say("No tested rate was shown to hold or to fail.")
	case c.NoneHolds():
		say("No tested rate holds: %s, the lowest, fails%s.", rate(c.Fails), c.confirmed(true))
	case c.Holds == 0:
		say("No rate was confirmed to hold; %s fails%s.", rate(c.Fails), c.confirmed(c.FailsConfirmed))
	case c.AtLeast():
		say("The highest rate that holds is at least %s%s.", rate(c.Holds), c.confirmed(c.HoldsConfirmed))
	default:
		say("The highest rate that holds lies in [%s, %s)%s.", rate(c.Holds), rate(c.Fails), c.confirmed(c.HoldsConfirmed && c.FailsConfirmed))
	}
	if c.Limit != "" {
		say("Limited by %s: %s", c.Limit, ended(plain(c.Why)))
	}
	if c.Above != (sweep.Bracket{}) {
		say("Approached from below, %s holds; from above, %s: %s.", rateOrNone(c.Below.Holds), rateOrNone(c.Above.Holds), hysteresisText(c.Hysteresis))
	}
	for i, t := range c.Trials {
		if again := judge.Again(t.Attempts); again != "" {
			say("Trial %d, %s at %s, %s%s.", i+1, t.Stage, rate(t.Rate.Float()), plain(again),
				map[bool]string{true: ", and counts as undecided"}[t.Stage == sweep.Confirming])
		}
	}
	if c.Stopped != "" {
		say("The search ended early: %s; the same command with --resume %s continues.", plain(c.Stopped), plain(c.Directory))
	}
	if c.Sizing != nil {
		out = append(out, c.sizing())
	}
	return out
}

// sizing says how many systems are needed, and what that rests on.
func (c *Capacity) sizing() string {
	f := c.Sizing
	if f.Machines == 0 {
		return fmt.Sprintf("How many such systems %s needs is not known: no rate was shown to hold.", rate(f.Rate))
	}
	systems := plural(f.Machines, "such system")
	switch {
	case !c.HoldsConfirmed:
		systems += fmt.Sprintf(", if %s holds, which new trials have not confirmed, and", rate(c.Holds))
	case c.AtLeast():
		systems = "at most " + systems + ", if"
	default:
		systems += ", if"
	}
	return fmt.Sprintf("%s with %s headroom needs %s %s.", rate(f.Rate), spell.Percent(f.Headroom), systems, f.Assumption)
}

// hysteresisText says whether the system carries less after an overload.
func hysteresisText(h sweep.Hysteresis) string {
	if h.Rate == 0 {
		return "no hysteresis was found"
	}
	verdict := "hysteresis is not shown"
	if h.Shown {
		verdict = "hysteresis: the system carries less after an overload"
	}
	return verdict + fmt.Sprintf(" (at %s the objectives were met in %d of %d trials on a fresh system and in %d of %d after an overload, p = %.2g)",
		rate(h.Rate), h.Fresh.Met, h.Fresh.Of, h.After.Met, h.After.Of, h.P)
}

// confirmed returns what an answer is based on.
func (c *Capacity) confirmed(by bool) string {
	if by {
		return fmt.Sprintf(", with %s confidence, confirmed by new trials", spell.Percent(c.Confidence))
	}
	return ", not confirmed by new trials"
}

func rateOrNone(perSecond float64) string {
	if perSecond == 0 {
		return "no tested rate"
	}
	return rate(perSecond)
}
