package judge

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// Outcome says how a run stands to an objective.
type Outcome string

// The outcomes.
const (
	// Met: shown, at 95 % confidence where it is about a percentile.
	Met Outcome = "met"
	// Missed: the opposite is shown.
	Missed Outcome = "missed"
	// Undecided: the interval holds the limit, or there are too few messages; the
	// run is too short to tell.
	Undecided Outcome = "undecided"
	// Meaningless: the run has no such figure, or none to be believed.
	Meaningless Outcome = "meaningless"
)

// Decision is what a run says of an objective.
type Decision struct {
	Objective scenario.Objective
	Outcome   Outcome
	// Text tells what was found, one line.
	Text string
}

// Decide holds a run against an objective. A percentile is judged by the bound
// of its exact interval and not by its figure: p99 < 5 ms is met if the upper
// end is below, missed if the lower end is not, and undecided between. Each end
// alone is a bound at 97.5 %. Maxima, counters and rates are facts of this run
// and are taken as they are. A run that is INVALID, or UNSTABLE where the
// objective is about a latency, shows nothing.
func Decide(run *result.Run, o scenario.Objective) Decision {
	if run.Summary == nil {
		return Decision{Objective: o, Outcome: Meaningless, Text: cutShortText}
	}
	return decideObjective(run, run.Summary, false, o)
}

// cutShortText is what a run that was cut short says of any objective.
const cutShortText = "the run was cut short: it has no verdict"

// decideObjective is Decide on a summary that is not yet the run's: rate and
// verdict must be in it.
func decideObjective(run *result.Run, s *result.Summary, cutShort bool, o scenario.Objective) Decision {
	d := Decision{Objective: o, Outcome: Meaningless}
	switch {
	case cutShort:
		d.Text = cutShortText
	case s.Verdict.Status == result.Invalid:
		d.Text = "the run is INVALID"
	case o.IsMetric() && s.Verdict.Status == result.Unstable:
		d.Text = "the run is UNSTABLE: its percentiles depend on how long it lasted"
	case o.IsMetric():
		d.ofMetric(run)
	case o.IsRate():
		d.ofRate(s.Rate)
	default:
		d.ofCounter(run.Counters)
	}
	return d
}

// objectives holds a run against those that its header asks for. One that this
// version cannot read, which no run is started with, means nothing.
func objectives(run *result.Run, s *result.Summary, cutShort bool) []result.Objective {
	var found []result.Objective
	for _, text := range run.Header.Objectives {
		o, err := scenario.ParseObjective(text)
		if err != nil {
			found = append(found, result.Objective{Text: text, Outcome: string(Meaningless), Found: "cannot be read: " + err.Error()})
			continue
		}
		d := decideObjective(run, s, cutShort, o)
		found = append(found, result.Objective{Text: text, Outcome: string(d.Outcome), Found: d.Text})
	}
	return found
}

func (d *Decision) ofMetric(run *result.Run) {
	o := d.Objective
	m := result.Metric(o.Subject)
	x := run.Metrics[m]
	if total(x) == 0 {
		d.Text = "the run did not measure " + o.Subject
		return
	}
	order := newOrder(x)
	if o.Percent == 100 {
		worst, atLeast := order.value(order.n)
		worst = max(worst, x.Max)
		d.fact(o.Holds(float64(worst)), "it is "+figure(worst, atLeast))
		if atLeast && (o.Op == "<" || o.Op == "<=") == (d.Outcome == Met) {
			// What is only known to be larger may be larger than any limit.
			d.Outcome = Undecided
		}
		return
	}
	samples := Samples(m, x, run.Counters)
	q := order.quantile(samples, o.Percent, 0)
	if !q.bounded || q.support == stats.NotSupported {
		d.Outcome = Undecided
		d.Text = fmt.Sprintf("%d messages bound no p%g; it takes %d", samples, o.Percent, stats.MinSamples(stats.Fraction(o.Percent), confidence))
		return
	}
	low, high := o.Holds(float64(q.low)), o.Holds(float64(q.high))
	if q.open { // there is no upper end
		high = o.Op == ">" || o.Op == ">="
	}
	d.Text = fmt.Sprintf("it is %s, and with 95 %% confidence %s to %s", figure(q.value, q.atLeast), time.Duration(q.low), figure(q.high, q.open))
	switch {
	case low && high:
		d.Outcome = Met
	case !low && !high:
		d.Outcome = Missed
	default:
		d.Outcome = Undecided
		d.Text += ", which holds the limit: a longer run may tell"
	}
}

func figure(v int64, atLeast bool) string {
	if atLeast {
		return "at least " + time.Duration(v).String()
	}
	return time.Duration(v).String()
}

func (d *Decision) ofRate(r result.Rate) {
	if r.Asked <= 0 {
		d.Text = "nothing was due at a rate: the load was a closed loop or flat out"
		return
	}
	share := r.Sent / r.Asked
	if d.Objective.Subject != "rate" {
		share = r.WorstSecond
	}
	// 299.7/s of 300/s are 99.9 %, though their quotient is a little less.
	share = math.Round(share*1e13) / 1e13
	d.fact(d.Objective.Holds(share), "it is "+strconv.FormatFloat(math.Round(share*1e13)/1e11, 'f', -1, 64)+"%")
}

func (d *Decision) ofCounter(c result.Counters) {
	n, ok := c.Named(d.Objective.Subject)
	if !ok {
		d.Text = "there is no counter " + d.Objective.Subject
		return
	}
	d.fact(d.Objective.Holds(float64(n)), fmt.Sprintf("there are %d", n))
}

func (d *Decision) fact(holds bool, text string) {
	d.Outcome, d.Text = Missed, text
	if holds {
		d.Outcome = Met
	}
}
