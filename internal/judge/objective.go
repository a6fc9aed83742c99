package judge

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// Outcome is the result of an objective in a run.
type Outcome string

// The outcomes.
const (
	// Met: shown; for a percentile with 95 % confidence.
	Met Outcome = "met"
	// Missed: the opposite is shown.
	Missed Outcome = "missed"
	// Undecided: the limit is within the interval, or the messages are too few: the run
	// is too short to decide.
	Undecided Outcome = "undecided"
	// Meaningless: the run does not have this figure, or the run is not valid for it.
	Meaningless Outcome = "meaningless"
)

// Decision is how a run decides an objective.
type Decision struct {
	Objective scenario.Objective
	Outcome   Outcome
	// Text says what was found, one line.
	Text string
	// Brief is Text in a few words, where that is long; else it is empty.
	Brief string
	// Refused says that refused messages alone decided, so the generator's effect on
	// latencies does not matter.
	Refused bool
	// Suspect says that the latency is suspect, so that a longer run would not decide it.
	Suspect bool
}

// Decide compares a run with an objective. A percentile is judged by the bounds
// of its interval and not by its figure: p99 < 5 ms is met if the upper end is
// below, missed if the lower end is not, and undecided between. The interval
// is the wider of two: the exact one, which assumes independent messages, and the one by
// stretches of the run; if the latter is missing, see [Decision.ofBounds]. Each end alone is
// a bound at 97.5 %. Maxima, counters and rates are facts of this run and are taken as they
// are, except as [Decision.ofPart] says. An INVALID run shows nothing, nor does an UNSTABLE
// one about a latency. For a suspect percentile see [Decision.markSuspect]. An objective that could
// not have been given to the run, since its load lacks the figure, is Meaningless.
func Decide(run *result.Run, o scenario.Objective) Decision {
	if run.Summary == nil {
		return Decision{Objective: o, Outcome: Meaningless, Text: cutShortText}
	}
	if why := lacks(&run.Header, o); why != "" {
		return Decision{Objective: o, Outcome: Meaningless, Text: why}
	}
	return decideObjective(run, run.Summary, false, o)
}

// lacks returns why a load cannot have the figure of o; empty: it may, or nothing is known of the load. An agent
// of a fleet with a role has a pattern of its own, which is not that of the scenario.
func lacks(h *result.Header, o scenario.Objective) string {
	s, err := scenario.FromRecord("header", h.Scenario)
	if err != nil || s.Workload.Loop == "" { // not as a run writes it
		return ""
	}
	if h.Pattern != "" {
		s.Workload.Pattern = scenario.Pattern(h.Pattern)
	}
	return s.Lacks(o)
}

// cutShortText is the text of every decision about a run that was cut short.
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
	case o.IsTime():
		d.ofCost(run, s)
	case o.Stretch != "":
		if d.ofStretch(run, s); o.IsMetric() && !d.Refused {
			d.markSuspect(s.Verdict)
		}
	case o.IsMetric():
		if d.ofMetric(run, s); !d.Refused {
			d.markSuspect(s.Verdict)
			d.ofService(run, s)
		}
	case o.IsAvailability():
		d.ofAvailability(run, s)
		if s.Verdict.Status == result.Unstable && d.Outcome == Met {
			d.Outcome, d.Text = Undecided, d.Text+"; the run is UNSTABLE: in a longer run fewer messages would be answered within the limit"
		}
	case o.IsRate():
		d.ofRate(s.Rate)
	default:
		d.ofCounter(run, unfinished(run.Header.Fleet, s.End))
		if s.Aborted && d.Outcome == Met {
			d.Outcome, d.Text = Undecided, d.Text+"; the run was aborted and did not wait for the last messages"
		}
	}
	d.ofPart(run, s)
	return d
}

// ofPart takes into account that the window was ended early, or that agents did not finish it. An
// objective is about the whole window, and its rest is unknown. So nothing is met, and only what the
// rest could not have changed is missed.
func (d *Decision) ofPart(run *result.Run, s *result.Summary) {
	lost := unfinished(run.Header.Fleet, s.End)
	if len(lost) == 0 && (!s.Interrupted || s.Until != nil && s.Until.Ended == result.EndedNarrow) {
		return
	}
	o := d.Objective
	least := o.Op == ">" || o.Op == ">=" // the rest of the window could still reach the limit
	switch {
	case d.Outcome == Met:
	case d.Outcome != Missed:
		return
	case o.IsRate():
		if d.missedBy(run, s) {
			return
		}
	case o.IsMetric() && o.Percent < 100, o.IsAvailability(): // the interval is about the distribution, not this part
		return
	default: // counts and the maximum only grow
		n, _ := run.Counters.Named(o.Subject)
		if !least && (o.Op != "==" || float64(n) > o.Limit) {
			return
		}
	}
	d.Outcome = Undecided
	if !s.Interrupted {
		d.note(fmt.Sprintf("; of %s the rest is not known: their results end before the window does", strings.Join(lost, ", ")))
		return
	}
	d.note(fmt.Sprintf("; the window was ended after %s of %s, and the rest is not known", span(s.End), orUnknown(run.Header.Window)))
}

// missedBy reports whether a rate objective is missed even if all messages due in the rest of
// the window are sent in time.
func (d *Decision) missedBy(run *result.Run, s *result.Summary) bool {
	o := d.Objective
	if o.Op != ">" && o.Op != ">=" {
		return false
	}
	if o.Subject != "rate" {
		return true // no later second makes the worst one better
	}
	share, _ := s.Rate.SentShare()
	part := float64(s.End) / float64(run.Header.Window)
	return run.Header.Window > 0 && !o.Holds(1-part*(1-share))
}

// orUnknown writes the length of a window, which is unknown (0) if a number of messages ends it.
func orUnknown(window time.Duration) string {
	if window == 0 {
		return "an unknown length"
	}
	return span(int64(window))
}

// objectives decides the objectives in a run's header. An objective that this version cannot
// parse, with which it starts no run, is Meaningless.
func objectives(run *result.Run, s *result.Summary, cutShort bool) []result.Objective {
	var found []result.Objective
	for _, text := range run.Header.Objectives {
		o, err := scenario.ParseObjective(text)
		if err != nil {
			found = append(found, result.Objective{Text: text, Outcome: string(Meaningless), Found: "cannot be read: " + err.Error()})
			continue
		}
		d := decideObjective(run, s, cutShort, o)
		found = append(found, result.Objective{Text: text, Outcome: string(d.Outcome), Found: d.Text, Brief: d.Brief})
	}
	return found
}

// ofMetric decides about a percentile or the maximum.
func (d *Decision) ofMetric(run *result.Run, s *result.Summary) {
	o := d.Objective
	m := result.Metric(o.Subject)
	x := run.Metrics[m]
	if total(x) == 0 {
		d.Text = "the run did not measure " + o.Subject
		return
	}
	order := newOrder(x)
	if o.Percent == 100 {
		if refused(x) > 0 {
			d.fact(o.Holds(math.Inf(1)), spell.Plural(refused(x), "message")+" of "+spell.Count(order.n)+" refused: slower than any limit")
			d.Refused = true
			return
		}
		worst, atLeast := order.value(order.n)
		worst = max(worst, x.Max)
		d.fact(o.Holds(float64(worst)), "it is "+figure(worst, atLeast))
		if atLeast && (o.Op == "<" || o.Op == "<=") == (d.Outcome == Met) {
			// The maximum is a lower bound only, so it may exceed any limit.
			d.Outcome = Undecided
		}
		return
	}
	samples := Samples(m, x, run.Counters)
	q := order.quantile(samples, o.Percent, 0)
	u := waitedFor(s.Until, m, o.Percent)
	if u != nil { // the run's length depended on this percentile, so a fixed-length interval is wrong
		q.low, q.high, q.bounded, q.open = u.Low, u.High, u.High != 0, u.Open
		q.lowRefused, q.openRefused = u.LowRefused, u.OpenRefused
	}
	if q.lowRefused {
		d.fact(o.Holds(math.Inf(1)), fmt.Sprintf("it is refused, with 95 %% confidence: %s of %s", spell.Count(refused(x)), spell.Plural(order.n, "message")))
		d.Refused = true
		return
	}
	if u != nil && !q.bounded {
		d.Outcome, d.Text = Undecided, "the run was meant to continue until it was known: "+u.Found
		return
	}
	if !q.bounded || q.support == stats.NotSupported {
		d.Outcome = Undecided
		d.Text = fmt.Sprintf("%s are too few for an interval of p%g, which needs %s", spell.Plural(samples, "message"), o.Percent, spell.Count(stats.MinSamples(stats.Fraction(o.Percent), confidence)))
		return
	}
	how, na := " (by stretches of the run)", ""
	if u != nil {
		how, na = ", whenever the run ended", u.Independent
	} else {
		var stretches quantile
		if stretches, na = blockInterval(run, m, o.Percent, samples, order, q, s.End); na == "" {
			q.low, q.high = min(q.low, stretches.low), max(q.high, stretches.high)
			q.open, q.openRefused = q.open || stretches.open, q.openRefused || stretches.openRefused
		}
	}
	figure := "it is " + orRefused(q.refused, q.value, q.atLeast)
	if na != "" {
		d.ofBounds(s.Histograms[m], order, figure, q, na)
		return
	}
	low, high := o.Holds(float64(q.low)), o.Holds(float64(q.high))
	if q.openRefused {
		high = o.Holds(math.Inf(1))
	} else if q.open { // the upper end is unknown and may be anything
		high = o.Op == ">" || o.Op == ">="
	}
	d.Brief = fmt.Sprintf("%s, and with 95 %% confidence %s to %s", figure, span(q.low), orRefused(q.openRefused, q.high, q.open))
	d.Text = d.Brief + how
	switch {
	case low && high:
		d.Outcome = Met
	case !low && !high:
		d.Outcome = Missed
	default:
		d.Outcome = Undecided
		d.note("; the interval contains the limit, so a longer run is needed to decide")
	}
}

// note appends words to both texts.
func (d *Decision) note(words string) {
	if d.Text += words; d.Brief != "" {
		d.Brief += words
	}
}

// anyDependence is 40: on average a share of 1−p of a run's messages lies above the quantile
// p, so in at most one run of 40 (2.5 %) the share is 40·(1−p) or more, however the messages
// depend on each other (Markov's inequality).
const anyDependence = 40

// ofBounds decides about a percentile without an interval by stretches of the run; na says
// why that is missing. The interval by messages assumes independent messages, which nothing
// shows, so it decides nothing. Two one-sided bounds remain. A lower percentile is not larger
// and a higher one not smaller, so their intervals may already be beyond the limit. And from
// p97.5 up, enough of the run's messages may lie beyond the limit that the percentile must
// lie there too, however the messages depend on each other, see [anyDependence].
func (d *Decision) ofBounds(x *result.Distribution, order *order, figure string, q quantile, na string) {
	o := d.Objective
	d.Outcome = Undecided
	messages := fmt.Sprintf("by messages %s to %s, as if they were independent, which decides nothing", span(q.low), orRefused(q.openRefused, q.high, q.open))
	d.Text = fmt.Sprintf("%s; %s; by stretches of the run: n/a, %s", figure, messages, na)
	d.Brief = figure + "; no interval that takes dependence between messages into account is known: run longer"
	below := o.Op == "<" || o.Op == "<="
	decide := func(end string, v float64, why string) {
		if d.Outcome = Missed; o.Holds(v) {
			d.Outcome = Met
		}
		d.Brief = fmt.Sprintf("%s, and with 95 %% confidence %s, however messages depend on each other", figure, end)
		d.Text = fmt.Sprintf("%s, and with 95 %% confidence %s: %s; %s; by stretches of the run: n/a, %s", figure, end, why, messages, na)
	}
	if percent := 100 - anyDependence*(100-o.Percent); percent > 0 {
		rank := stats.Rank(order.n, percent)
		v, _ := order.edges(rank)
		low, end := float64(v), "at least "+span(v)
		if order.isRefused(rank) {
			low, end = math.Inf(1), "refused"
		}
		if o.Holds(low) != below {
			decide(end, low, fmt.Sprintf("%s of the messages are that slow, too many to be beyond p%g by chance, however they depend on each other", spell.Percent(1-percent/100), o.Percent))
			return
		}
	}
	for name, f := range x.All() {
		at := f.Blocks
		if at == nil {
			continue
		}
		percent, low, high := percentOf(name), float64(at.Low), float64(at.High)
		switch {
		case percent < o.Percent && o.Holds(low) != below:
			decide("at least "+span(at.Low), low, "this is the lower bound of p"+string(name)+" by stretches of the run")
			return
		case percent > o.Percent && o.Holds(high) == below:
			decide("at most "+span(at.High), high, "this is the upper bound of p"+string(name)+" by stretches of the run")
			return
		}
	}
}

// waitedFor returns u if the run was planned to end when this percentile was known, else nil.
func waitedFor(u *result.Until, m result.Metric, percent float64) *result.Until {
	if u == nil {
		return nil
	}
	if asked, err := scenario.ParseUntil(u.Text); err != nil || result.Metric(asked.Metric) != m || asked.Percent != percent {
		return nil
	}
	return u
}

// lengthens reports whether the effect behind a reason can only have made a latency longer. It
// is false for a reason that makes the latency invalid.
func lengthens(r result.Reason) bool {
	return r.Status != result.Invalid && r.Code.Properties().Effect == result.EffectLonger
}

// markSuspect takes into account that the percentile, or the whole run, is suspect. A latency
// shown to be below a limit stays decided if all reasons can only have made it longer. Any
// other outcome becomes Undecided.
func (d *Decision) markSuspect(v result.Verdict) {
	o, m := d.Objective, result.Metric(d.Objective.Subject)
	if d.Outcome == Meaningless || !m.IsLatency() {
		return
	}
	name := result.Percentile(strconv.FormatFloat(o.Percent, 'f', -1, 64))
	l := v.Limit(m)
	reached, upTo := l.Reaches(name), o.Percent
	if reached {
		upTo = max(upTo, percentOf(l.From)) // an unpublished percentile has the reasons of the next published one
	}
	// All reasons that reach the percentile count, not only those of the limit's first.
	longer, all := true, []string{} // all: the reasons about the whole run
	for _, r := range v.Reasons {
		switch {
		case limits(r) && (r.Metric == m || r.Metric == "") && percentOf(r.Percentile) <= upTo:
			longer = longer && lengthens(r)
		case r.Status == result.Suspect && r.Percentile == "" && (r.Metric == m || r.Metric == ""):
			longer, all = longer && lengthens(r), append(all, r.Short())
		}
	}
	if !reached && len(all) == 0 {
		return
	}
	d.Suspect = true
	what := "p" + name
	if o.Percent == 100 {
		what = "the maximum"
	}
	if reached {
		d.note(fmt.Sprintf("; %s is suspect (from p%s on: %s)", what, l.From, l.Why))
	} else {
		d.note(fmt.Sprintf("; %s is suspect, as is the whole run (%s)", what, strings.Join(all, ", ")))
	}
	switch {
	case longer && d.Outcome == Met && (o.Op == "<" || o.Op == "<="):
		d.note(", which can only have made the latency longer: met nevertheless")
	case longer && d.Outcome == Missed && (o.Op == ">" || o.Op == ">="):
		d.note(", which can only have made the latency longer: missed nevertheless")
	case d.Outcome != Undecided:
		d.note(fmt.Sprintf(": so \"%s\" is not shown", d.Outcome))
		d.Outcome = Undecided
	}
}

// ofService decides about a suspect response time by the service time of the same messages,
// which contains no lag in sending and is never longer: if it alone exceeds the limit, so does
// the response time.
func (d *Decision) ofService(run *result.Run, s *result.Summary) {
	service, ok := map[result.Metric]result.Metric{result.PublishResponse: result.PublishService, result.DeliveryResponse: result.DeliveryService,
		result.RoundTripResponse: result.RoundTripService}[result.Metric(d.Objective.Subject)]
	if !ok || !d.Suspect || d.Outcome != Undecided {
		return
	}
	o := d.Objective
	o.Subject = string(service)
	alone := decideObjective(run, s, false, o)
	if over := alone.Outcome == Missed && (o.Op == "<" || o.Op == "<=") || alone.Outcome == Met && (o.Op == ">" || o.Op == ">="); over {
		d.Outcome = alone.Outcome
		d.Brief = fmt.Sprintf("%s; the service time, which contains no lag in sending, decides alone: %s", cmp.Or(d.Brief, d.Text), cmp.Or(alone.Brief, alone.Text))
		d.Text += fmt.Sprintf("; the service time, which contains no lag in sending, decides alone: %s", alone.Text)
	}
}

func orRefused(refused bool, v int64, atLeast bool) string {
	if refused {
		return "refused"
	}
	return figure(v, atLeast)
}

func figure(v int64, atLeast bool) string {
	if atLeast {
		return "at least " + span(v)
	}
	return span(v)
}

func (d *Decision) ofRate(r result.Rate) {
	share, ok := r.SentShare()
	if ok && r.Due == 0 && r.Sent == 0 {
		d.Text = "nothing was due in the window"
		return
	}
	if !ok {
		d.Text = "the load had no rate: it was a closed loop or flat out"
		return
	}
	if d.Objective.Subject != "rate" {
		share = r.WorstSecond
	}
	// 299.7/300 must be 99.9 %, though the floating-point quotient is a little less.
	share = math.Round(share*1e13) / 1e13
	d.fact(d.Objective.Holds(share), "it is "+strconv.FormatFloat(math.Round(share*1e13)/1e11, 'f', -1, 64)+" %")
}

func (d *Decision) fact(holds bool, text string) {
	d.Outcome, d.Text = Missed, text
	if holds {
		d.Outcome = Met
	}
}
