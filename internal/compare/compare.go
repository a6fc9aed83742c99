package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sixnines/result"
)

// Options are the choices of a comparison. The zero value is not valid: see
// Validate.
type Options struct {
	// MinEffect is the least change that matters, as a share, 0 to 10: 0.05 is a
	// factor of 1.05 or 1/1.05. Zero: any change matters.
	MinEffect float64
	// Metrics are the metrics that are judged; empty: the first response time that
	// the runs have, or of unpaced runs their throughput.
	Metrics []result.Metric
	// Percentiles are the percentiles that are compared, written as in
	// result.Percentiles; empty: all of these.
	Percentiles []result.Percentile
	// Workload is the only one of several that [Workloads] compares; a run with a single
	// workload without a name always matches. Empty: all.
	Workload string
	// RankUnlike allows a ranking of sets that differ in semantics or load.
	RankUnlike bool
	// Ended says that the series of an ab was ended before its next evaluation, or the end of its time. A series with
	// a fixed number of pairs shows that by itself.
	Ended bool
}

// Validate returns an error if MinEffect is out of range, or if a percentile or a metric
// is unknown.
func (o Options) Validate() error {
	if !(o.MinEffect >= 0 && o.MinEffect <= 10) {
		return fmt.Errorf("minimum effect %v is not between 0 and 1000 %%", o.MinEffect)
	}
	for _, p := range o.Percentiles {
		if !slices.Contains(result.Percentiles(), p) {
			return fmt.Errorf("percentile %q is not published; choose from %s", p, strings.Trim(fmt.Sprint(result.Percentiles()), "[]"))
		}
	}
	for _, m := range o.Metrics {
		if !slices.Contains(result.Metrics(), m) {
			return fmt.Errorf("unknown metric %q", m)
		}
	}
	return nil
}

// Asked identifies what is evaluated at the looks of a budget, which end the series by what they find.
func (o Options) Asked() string {
	return fmt.Sprintf("%g %v %v", o.MinEffect, o.Metrics, o.Percentiles)
}

// Compare compares b with the baseline a. It does not change the runs. Runs that cannot
// be used are left out and listed in the result. It returns an error only if no
// comparison is possible at all; the error wraps [ErrInput] if it is about the runs.
func Compare(a, b []*result.Run, o Options) (*Comparison, error) {
	return compareOne(a, b, o, nil)
}

// compareOne compares runs of one workload; beside has the other workloads of each run.
func compareOne(a, b []*result.Run, o Options, beside map[*result.Run][]*result.Run) (*Comparison, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	var controls [2][]*result.Run
	a, controls[0] = withoutControls(a)
	b, controls[1] = withoutControls(b)
	sets, err := sides(a, b, beside)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	same, again, err := controlPairs(controls[0], controls[1], beside)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	everyone, left, ab := couples(sets)
	again = append(remade(everyone), again...)
	var aside []Replaced
	if ab {
		everyone, aside = replaced(everyone)
	}
	pairs, unfit := fitOnes(everyone)
	c := &Comparison{Workload: cmp.Or(sets[0][0].Header.Workload, sets[1][0].Header.Workload), Background: isBackground(sets), Kind: KindSets, MinEffect: o.MinEffect, Confidence: Confidence, P: 1, Left: append(left, unfit...),
		A: setOf(0, sets[0], len(pairs)), B: setOf(1, sets[1], len(pairs)),
		Differences: []Difference{}, Pairs: []Pair{}, SuspectReasons: suspectReasons(pairs), Metrics: []Metric{}, Regressions: []string{}}
	c.Replaced, c.Remade = aside, again
	if c.Left == nil {
		c.Left = []Left{}
	}
	for _, p := range pairs {
		c.Pairs = append(c.Pairs, Pair{p.number, p.runs[0].name(), p.runs[1].name()})
	}
	if ab {
		c.Kind, c.Beside, c.Design, c.Made = KindAB, besideOf(everyone), designOf(everyone), len(everyone)
		if c.Design != nil {
			c.Confidence = level(c.Design.Looks, len(everyone))
			c.Planned = unfinished(c.Design, len(everyone), o.Ended)
		}
		if sameByDesign(sets) {
			c.Kind = KindAA
		} else {
			c.Changes = underTest(sets)
		}
	}
	refusing := c.settle(differences(sets))
	if d := orderOf(everyone, ab); d != nil {
		c.Differences = append(c.Differences, *d)
	}
	c.Differences = append(c.Differences, floors(sets)...)
	gravestFirst(c.Differences)
	gravestFirst(c.Follows)
	c.refuse(o, refusing)
	c.Accounts = accounts(pairs)
	if err := c.judge(pairs, same, o); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	c.gate(everyone, o)
	c.compareCosts(everyone)
	c.conclude()
	return c, nil
}

// refuse decides whether a ranking is allowed. asked are the decisive differences that an ab
// was asked to compare, or that follow from these.
func (c *Comparison) refuse(o Options, asked []Difference) {
	names := func(list []Difference) []string {
		var out []string
		for _, d := range list {
			if d.Weight == Decisive {
				out = append(out, d.What)
			}
		}
		return out
	}
	unlike := append(names(c.Differences), names(asked)...)
	c.Guarantees = guarantees(asked)
	switch {
	case len(unlike) == 0:
	case o.RankUnlike:
		c.Forced = true
	default:
		c.Refused = "A and B differ in " + list(unlike)
		c.Asked = len(unlike) == len(asked) && !slices.ContainsFunc(asked, func(d Difference) bool { return d.Why == whyMeaning && d.from != effective })
	}
}

// list writes words as "a, b and c", at most four of them and how many more.
func list(words []string) string {
	const most = 4
	if n := len(words); n > most {
		words = append(slices.Clone(words[:most]), fmt.Sprintf("%d more", n-most))
	}
	return all(words)
}

// all writes all words as "a, b and c".
func all(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// conclude sets the outcome, its text, the regressions and why nothing is gated.
func (c *Comparison) conclude() {
	for _, j := range c.Gate.Of(Worse) {
		c.Regressions = append(c.Regressions, fmt.Sprintf("%s: %s", c.Gate.Name(j), j.Text))
	}
	n := len(c.Pairs)
	seen := map[Outcome][]string{}
	var why []string    // the reasons why figures are undecided
	var open [][]string // the figures of each
	note := func(name string, r Row) {
		if r.Outcome == Undecided {
			reason := c.undecidedBy(r)
			i := slices.Index(why, reason)
			if i < 0 {
				i, why, open = len(why), append(why, reason), append(open, nil)
			}
			open[i] = append(open[i], name)
		}
		if r.Outcome != "" {
			seen[r.Outcome] = append(seen[r.Outcome], name)
		}
	}
	if c.Throughput != nil {
		note(throughput, *c.Throughput)
	}
	if c.Background {
		c.Outcome, c.Text = Unjudged, "A background workload: shown but not judged."
		return
	}
	several := 0
	for _, m := range c.Metrics {
		if m.Judged {
			several++
		}
	}
	for _, m := range c.Metrics {
		for _, r := range m.Rows {
			name := "p" + string(r.Percentile)
			if several > 1 {
				name = string(m.Metric) + " " + name
			}
			if m.Judged && r.Percentile != maximum {
				note(name, r)
			}
		}
	}
	decided := len(seen[Slower]) + len(seen[Faster]) + len(seen[Same]) + len(seen[NotSlower]) + len(seen[Undecided])
	switch {
	case n == 0:
		c.Outcome, c.Text = Nothing, "No pair of runs can be compared."
	case c.Refused != "" && !c.Asked:
		c.Outcome, c.Text = Unranked, "Not ranked: "+c.Refused+"."
	case n < MinPairs:
		c.Outcome, c.Text = TooFew, fmt.Sprintf("Not enough runs to decide: %d of %d pairs.", n, MinPairs)
	case c.Asked:
		c.Outcome, c.Text = Unranked, c.price()
	case decided == 0:
		c.Outcome, c.Text = NoFigure, "No percentile is supported in every run, so nothing can be judged."
	case len(seen[Slower]) > 0 && len(seen[Faster]) > 0:
		c.Outcome, c.Text = Mixed, fmt.Sprintf("B is slower than A at %s and faster at %s.", all(seen[Slower]), all(seen[Faster]))
	case len(seen[Slower]) > 0:
		c.Outcome, c.Text = Slower, fmt.Sprintf("B is slower than A by more than %s at %s.", percent(c.MinEffect), all(seen[Slower]))
	case len(seen[Faster]) > 0:
		c.Outcome, c.Text = Faster, fmt.Sprintf("B is faster than A by more than %s at %s.", percent(c.MinEffect), all(seen[Faster]))
	case len(seen[Undecided]) > 0:
		var parts []string
		for i := range why {
			parts = append(parts, fmt.Sprintf("at %s: %s", all(open[i]), why[i]))
		}
		c.Outcome, c.Text = Undecided, "Not decided "+strings.Join(parts, "; ")+"."
	case len(seen[NotSlower]) > 0:
		c.Outcome, c.Text = NotSlower, fmt.Sprintf("B is not slower than A by more than %s at %s; whether it is faster is not decided at %s.", percent(c.MinEffect), all(slices.Concat(seen[Same], seen[NotSlower])), all(seen[NotSlower]))
	default:
		c.Outcome, c.Text = Same, fmt.Sprintf("No difference that matters: less than %s at %s.", percent(c.MinEffect), all(seen[Same]))
	}
	if len(seen[NotSlower]) > 0 && (c.Outcome == Slower || c.Outcome == Faster || c.Outcome == Undecided) {
		c.Text += " Not slower at " + all(seen[NotSlower]) + "."
	}
	if len(seen[Undecided]) > 0 && (c.Outcome == Slower || c.Outcome == Faster) {
		c.Text += " Not decided at " + all(seen[Undecided]) + "."
	}
	switch c.Outcome {
	case Nothing, TooFew:
		c.Ungated = fmt.Sprintf("a gate needs at least %d usable pairs of runs, but there are %d", MinPairs, n)
	case Unranked:
		c.Ungated = "nothing is ranked, so nothing could fail: " + c.Refused
	case NoFigure:
		c.Ungated = "no percentile is supported in every run, so nothing could fail"
	}
	if c.Kind == KindAA && c.Planned == 0 { // an unfinished one has shown nothing
		switch {
		case len(seen[Slower])+len(seen[Faster]) > 0 || c.P <= 1-c.Confidence:
			alarm := "FALSE ALARM: A and B are the same. "
			if len(seen[Slower])+len(seen[Faster]) == 0 {
				alarm = fmt.Sprintf("FALSE ALARM: A and B are the same, but the pairs show a difference (p = %.2g). ", c.P)
			}
			c.Text = alarm + c.Text + " One in twenty A/A comparisons may do this; several in a row mean that pairs are not independent on this machine."
		case c.Control != nil && c.Control.Biased:
			c.Text = "A and B are the same, and so are both sides of the pairs that differ. " + c.Text
		case c.Outcome == Same || c.Outcome == NotSlower || c.Outcome == Undecided:
			c.Text = "No false alarm: A and B are the same. " + c.Text
		}
	}
}

// undecidedBy says why a figure is undecided.
func (c *Comparison) undecidedBy(r Row) string {
	switch r.Cause {
	case Disturbed, Unfinished, BiasedControl, NoControl:
		return r.judged.Text
	case SuspectRuns:
		return "suspect figures show nothing"
	}
	return c.Unshown()
}

// Unshown says in words what an interval does not decide.
func (c *Comparison) Unshown() string {
	return fmt.Sprintf("a change of more than %s is neither shown nor ruled out", percent(c.MinEffect))
}

// price says why a requested change prevents a ranking, and what the figures mean instead.
func (c *Comparison) price() string {
	if c.Guarantees == "" {
		return c.Refused + ", as requested: the changes show the effect, and neither side is called slower."
	}
	return c.Guarantees + " The changes show what that costs or saves; neither side is called slower."
}

// words writes the change and its interval.
func (s *Shift) words(throughput bool) string {
	what := "slower"
	if throughput {
		return fmt.Sprintf("%s (%s to %s)", change(s.Ratio), change(s.Lo), change(s.Hi))
	}
	return fmt.Sprintf("%s %s (%s to %s)", change(s.Ratio), what, change(s.Lo), change(s.Hi))
}

// change writes a factor as a relative change: 1.052 is "+5.2 %".
func change(ratio float64) string {
	p := (ratio - 1) * 100
	switch {
	case math.Abs(p) < 9.95:
		return fmt.Sprintf("%+.1f %%", p)
	case p < 1000:
		return fmt.Sprintf("%+.0f %%", p)
	}
	return fmt.Sprintf("× %.3g", ratio)
}

// percent writes a share: 0.05 is "5 %".
func percent(part float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", part*100), "0"), ".") + " %"
}
