package study

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// Over is a figure over the rounds of a cell.
type Over struct {
	Unit Unit
	// Value is that of the middle round of those with a number, the lower one of two:
	// percentiles are not averaged. Low to High, if Bounded, is its exact interval with
	// six rounds or more, at 95 %; with fewer, it reaches from the lowest to the highest end of the
	// runs' own intervals.
	Value, Low, High float64
	Bounded          bool
	AtLeast          bool // the number of some round is a lower bound
	Rounds           int  // number of rounds with a number, without INVALID ones
	// Unknown is the number of planned rounds without a usable result: they failed, were cut
	// or not made, or are INVALID and were not replaced. The interval holds whatever their
	// figures would be.
	Unknown int
	// Blocked says why the figure decides nothing; empty: it may decide.
	Blocked string
	// Least and Most are between which values the system's own figure lies whatever is not known of
	// some rounds; infinite where that is not known.
	Least, Most float64

	gaps gaps // Blocked, by reason
}

// absent are the planned rounds of a cell that have no run, or an INVALID one that was not
// replaced. Their figures are unknown.
type absent struct {
	rounds int
	why    string // the reason of the first, in words
}

// absentOf counts the absent rounds of a cell for a workload.
func absentOf(c *CellOutcome, workload string) absent {
	var a absent
	invalid, usable, why := 0, 0, ""
	for _, t := range c.Trials {
		switch {
		case t.Bench != nil:
			usable++
		case t.Run == nil && t.Why == "":
			a.rounds, a.why = a.rounds+1, cmp.Or(a.why, fmt.Sprintf("round %d was not made", t.Round))
		case t.Run == nil:
			a.rounds, a.why = a.rounds+1, cmp.Or(a.why, fmt.Sprintf("round %d %s: %s", t.Round, t.Outcome(), t.Why))
		default:
			if what, reason := t.invalid(workload); what != "" {
				invalid++
				why = cmp.Or(why, fmt.Sprintf("round %d is %s: %s", t.Round, what, reason))
			} else {
				usable++
			}
		}
	}
	// Rounds made in place of INVALID ones replace them.
	if n := min(invalid, c.Cell.Rounds-usable-a.rounds); n > 0 {
		a.rounds, a.why = a.rounds+n, cmp.Or(a.why, why)
	}
	return a
}

// text says how many rounds are absent.
func (a absent) text(c *CellOutcome) string {
	return fmt.Sprintf("%s: %d of %s have no result (%s)", c.Cell.Name, a.rounds, spell.Plural(int64(len(c.Trials)), "round"), a.why)
}

// readings are a figure in the rounds of a cell whose runs are not INVALID.
type readings struct {
	figures map[int]Figure // by round
	files   []string
	gaps    gaps // why figures decide nothing for the cell
	// scarce are the rounds that are left out, since fewer messages were due in them than the figure
	// takes: that is fixed before the run, and no round is chosen by what came of it. needs is how
	// many it takes.
	scarce []int
	needs  int64
}

// readRounds reads a figure in each round of a cell.
func readRounds(c *CellOutcome, name string, metric result.Metric, workload string) readings {
	r := readings{figures: map[int]Figure{}}
	var invalid gaps
	for _, t := range c.Trials {
		var f Figure
		switch {
		case t.Bench != nil:
			f = readBench(t.Bench, name)
		case t.Run == nil:
			continue
		default:
			run := PartOf(t.Run, workload)
			if run == nil {
				return readings{gaps: gaps{{why: "there is no workload " + workload, cell: c.Cell.Name}}}
			}
			if what, why := t.invalid(workload); what != "" {
				invalid.add(gap{why: what + " (" + why + ")", cell: c.Cell.Name, rounds: []int{t.Round}})
				continue
			}
			f = c.Cell.read(run, name, metric)
		}
		r.files = append(r.files, t.File)
		r.figures[t.Round] = f
		if f.Scarce {
			r.scarce, r.needs = append(r.scarce, t.Round), f.Needs
		}
	}
	if len(r.scarce) < len(r.figures) {
		for _, round := range r.scarce {
			delete(r.figures, round)
		}
	} else {
		r.scarce = nil // no round has enough: that is why
	}
	for _, round := range slices.Sorted(maps.Keys(r.figures)) {
		if f := r.figures[round]; f.why() != "" {
			r.gaps.add(gap{f.why(), name, c.Cell.Name, []int{round}})
		}
	}
	if len(r.figures) == 0 {
		if r.gaps = invalid; len(invalid) == 0 {
			r.gaps.add(gap{why: "no run", cell: c.Cell.Name})
		}
	}
	return r
}

func invalidRun(run *result.Run) bool {
	return run != nil && run.Summary != nil && run.Summary.Verdict.Status == result.Invalid
}

// read is [Read] for a run of the cell. If the study disturbs its systems on purpose, a figure
// that is only unsteady is fit.
func (c *Cell) read(run *result.Run, name string, metric result.Metric) Figure {
	f := Read(run, name, metric)
	if f.Unsteady && c.Disturbed {
		f.Unfit, f.Cause = "", ""
	}
	return f
}

// Spoilt reports whether the comparison t cannot use a run of the cell because of the machine
// or of Sixnines, and not because of the system: then another run may be usable. Verdicts decide that, never figures.
func (c *Cell) Spoilt(run *result.Run, t *Test) bool {
	run = PartOf(run, t.Workload)
	return run != nil && (invalidRun(run) || slices.ContainsFunc(t.Figures, func(name string) bool {
		f := c.read(run, name, t.Metric)
		return f.Missing == "" && f.Unfit != "" && !f.Selects && !f.Unsteady && !f.Little
	}))
}

// ReadRounds reads a figure over the rounds of a cell, as [Read] does of each, with [Confidence].
func ReadRounds(c *CellOutcome, name string, metric result.Metric, workload string) Over {
	return readOver(c, name, metric, workload, Confidence)
}

// readOver is [ReadRounds] with intervals of a level.
func readOver(c *CellOutcome, name string, metric result.Metric, workload string, at level) Over {
	r := readRounds(c, name, metric, workload)
	missing := absentOf(c, workload)
	o := Over{Blocked: strings.Join(r.gaps.texts(), "; "), Unknown: missing.rounds, gaps: r.gaps}
	o.Least, o.Most = within(r.figures, o.Unknown, at)
	o.Unit, _ = UnitOf(name)
	var values []float64
	low, high, bounded := math.Inf(1), math.Inf(-1), true
	for _, f := range r.figures {
		if f.Missing != "" {
			continue
		}
		values = append(values, f.Value)
		low, high, bounded = min(low, f.Low), max(high, f.High), bounded && f.Bounded
		o.AtLeast = o.AtLeast || f.AtLeast
	}
	o.Rounds = len(values)
	if o.Rounds == 0 {
		return o
	}
	slices.Sort(values)
	o.Value = values[(len(values)-1)/2]
	if o.Rounds+o.Unknown >= at.rounds() {
		o.Low, o.High, o.Bounded = stats.MedianIntervalAbsent(values, o.Unknown, float64(at))
	} else if bounded && o.Unknown == 0 {
		o.Low, o.High, o.Bounded = low, high, true
	}
	switch {
	case o.Blocked != "":
	case !o.Bounded && o.Unknown > 0:
		o.blocked(gap{why: missing.text(c) + ": with them the answer may be another"})
	case o.Rounds < at.rounds() && (!bounded || o.Rounds < leastRuns):
		o.blocked(gap{why: fmt.Sprintf("%s of %s has %s", name, c.Cell.Name, spell.Plural(o.Rounds, "round"))})
	}
	return o
}

func (o *Over) blocked(x gap) {
	o.gaps.add(x)
	o.Blocked = strings.Join(o.gaps.texts(), "; ")
}

// text writes the figure with its interval.
func (o *Over) text() string {
	return fmt.Sprintf("%s (%s to %s)", Spell(o.Value, o.Unit), Spell(o.Low, o.Unit), Spell(o.High, o.Unit))
}

// Spell writes a figure with its unit, for output.
func Spell(v float64, u Unit) string {
	switch {
	case math.IsInf(v, 0):
		return "∞"
	case u == Nanoseconds && math.Abs(v) < 99.95: // of a benchmark; latencies are whole numbers
		return strconv.FormatFloat(v, 'g', 3, 64) + " ns"
	case u == Nanoseconds:
		return spell.Nanoseconds(v)
	case u == PerSecond:
		return spell.Rate(v)
	case u == Count:
		return spell.Count(int64(v))
	case u == Seconds:
		return spell.Nanoseconds(v * 1e9)
	case u == Bytes:
		return spell.Size(int64(v))
	case u == BytesRate:
		return spell.Size(int64(v)) + "/s"
	}
	return spell.Number(v)
}
