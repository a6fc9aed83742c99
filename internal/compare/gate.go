package compare

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// Answer is the result of one subject of a gate, or of the whole gate.
type Answer string

// The answers.
const (
	NotWorse   Answer = "not worse"  // B is shown to be better, or worse by no more than matters
	Worse      Answer = "worse"      // B is shown to be worse by more than matters
	Open       Answer = "undecided"  // neither is shown
	Ungradable Answer = "not judged" // nothing may be judged: unlike things, or a workload in the background
)

// Subject is what a gate judges.
type Subject string

// The subjects. OfBroken to OfCorrupted are shares of the messages due, or of the deliveries expected.
const (
	OfThroughput Subject = "throughput"
	OfPercentile Subject = "percentile"
	OfFailures   Subject = "failures"            // overload, nothing delivered, a judged percentile that unresolved or refused messages reach
	OfBroken     Subject = "lost_although_acked" // the broker broke its promise
	OfLost       Subject = "lost"                // and never acknowledged, or perhaps still held
	OfUnanswered Subject = "unanswered"          // sent, and neither acknowledged nor refused
	OfRefused    Subject = "refused"
	OfCorrupted  Subject = "corrupted"
	OfRate       Subject = "rate_kept" // sent ÷ due
	OfLeftOut    Subject = "left_out"  // runs that are in no pair
	OfReplaced   Subject = "replaced"  // pairs that were replaced or made again
	OfPairs      Subject = "pairs"     // whether the pairs are enough
)

// Cause is why a subject is undecided.
type Cause string

// The causes.
const (
	WideInterval  Cause = "interval"       // a change that matters is neither shown nor ruled out
	NoInterval    Cause = "no_interval"    // the pairs do not give an interval
	Missing       Cause = "missing_figure" // some run lacks the figure, or has only a lower bound
	Unsupported   Cause = "unsupported"    // requested, but no run has enough messages for it
	SuspectRuns   Cause = "suspect"        // too few pairs are free of suspect figures, or these give another answer
	FewSigns      Cause = "few_signs"      // too few pairs differ for the exact sign test
	Excluded      Cause = "excluded_runs"  // they could have changed the answer
	TooFewPairs   Cause = "too_few_pairs"
	Unfinished    Cause = "unfinished" // the series was ended before it was over
	Disturbed     Cause = "disturbed"  // runs at the same time may have slowed each other, see [Beside]
	BiasedControl Cause = "control"    // A beside A differs, see [Control]
	NoControl     Cause = "no_control" // it is not known whether A beside A differs
)

// Judged is one judgement of a gate.
type Judged struct {
	Of         Subject           `json:"of"`
	Metric     result.Metric     `json:"metric,omitempty"`     // of a percentile
	Percentile result.Percentile `json:"percentile,omitempty"` // of a percentile: "99.9"
	Answer     Answer            `json:"answer"`
	Cause      Cause             `json:"cause,omitempty"` // why it is undecided
	// Better and Worse count the pairs that favour B and A, if the exact sign test decides;
	// P is its one-sided p-value.
	Better int     `json:"pairs_better,omitempty"`
	Worse  int     `json:"pairs_worse,omitempty"`
	P      float64 `json:"p,omitempty"`
	Text   string  `json:"text"` // in words, one line
}

// Gate is the result of a gate. Answer is [Worse] if any subject is shown worse, else
// [Open] if any is undecided, else [NotWorse]; [Ungradable] if nothing may be judged.
type Gate struct {
	Answer Answer   `json:"answer"`
	Judged []Judged `json:"judged"`
	// Unsupported are percentiles of the judged metrics for which no run has enough messages
	// and which Options does not name: they are not judged.
	Unsupported []result.Percentile `json:"unsupported,omitempty"`
}

// Of returns the judgements with the given answer.
func (g *Gate) Of(a Answer) []Judged {
	var out []Judged
	for _, j := range g.Judged {
		if j.Answer == a {
			out = append(out, j)
		}
	}
	return out
}

// Name is the subject in words: "p99.9", or "publish.response p99" if several metrics are
// judged.
func (g *Gate) Name(j Judged) string {
	switch j.Of {
	case OfPercentile:
		if slices.ContainsFunc(g.Judged, func(o Judged) bool { return o.Of == OfPercentile && o.Metric != j.Metric }) {
			return string(j.Metric) + " p" + string(j.Percentile)
		}
		return "p" + string(j.Percentile)
	case OfBroken:
		return "lost although acknowledged"
	}
	return strings.ReplaceAll(string(j.Of), "_", " ")
}

// oneSided is the error probability of a statement in one direction: half of that of an interval.
func (c *Comparison) oneSided() float64 { return (1 - c.Confidence) / 2 }

// signs counts the pairs in which B is worse than A, and those in which it is better, or for
// some subjects not worse.
type signs struct{ worse, better int }

// judge applies the exact sign test with an error of at most alpha in each direction. silent
// is the number of pairs with an unknown sign: they count against either answer.
func (s signs) judge(alpha float64, silent int) (a Answer, p float64) {
	n := s.worse + s.better + silent
	worse, better := stats.SignTest(s.worse, n), stats.SignTest(s.better, n)
	switch {
	case n > 0 && worse <= alpha:
		return Worse, worse
	case n > 0 && better <= alpha, s.worse+silent == 0:
		return NotWorse, better
	}
	return Open, min(worse, better)
}

// gate judges all subjects. everyone has all pairs, also those with runs that cannot be used.
func (c *Comparison) gate(everyone []couple, o Options) {
	g := &Gate{Judged: []Judged{}}
	c.Gate = g
	if c.Background {
		g.Answer = Ungradable
		return
	}
	counted := countedOnes(everyone)
	if c.Refused != "" {
		g.add(c.share(counted, broken))
		g.Judged = slices.DeleteFunc(g.Judged, func(j Judged) bool { return j.Answer != Worse })
		if g.Answer = Ungradable; len(g.Judged) > 0 {
			g.Answer = Worse
		}
		return
	}
	if n := len(c.Pairs); n < MinPairs {
		g.add(&Judged{Of: OfPairs, Answer: Open, Cause: TooFewPairs, Text: fmt.Sprintf("a gate needs at least %d usable pairs of runs, but there are %d", MinPairs, n)})
	} else {
		c.gateRows(o)
	}
	if why := c.unfinished(); why != "" {
		g.add(&Judged{Of: OfPairs, Answer: Open, Cause: Unfinished, Text: why})
	}
	g.add(c.failures(everyone))
	for _, s := range shares() {
		g.add(c.share(counted, s))
	}
	g.add(c.sentShare(counted))
	g.add(c.leftOut())
	g.add(c.replacedOnes())
	g.Answer = NotWorse
	for _, j := range g.Judged {
		if j.Answer == Worse || j.Answer == Open && g.Answer == NotWorse {
			g.Answer = j.Answer
		}
	}
}

func (g *Gate) add(j *Judged) {
	if j != nil {
		g.Judged = append(g.Judged, *j)
	}
}

// gateRows adds the judgements of the throughput and the percentiles from their rows.
func (c *Comparison) gateRows(o Options) {
	add := func(r *Row, m result.Metric) {
		j := r.judged
		if j.Of = OfThroughput; m != "" {
			j.Of, j.Metric, j.Percentile = OfPercentile, m, r.Percentile
		}
		if r.Shift != nil && j.Text == "" {
			j.Text = r.Shift.words(m == "")
			if j.Answer == Open {
				j.Text += ": " + c.Unshown()
			}
		}
		c.Gate.add(j)
	}
	if c.Throughput != nil && c.Throughput.judged != nil {
		add(c.Throughput, "")
	}
	for _, m := range c.Metrics {
		if !m.Judged {
			continue
		}
		for i := range m.Rows {
			if m.Rows[i].judged != nil {
				add(&m.Rows[i], m.Metric)
			}
		}
		if len(o.Percentiles) > 0 {
			continue
		}
		for _, p := range result.Percentiles() {
			if !slices.ContainsFunc(m.Rows, func(r Row) bool { return r.Percentile == p }) && !slices.Contains(c.Gate.Unsupported, p) {
				c.Gate.Unsupported = append(c.Gate.Unsupported, p)
			}
		}
	}
	if !slices.ContainsFunc(c.Gate.Judged, func(j Judged) bool { return j.Of == OfThroughput || j.Of == OfPercentile }) {
		c.Gate.add(&Judged{Of: OfPercentile, Answer: Open, Cause: Missing, Text: "there are no figures to judge"})
	}
}

// excluded reports whether the run is left out for another reason than overload of the
// system under test or its partner.
func (l Left) excluded() bool { return !l.Partner && !l.Overloaded }

// leftOut is undecided if runs were excluded, because they could have changed the answer; nil
// if none was.
func (c *Comparison) leftOut() *Judged {
	var texts []string
	n := [2]int{}
	for _, l := range c.Left {
		if l.excluded() {
			n[boolRank(l.Side == "B")]++
			if text := l.Side + " " + filepath.Base(l.Run) + ": " + l.Why; len(texts) < 2 {
				texts = append(texts, text)
			}
		}
	}
	if n[0]+n[1] == 0 {
		return nil
	}
	return &Judged{Of: OfLeftOut, Answer: Open, Cause: Excluded,
		Text: fmt.Sprintf("%s left out (A %d, B %d) could have changed the answer: %s", spell.Plural(n[0]+n[1], "run"), n[0], n[1], strings.Join(texts, "; "))}
}

// replacedOnes is undecided if somebody may have chosen to make a run of a pair again, since what its attempt showed is not
// known; or if one side was INVALID, or failed, so much more often than the other that the side itself may be the reason: what was
// made instead is then a biased selection of its runs. Else it is nil.
func (c *Comparison) replacedOnes() *Judged {
	if j := c.chosenOnes(); j != nil {
		return j
	}
	var s signs
	for _, r := range slices.Concat(c.Replaced, c.Remade) {
		if r.Control {
			continue
		}
		of := func(side string) bool {
			return slices.ContainsFunc(r.Why, func(l Left) bool { return l.Side == side && !l.Partner })
		}
		switch a, b := of("A"), of("B"); {
		case b && !a:
			s.worse++
		case a && !b:
			s.better++
		}
	}
	a, p := s.judge(c.oneSided(), 0)
	if a != Worse {
		if a, p = (signs{s.better, s.worse}).judge(c.oneSided(), 0); a != Worse {
			return nil
		}
	}
	return &Judged{Of: OfReplaced, Answer: Open, Cause: Excluded, Better: s.better, Worse: s.worse, P: p,
		Text: fmt.Sprintf("pairs were replaced or made again in which only A was INVALID or failed %d times and only B %d times (p = %.2g): the side itself may be the reason, so what was made instead may be a biased selection", s.better, s.worse, p)}
}

// chosenOnes is undecided if somebody may have chosen to make a run of a pair again, on either side or both; nil if nobody may.
func (c *Comparison) chosenOnes() *Judged {
	n, example := 0, ""
	for _, r := range c.Remade {
		if i := slices.IndexFunc(r.Why, func(l Left) bool { return l.Chosen }); i >= 0 {
			if n++; n == 1 {
				example = fmt.Sprintf("%s of pair %d %s", r.Why[i].Side, r.Pair, r.Why[i].Why)
			}
		}
	}
	if n == 0 {
		return nil
	}
	return &Judged{Of: OfReplaced, Answer: Open, Cause: Excluded,
		Text: fmt.Sprintf("%s made again could have changed the answer, whose first attempts may have been ended because of what they showed; only a new comparison decides (%s)", spell.Plural(n, "pair"), example)}
}
