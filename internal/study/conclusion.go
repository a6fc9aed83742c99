package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

const (
	// LeastRounds is the least number of rounds that can show anything at [Confidence]:
	// with six pairs, the least p-value of the exact test is 2/2⁶.
	LeastRounds = 6
	// leastRuns is, with fewer than LeastRounds rounds, the least number of runs whose own
	// intervals must all lie on one side of a bound.
	leastRuns = 2
	// Confidence is the confidence level of all intervals.
	Confidence = 0.95
)

// Decide decides each conclusion of the study from the results alone.
//
// A test agrees or disagrees only if the exact test over at least six rounds passes, or if
// an exact interval lies entirely on one side of the bound: that of the median over at
// least six rounds, or with two to five rounds that of each run. Planned rounds without a
// result, and INVALID ones that were not replaced, may have any figure: a bound is decided
// only if the answer is the same wherever they lie, a comparison not at all.
//
// Figures that are suspect, below three times the noise floor, a lower bound, or not
// supported by the sample decide nothing; neither does a single round. What can only have been
// lengthened is an upper bound all the same, see [within] and bySide. A comparison leaves
// out the rounds with such a figure, unless the reason is the system's own behaviour:
// UNSTABLE, refused, a lower bound, near the floor. The remaining rounds are paired by
// round, or, if fewer than six are usable in all cells, by order.
func Decide(o *Outcome) []Decision {
	all := []Decision{}
	for _, c := range o.Study.Conclusions {
		d := Decision{Conclusion: c.Name, Claim: c.Claim, Verdict: Undecidable}
		for i := range c.Tests {
			found := (&decider{o: o, t: &c.Tests[i]}).decide()
			found.Theirs, found.Slip = cmp.Or(o.Study.Theirs(&c.Tests[i]).Text, c.Tests[i].Unprinted), c.Tests[i].Slip
			d.Tests = append(d.Tests, found)
		}
		d.Verdict = together(d.Tests, c.Share)
		all = append(all, d)
	}
	return all
}

// together returns the verdict of several tests if the given share of them must agree; 0: all.
// An undecided test does not count as agreeing. Tests of the kind undecidable are left out.
func together(all []Found, share float64) Verdict {
	count, tests := map[Verdict]int{}, 0
	for _, f := range all {
		if f.Kind != KindUndecidable {
			tests++
			count[f.Verdict]++
		}
	}
	if share == 0 {
		share = 1
	}
	switch least := share * float64(tests); {
	case tests > 0 && float64(count[Agrees]) >= least:
		return Agrees
	case float64(tests-count[Disagrees]) < least:
		return Disagrees
	}
	return Undecidable
}

// decider decides one test.
type decider struct {
	o     *Outcome
	t     *Test
	texts []string // what was found
	needs []string
	cells []string
	files []string
}

func (d *decider) decide() Found {
	var v Verdict
	if n := d.o.processors(); n < d.t.Processors {
		have := spell.Plural(n, "processor")
		if n == 0 {
			have = "an unknown number of processors"
		}
		return Found{Kind: d.t.Kind, Verdict: Undecidable, Text: fmt.Sprintf("clients and broker share %s here, and what is claimed takes %d", have, d.t.Processors), Needs: d.t.machine()}
	}
	switch d.t.Kind {
	case KindFaster, KindEquivalent:
		v = d.pairs()
	case KindRatio:
		v = d.ratio()
	case KindMonotone:
		v = d.monotone()
	case KindBelow, KindAbove:
		v = d.bounds()
	case KindShare:
		v = d.share()
	case KindSteady:
		v = d.steady()
	case KindNone, KindSome:
		v = d.occurs()
	case KindArithmetic:
		v = d.arithmetic()
	default: // KindUndecidable
		return Found{Kind: d.t.Kind, Verdict: Undecidable, Text: d.t.Why, Needs: d.t.Needs}
	}
	f := Found{Kind: d.t.Kind, Verdict: v, Text: strings.Join(d.texts, "; "), Cells: d.cells, Files: d.files}
	if v == Undecidable {
		f.Needs = strings.Join(d.needs, "; ")
	}
	return f
}

// machine names the machine that can decide the test.
func (t *Test) machine() string { return fmt.Sprintf("a machine of %d processors", t.Processors) }

// processors returns how many processors the machine has, 0 if that is not known.
func (o *Outcome) processors() int {
	for _, f := range o.Machine {
		if n, err := strconv.Atoi(f.Value); f.Name == result.FactProcessors && err == nil {
			return n
		}
	}
	return 0
}

func (d *decider) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(d.texts, text) {
		d.texts = append(d.texts, text)
	}
}

func (d *decider) need(text string) {
	if text != "" && !slices.Contains(d.needs, text) {
		d.needs = append(d.needs, text)
	}
}

// cell returns the outcome of a cell; nil if it has no run, and then the reason is noted.
func (d *decider) cell(name string) *CellOutcome {
	if !slices.Contains(d.cells, name) {
		d.cells = append(d.cells, name)
	}
	c := d.o.Cell(name)
	if c == nil {
		d.say("%s is not in the length %s", name, d.o.Length)
		d.need(d.longer())
		return nil
	}
	if slices.ContainsFunc(c.Trials, func(t TrialOutcome) bool { return t.Made() }) {
		return c
	}
	for _, s := range d.o.Skipped {
		if s.System == c.Cell.System.Name {
			d.say("%s: %s", name, s.Why)
			d.need(s.How)
			return nil
		}
	}
	d.say("%s was not measured", name)
	for _, t := range c.Trials {
		if t.Why != "" {
			d.say("%s %s: %s", name, t.Outcome(), t.Why)
			if t.Refused {
				d.need("a broker that does it")
				return nil
			}
			break
		}
	}
	made := ""
	if d.o.Rest != "" {
		made = d.o.Rest + " --only '" + name + "'"
	}
	d.need(cmp.Or(made, d.longer()))
	return nil
}

// longer says by which command a longer length of the study runs; it is empty for the longest.
func (d *decider) longer() string {
	switch d.o.Length {
	case Quick:
		return "six rounds: " + d.o.Study.run()
	case Default:
		return "longer runs: " + d.o.Study.Run(Full)
	}
	return ""
}

// more returns the command that makes more rounds; it is empty if the length plans fewer than
// six rounds of one of the cells, because that command would not help.
func (d *decider) more(cells []*CellOutcome) string {
	if slices.ContainsFunc(cells, func(c *CellOutcome) bool { return c.Cell.Rounds < LeastRounds }) {
		return ""
	}
	return d.o.More
}

// read calls [readRounds] and notes the files used.
func (d *decider) read(c *CellOutcome, name string) (map[int]Figure, string) {
	figures, files, blocked := readRounds(c, name, d.t.Metric, d.t.Workload)
	for _, f := range files {
		if !slices.Contains(d.files, f) {
			d.files = append(d.files, f)
		}
	}
	return figures, blocked
}

// two returns the outcomes of the cells A and B; false if one has no run.
func (d *decider) two() ([]*CellOutcome, bool) {
	a, b := d.cell(d.t.A), d.cell(d.t.B)
	return []*CellOutcome{a, b}, a != nil && b != nil
}

// split splits the table of two cells into one for each cell.
func (t *table) split() (a, b [][]float64) {
	n := len(t.figures)
	for _, row := range t.values {
		a, b = append(a, row[:n]), append(b, row[n:])
	}
	return a, b
}

// pairs decides by the exact paired test whether A is faster than B, or equivalent to it.
func (d *decider) pairs() Verdict {
	cells, ok := d.two()
	switch {
	case !ok:
		return Undecidable
	case d.t.Kind == KindFaster:
		return d.bySide(cells, 0, 1, (*decider).paired)
	}
	return d.paired(d.table(cells, d.t.Figures, noCell))
}

// paired decides on the table of two cells.
func (d *decider) paired(t *table) Verdict {
	if t == nil {
		return Undecidable
	}
	a, b := t.split()
	s, err := stats.ShiftFunction(a, b, Confidence)
	if err != nil {
		d.say("%v", err)
		return Undecidable
	}
	all := len(t.figures) == len(d.t.Figures)
	for k, name := range t.figures {
		p := s.Points[k]
		low, high := p.Lo, p.Hi // of B ÷ A
		if more(name) {
			low, high = 1/p.Hi, 1/p.Lo
		}
		shown := p.Bounded && p.P <= 1-Confidence
		d.say("%s: %s ÷ %s is %s in %s", name, d.t.B, d.t.A, interval(p.Ratio, p.Lo, p.Hi), t.in())
		switch {
		case d.t.Kind == KindFaster && shown && high < 1:
			return Disagrees
		case d.t.Kind == KindEquivalent && shown && (p.Lo > 1+d.t.Margin || p.Hi < 1/(1+d.t.Margin)):
			return Disagrees
		case d.t.Kind == KindFaster && !(shown && low > 1),
			d.t.Kind == KindEquivalent && !(p.Bounded && p.Lo >= 1/(1+d.t.Margin) && p.Hi <= 1+d.t.Margin):
			all = false
			d.need(fmt.Sprintf("more or longer rounds: %s is not decided by %d", name, t.rounds))
		}
	}
	if all {
		return Agrees
	}
	return Undecidable
}

// more reports whether a larger value of a figure is better.
func more(name string) bool {
	u, _ := UnitOf(name)
	return u == PerSecond || u == BytesRate || name == "availability"
}

// interval writes a ratio with its interval; both ends 0: no interval.
func interval(x, low, high float64) string {
	if low == 0 && high == 0 {
		return spell.Number(x) + " (no interval)"
	}
	return fmt.Sprintf("%s (%s to %s)", spell.Number(x), spell.Number(low), spell.Number(high))
}

// ratio compares the median of the rounds' quotients with a bound.
func (d *decider) ratio() Verdict {
	cells, ok := d.two()
	if !ok {
		return Undecidable
	}
	least, most := 0, 1 // a small quotient is shown by what A is at most, a large one by what B is
	if d.t.AtLeast != nil {
		least, most = most, least
	}
	return d.bySide(cells, least, most, (*decider).quotients)
}

// quotients decides on the table of two cells.
func (d *decider) quotients(t *table) Verdict {
	if t == nil {
		return Undecidable
	}
	var a, b []float64
	for _, row := range t.values {
		a, b = append(a, row[0]), append(b, row[1])
	}
	r, err := stats.MedianRatio(a, b, Confidence)
	if err != nil || !r.Bounded {
		d.say("no interval of %s", spell.Plural(t.rounds, "round"))
		return Undecidable
	}
	d.say("%s: %s ÷ %s is %s in %s, %s is claimed", t.figures[0], d.t.A, d.t.B, interval(r.Median, r.Lo, r.Hi), t.in(), d.t.claimed())
	return d.side(r.Lo, r.Hi, spell.Plural(t.rounds, "round"))
}

// side returns the verdict for an interval and the bound AtLeast or AtMost.
func (d *decider) side(low, high float64, of string) Verdict {
	least, most := math.Inf(-1), math.Inf(1)
	if d.t.AtLeast != nil {
		least = *d.t.AtLeast
	} else {
		most = *d.t.AtMost
	}
	switch {
	case low >= least && high <= most:
		return Agrees
	case high < least || low > most:
		return Disagrees
	}
	d.need("more or longer rounds: the interval of " + of + " has what is claimed in it")
	return Undecidable
}

// monotone decides whether a figure rises, or falls, from each cell to the next.
func (d *decider) monotone() Verdict {
	var cells []*CellOutcome
	for _, name := range d.t.Cells {
		c := d.cell(name)
		if c == nil {
			return Undecidable
		}
		cells = append(cells, c)
	}
	t := d.table(cells, d.t.Figures, noCell)
	if t == nil {
		return Undecidable
	}
	var from, to [][]float64
	for _, row := range t.values {
		from, to = append(from, row[:len(row)-1]), append(to, row[1:])
	}
	if d.t.Direction == "falling" {
		from, to = to, from
	}
	s, err := stats.ShiftFunction(from, to, Confidence)
	if err != nil {
		d.say("%v", err)
		return Undecidable
	}
	v := Agrees
	for k, p := range s.Points {
		a, b := d.t.Cells[k], d.t.Cells[k+1]
		if d.t.Direction == "falling" {
			a, b = b, a
		}
		d.say("%s: %s ÷ %s is %s", t.figures[0], b, a, interval(p.Ratio, p.Lo, p.Hi))
		switch {
		case p.Bounded && p.P <= 1-Confidence && p.Lo > 1:
		case p.Bounded && p.P <= 1-Confidence && p.Hi < 1:
			return Disagrees
		default:
			v = Undecidable
			d.need(fmt.Sprintf("more or longer rounds: the step from %s to %s is not decided", d.t.Cells[k], d.t.Cells[k+1]))
		}
	}
	return v
}
