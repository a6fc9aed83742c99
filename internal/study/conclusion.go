package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

const (
	// LeastRounds is the least number of rounds that can show anything at [Confidence].
	LeastRounds = 6
	// leastRuns is, with fewer than LeastRounds rounds, the least number of runs whose own
	// intervals must all lie on one side of a bound.
	leastRuns = 2
	// Confidence is the confidence level of all intervals, but those of a test that is looked at several times: these
	// have the level of the look.
	Confidence = 0.95
)

// level is the confidence level of what decides a test.
type level float64

// rounds returns the least number of rounds that can show anything: of n pairs the least p-value of the exact test is 2/2ⁿ.
func (l level) rounds() (n int) {
	for n = 1; math.Ldexp(2, -n) > 1-float64(l); n++ {
	}
	return n
}

// Decide decides each conclusion of the study from the results alone.
//
// A test agrees or disagrees only if the exact test over at least six rounds passes, or if
// an exact interval lies entirely on one side of the bound: that of the median over at
// least six rounds, or with two to five rounds that of each run. Planned rounds without a
// result, and INVALID ones that were not replaced, may have any figure: what is decided is
// so wherever they lie.
//
// Figures that are suspect, below three times the noise floor, a lower bound, or not
// supported by the sample decide nothing; neither does a single round. Where the system's
// own figure lies all the same, both ends decide, see [within] and ranged. A comparison
// leaves out the rounds that are suspect for the machine, and none for the system's own
// behaviour or for a lag: with such rounds it is of the median of all, see whole.
//
// A test of cells with looks is decided at one of these, see [Look].
func Decide(o *Outcome) []Decision {
	all := []Decision{}
	for _, c := range o.Study.Conclusions {
		d := Decision{Conclusion: c.Name, Claim: c.Claim, Verdict: Undecidable}
		for i := range c.Tests {
			found, _ := o.find(&c.Tests[i])
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
	level  level
	early  bool             // more rounds may be made
	fixed  map[string]*Look // see find
	parts  []string         // cells that are decided each by itself
	texts  []string         // what was found
	gaps   gaps             // why figures decide nothing
	chosen bool             // without some of these rounds the others would be chosen by how the system did
	few    bool             // fewer than six rounds of a cell can be used
	left   gaps             // rounds that are left out whatever came of them
	stood  []string         // cells whose unfit rounds stand with the ends of their ranges
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
		if d.few {
			d.say("it takes %d rounds of each cell that can be used", d.level.rounds())
		}
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

// longer says what takes longer: the command of a longer length of the study, if there is one.
func (d *decider) longer() string {
	switch d.o.Length {
	case Quick:
		return "six rounds: " + d.o.Study.run()
	case Default:
		return "longer runs: " + d.o.Study.Run(Full)
	}
	return "more or longer rounds"
}

// more returns the command that makes more rounds; it is empty if the length plans fewer rounds
// of one of the cells than can show anything, because that command would not help.
func (d *decider) more(sides []side) string {
	if slices.ContainsFunc(sides, func(s side) bool { return s.cell.Cell.Rounds < d.level.rounds() }) {
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
