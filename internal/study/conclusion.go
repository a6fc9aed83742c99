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
// A test that was not decided has not agreed, whatever the reason: a conclusion never agrees for a part
// of its claim.
func together(all []Found, share float64) Verdict {
	count := map[Verdict]int{}
	for _, f := range all {
		count[f.Verdict]++
	}
	if share == 0 {
		share = 1
	}
	switch least := share * float64(len(all)); {
	case len(all) > 0 && float64(count[Agrees]) >= least:
		return Agrees
	case float64(len(all)-count[Disagrees]) < least:
		return Disagrees
	}
	return Undecidable
}

// decider decides one test.
type decider struct {
	o      *Outcome
	t      *Test
	texts  []string // what was found
	gaps   gaps     // why figures decide nothing
	chosen bool     // without some of these rounds the others would be chosen by how the system did
	left   gaps     // rounds that are left out whatever came of them
	stood  []string // cells whose unfit rounds stand with the ends of their ranges
	needs  []string
	cells  []string
	files  []string
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
	f := Found{Kind: d.t.Kind, Verdict: v, Cells: d.cells, Files: d.files}
	if v == Undecidable {
		d.texts = append(d.texts, d.gaps.texts()...)
		if d.chosen {
			d.say("without such rounds the others would be chosen by how the system did")
		}
		f.Needs = strings.Join(d.needs, "; ")
	}
	d.texts = append(d.texts, d.left.texts()...)
	if len(d.stood) > 0 {
		d.say("suspect rounds of %s stand with what their figures are at least and at most", spoken(d.stood))
	}
	f.Text = strings.Join(d.texts, "; ")
	return f
}

// lacks notes why a figure decides nothing.
func (d *decider) lacks(x gap) { d.gaps.add(x) }

// stand notes that an unfit figure of a cell stands with an end of its range.
func (d *decider) stand(s side) {
	if name := s.cell.Cell.Name; !slices.Contains(d.stood, name) {
		d.stood = append(d.stood, name)
	}
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
func (d *decider) more(sides []side) string {
	if slices.ContainsFunc(sides, func(s side) bool { return s.cell.Cell.Rounds < LeastRounds }) {
		return ""
	}
	return d.o.More
}

// read calls [readRounds] and notes the files used and the rounds left out.
func (d *decider) read(c *CellOutcome, name string) readings {
	r := readRounds(c, name, d.t.Metric, d.t.Workload)
	d.use(r.files)
	if len(r.scarce) > 0 {
		d.left.add(gap{fmt.Sprintf("left out, since fewer messages were due than the %s that it takes, which the schedule fixes before the run", spell.Count(r.needs)), name, c.Cell.Name, r.scarce})
	}
	return r
}

// use notes files.
func (d *decider) use(files []string) {
	for _, f := range files {
		if !slices.Contains(d.files, f) {
			d.files = append(d.files, f)
		}
	}
}

// two returns the cells A and B as sides, so that the quotient B ÷ A is at its least; false if one
// has no run.
func (d *decider) two() ([]side, bool) {
	a, b := d.cell(d.t.A), d.cell(d.t.B)
	return []side{{a, atMost}, {b, atLeast}}, a != nil && b != nil
}

// split splits the rows of a table, whose sides are pairs, into the first of each pair and the second.
func (t *table) split() (a, b [][]float64) {
	n := len(t.figures)
	for _, row := range t.values {
		var one, other []float64
		for i := 0; i+2*n <= len(row); i += 2 * n {
			one, other = append(one, row[i:i+n]...), append(other, row[i+n:i+2*n]...)
		}
		a, b = append(a, one), append(b, other)
	}
	return a, b
}

// shift compares the second of each pair of sides with the first; the points are by pair, then by
// figure. There are none if the table is nil.
func (d *decider) shift(t *table) []stats.ShiftPoint {
	if t == nil {
		return nil
	}
	a, b := t.split()
	s, err := stats.ShiftFunction(a, b, Confidence)
	if err != nil {
		d.say("%v", err)
		return nil
	}
	return s.Points
}

// point returns the point of a figure in a table of one pair; ok is false if it has none.
func (t *table) point(all []stats.ShiftPoint, figure string) (p stats.ShiftPoint, ok bool) {
	if t == nil || all == nil {
		return p, false
	}
	k := slices.Index(t.figures, figure)
	if k < 0 {
		return p, false
	}
	return all[k], true
}

// shown reports whether a shift is significant, which its interval then says of which direction.
func shown(p stats.ShiftPoint, ok bool) bool { return ok && p.Bounded && p.P <= 1-Confidence }

// pairs decides by the exact paired test whether A is faster than B, or equivalent to it.
func (d *decider) pairs() Verdict {
	sides, ok := d.two()
	if !ok {
		return Undecidable
	}
	low, high := d.ranged(sides)
	least, most := d.shift(low), d.shift(high)
	v := Agrees
	undecided := map[int][]string{} // by number of rounds
	for _, name := range d.t.Figures {
		l, isLow := low.point(least, name) // B ÷ A, at its least and at its most
		h, isHigh := high.point(most, name)
		larger, smaller := shown(l, isLow) && l.Lo > 1, shown(h, isHigh) && h.Hi < 1
		yes, no := larger, smaller
		switch margin := 1 + d.t.Margin; {
		case d.t.Kind == KindEquivalent:
			yes = isLow && isHigh && l.Bounded && h.Bounded && l.Lo >= 1/margin && h.Hi <= margin
			no = larger && l.Lo > margin || smaller && h.Hi < 1/margin
		case more(name):
			yes, no = smaller, larger
		}
		if isLow || isHigh {
			d.say("%s: %s ÷ %s is %s", name, d.t.B, d.t.A, between(low, high, l, h, isLow, isHigh))
		}
		switch {
		case no:
			return Disagrees
		case !yes:
			v = Undecidable
			if isLow || isHigh {
				n := max(low.length(), high.length())
				undecided[n] = append(undecided[n], name)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(undecided)) {
		d.need(fmt.Sprintf("more or longer rounds: %s not decided by %d", are(undecided[n]), n))
	}
	return v
}

// length returns the number of rounds, 0 without a table.
func (t *table) length() int {
	if t == nil {
		return 0
	}
	return t.rounds
}

// are joins words with the verb that they take.
func are(words []string) string {
	if len(words) == 1 {
		return words[0] + " is"
	}
	return spoken(words) + " are"
}

// between writes a shift: one interval, or where unfit figures have ranges the ends that are known.
func between(low, high *table, l, h stats.ShiftPoint, isLow, isHigh bool) string {
	switch {
	case !isHigh:
		return fmt.Sprintf("at least %s in %s", interval(l.Ratio, l.Lo, l.Hi), low.in())
	case !isLow:
		return fmt.Sprintf("at most %s in %s", interval(h.Ratio, h.Lo, h.Hi), high.in())
	case l == h:
		return fmt.Sprintf("%s in %s", interval(l.Ratio, l.Lo, l.Hi), low.in())
	}
	return fmt.Sprintf("between %s and %s in %s", interval(l.Ratio, l.Lo, l.Hi), interval(h.Ratio, h.Lo, h.Hi), low.in())
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
	sides, ok := d.two()
	if !ok {
		return Undecidable
	}
	high, low := d.ranged(sides) // A ÷ B
	l, isLow := d.quotients(low)
	h, isHigh := d.quotients(high)
	if !isLow && !isHigh {
		return Undecidable
	}
	text := ""
	switch {
	case !isHigh:
		text = "at least " + interval(l.Median, l.Lo, l.Hi)
		h.Hi = math.Inf(1)
	case !isLow:
		text = "at most " + interval(h.Median, h.Lo, h.Hi)
		l.Lo = 0
	case l == h:
		text = interval(l.Median, l.Lo, l.Hi)
	default:
		text = "between " + interval(l.Median, l.Lo, l.Hi) + " and " + interval(h.Median, h.Lo, h.Hi)
	}
	t := low
	if !isLow {
		t = high
	}
	d.say("%s: %s ÷ %s is %s in %s, %s is claimed", t.figures[0], d.t.A, d.t.B, text, t.in(), d.t.claimed())
	return d.side(l.Lo, h.Hi, spell.Plural(t.rounds, "round"))
}

// quotients returns the median of A ÷ B over the rounds of a table; false if it has no interval.
func (d *decider) quotients(t *table) (r stats.Ratio, ok bool) {
	if t == nil {
		return r, false
	}
	var a, b []float64
	for _, row := range t.values {
		a, b = append(a, row[0]), append(b, row[1])
	}
	r, err := stats.MedianRatio(a, b, Confidence)
	if err != nil || !r.Bounded {
		d.lacks(gap{why: fmt.Sprintf("no interval of %s", spell.Plural(t.rounds, "round"))})
		return r, false
	}
	return r, true
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
	var sides []side // of each step the one cell and the other, so that the quotient is at its least
	names := slices.Clone(d.t.Cells)
	if d.t.Direction == "falling" {
		slices.Reverse(names)
	}
	for i, name := range names {
		c := d.cell(name)
		switch {
		case c == nil:
			return Undecidable
		case i > 0:
			sides = append(sides, side{d.o.Cell(names[i-1]), atMost}, side{c, atLeast})
		}
	}
	low, high := d.ranged(sides)
	least, most := d.shift(low), d.shift(high)
	v := Agrees
	var steps []string
	for k := range len(names) - 1 {
		a, b := names[k], names[k+1]
		var l, h stats.ShiftPoint
		if least != nil {
			l = least[k]
		}
		if most != nil {
			h = most[k]
		}
		if least != nil || most != nil {
			d.say("%s: %s ÷ %s is %s", d.t.Figures[0], b, a, between(low, high, l, h, least != nil, most != nil))
		}
		switch {
		case shown(h, most != nil) && h.Hi < 1:
			return Disagrees
		case !(shown(l, least != nil) && l.Lo > 1):
			v = Undecidable
			steps = append(steps, a+" to "+b)
		}
	}
	if len(steps) > 0 && (least != nil || most != nil) {
		d.need("more or longer rounds: " + are(steps) + " not decided")
	}
	return v
}
