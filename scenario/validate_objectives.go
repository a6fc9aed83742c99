package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sixnines/internal/strict"
)

// objectives checks that the run can both meet and miss each objective: one that
// cannot be missed guards nothing, and one that cannot be met or decided would fail
// only after the run.
func (v *validator) objectives() {
	seen := map[string]int{}
	for i, o := range v.s.Objectives {
		key := fmt.Sprintf("objectives[%d]", i)
		text := o.String()
		if _, err := ParseObjective(text); v.unreadable(err, key, "objectives") {
			continue
		}
		if first, twice := seen[text]; twice {
			hint := "remove one of them"
			if p, ok := v.s.written(fmt.Sprintf("objectives[%d]", first)); ok && p.Line > 0 {
				hint = fmt.Sprintf("it is first given in line %d; remove one of them", p.Line)
			}
			v.fail("the objective "+quote(text)+" is given twice", hint, key, "objectives")
			continue
		}
		seen[text] = i
		for _, other := range v.s.Objectives[:i] {
			if o.contradicts(other) {
				v.fail("the objectives "+quote(other.String())+" and "+quote(text)+" can never both be met", "remove one of them", key, "objectives")
				break
			}
		}
		if cause, hint := v.s.without(o); cause != "" {
			v.fail(quote(text)+": "+cause, hint, key, "objectives")
			continue
		}
		if cause, hint := o.withoutActions(v.s.Acts()); cause != "" {
			v.fail(quote(text)+": "+cause, hint, key, "objectives")
			continue
		}
		if cause, hint := v.s.tooShort(o); cause != "" {
			v.fail(cause, hint, key, "objectives")
		}
	}
}

// contradicts reports whether no run can meet both objectives: their limits on the
// same figure, or on two percentiles of one metric, exclude each other.
func (o Objective) contradicts(other Objective) bool {
	if o.figure() != other.figure() {
		return false
	}
	apart := func(low, high Objective) bool { // the lower bound of low is above the upper bound of high
		least, _ := low.bounds()
		_, most := high.bounds()
		return low.Percent <= high.Percent && least > most
	}
	return apart(o, other) || apart(other, o)
}

// figure returns what o is about, without the percentile.
func (o Objective) figure() string {
	subject := o.Subject
	if subject == "lost" {
		subject = "missing"
	}
	return subject + " " + string(o.Stretch)
}

// bounds returns the least and the most that o allows. All figures but rates
// are whole numbers, and those have steps of 10⁻⁹ here.
func (o Objective) bounds() (least, most float64) {
	step := 1.0
	if o.isShare() {
		step = 1e-9
	}
	switch o.Op {
	case "<":
		return math.Inf(-1), o.Limit - step
	case "<=":
		return math.Inf(-1), o.Limit
	case ">=":
		return o.Limit, math.Inf(1)
	case ">":
		return o.Limit + step, math.Inf(1)
	}
	return o.Limit, o.Limit
}

// written returns where a key was written.
func (s *Scenario) written(key string) (strict.Position, bool) {
	if s.source == nil {
		return strict.Position{}, false
	}
	p, ok := s.source.at[key]
	return p, ok
}

// Lacks returns why the scenario's load cannot have the figure that o is about, whatever its run does; empty: it may
// have it.
func (s *Scenario) Lacks(o Objective) (cause string) {
	cause, _ = s.without(o)
	return cause
}

// without is [Workload.without] for what reading back tells of every load, too.
func (s *Scenario) without(o Objective) (cause, hint string) {
	if o.Subject == "lost_acked" && s.Phases.ReadBack > 0 {
		return "", ""
	}
	return s.Workload.without(o)
}

// without returns why the load cannot have the figure of o with any driver; an empty
// cause: it may have it.
func (w *Workload) without(o Objective) (cause, hint string) {
	paced := w.Loop == Open && !w.Rate.IsMax()
	unpaced := "a closed loop has no schedule"
	if w.Loop == Open {
		unpaced = "rate: max has no schedule"
	}
	what, _, _ := strings.Cut(o.Subject, ".")
	isMetric := o.IsMetric()
	if what == "connection" {
		switch c := &w.Connections; {
		case !c.Churn():
			return "no connections come and go", "give workload.connections.rate (--connection-rate)"
		case c.As == ConnectProducer && o.Subject == "connection.subscribe":
			return "connections of producers do not subscribe", "name connection.login"
		}
		return "", ""
	}
	switch {
	case w.Pattern == Consume && (isMetric || o.isShare() || o.IsTime()):
		return "the pattern consume measures no latency", "name a counter, such as earlier or earlier_missing"
	case (o.IsTime() || o.Stretch != "") && !paced:
		return unpaced + " that determines when messages are due", "leave it out, or give the load a rate"
	case o.IsRate() && !paced:
		return unpaced + " to hold the rate against", "leave it out, or give the load a rate"
	case isMetric && !paced && what == "lag":
		return unpaced + " to be late for", "leave it out, or give the load a rate"
	case isMetric && !paced && !strings.HasSuffix(o.Subject, ".service"):
		return unpaced + ", so only service times", "name " + what + ".service, or give the load a rate"
	case what == "delivery" && w.Pattern == Publish:
		return "the pattern publish has no consumers", "name publish.response, or choose pattern: deliver"
	case what == "delivery" && w.Pattern != Deliver:
		return fmt.Sprintf("the pattern %s measures whole round trips", w.Pattern), "name roundtrip.response, or choose pattern: deliver"
	case what == "roundtrip" && w.Pattern == Deliver:
		return "the pattern deliver has no round trips", "name delivery.response, or choose pattern: roundtrip"
	case o.Subject == "delivery.last" && w.Groups < 2 && (w.Groups == 1 || w.Consumers <= w.Topics):
		return "each message goes to one consumer, so the first is the last", "name delivery.response"
	case w.Pattern == Publish && slices.Contains(receivedCounters(), o.Subject):
		return "the pattern publish receives nothing, so this is always 0", "choose pattern: deliver, or leave it out"
	}
	return "", ""
}

// receivedCounters returns those of objectiveCounters that are counted at the consumers.
func receivedCounters() []string {
	return []string{"lost", "missing", "lost_acked", "corrupted", "duplicated", "redelivered", "reordered", "late", "foreign"}
}

// tooShort returns why a run of this length cannot have as many messages as o needs; an
// empty cause: it may.
func (s *Scenario) tooShort(o Objective) (cause, hint string) {
	if !o.IsMetric() || o.Percent == 100 {
		return "", ""
	}
	if strings.HasPrefix(o.Subject, "connection.") {
		c, d := &s.Workload.Connections, s.Phases.Longest()
		if n := c.Rate.Float() * d.Seconds(); n < float64(o.Samples()) {
			return fmt.Sprintf("%s for %s are %.0f connections, and p%v needs %d", c.Rate, formatDuration(d), n, o.Percent, o.Samples()), "raise workload.connections.rate or lengthen the window, or choose a lower percentile"
		}
		return "", ""
	}
	needs := o.Samples()
	mean, most, known := s.planned()
	if !known || most >= float64(needs) {
		return "", ""
	}
	w, d := &s.Workload, s.Phases.Longest()
	at := w.Rate.String() + " for " + formatDuration(d)
	lower := ", or choose a lower percentile"
	hint = "raise the rate or lengthen the window" + lower
	switch {
	case w.Messages > 0:
		at = fmt.Sprintf("%d messages", w.Messages)
		hint = fmt.Sprintf("raise workload.messages to %d%s", needs, lower)
	case w.Arrivals.Kind == Step:
		at = "these steps"
		hint = "lengthen the steps" + lower
	case mean > 0:
		if w.Arrivals.Kind != Constant {
			at = fmt.Sprintf("%s, %s,", at, w.Arrivals.Kind)
			if !w.Arrivals.Kind.usesRate() {
				at = fmt.Sprintf("these arrivals (%s) for %s", w.Arrivals.Kind, formatDuration(d))
			}
		}
		more := float64(needs)
		if w.Arrivals.Kind == Poisson || w.Arrivals.Random {
			more += 6 * math.Sqrt(more)
		}
		if long := float64(d) / mean * more; long < float64(MaxDuration)/2 {
			unit := time.Second
			if long > float64(10*time.Minute) {
				unit = time.Minute
			}
			length := "phases.duration (--duration)"
			if !s.Phases.Until.IsZero() {
				length = "phases.at_most (--at-most)"
			}
			hint = fmt.Sprintf("lengthen %s to %s, or raise the rate%s", length, formatDuration((time.Duration(long) + unit - 1).Truncate(unit)), lower)
		}
	}
	return fmt.Sprintf("p%g of %s at %s cannot be decided: it needs %d messages", o.Percent, o.Subject, at, needs), hint
}

// Samples returns the least number of messages for which a percentile's 95 % confidence
// interval has two finite ends: ln 0.025 / ln p, rounded up (docs/method.md, section 4.2),
// with 1 − p for p below the median; 0 if the objective is not about a percentile.
func (o Objective) Samples() int64 {
	if !o.IsMetric() || o.Percent == 100 {
		return 0
	}
	tail := min(100-o.Percent, o.Percent) / 100
	// Round to the decimal that was written: 100 − 99.9999 is not exactly 0.0001.
	tail = math.Round(tail*1e15) / 1e15
	n := math.Ceil(math.Log(0.025) / math.Log1p(-tail))
	if !(n < 1<<62) {
		return math.MaxInt64
	}
	return max(int64(n), 1)
}

// planned returns the mean number of messages in the longest window and an upper bound of
// the number that can be expected; known is false if it depends on the run.
func (s *Scenario) planned() (mean, most float64, known bool) {
	w, d := &s.Workload, s.Phases.Longest().Seconds()
	a := &w.Arrivals
	switch {
	case w.Messages > 0:
		return float64(w.Messages), float64(w.Messages), true
	case w.Loop == Closed || w.Rate.IsMax():
		return 0, 0, false
	}
	slack := 1.0
	switch a.Kind {
	case Constant, Poisson:
		mean = w.Rate.Float() * d
	case Sine:
		mean = w.Rate.Float() * d
		slack += w.Rate.Float() * a.Amplitude * a.Period.Seconds() // a last half-wave
	case Ramp:
		mean = (a.From.Float() + a.To.Float()) / 2 * d
	case Step:
		for _, step := range a.Steps {
			mean += step.Rate.Float() * step.For.Seconds()
		}
	case Burst:
		mean = float64(a.Count) * math.Ceil(d/a.Period.Seconds())
	default:
		return 0, 0, false
	}
	if a.Kind == Poisson || a.Random {
		slack += 6 * math.Sqrt(mean) // six standard deviations
	}
	return mean, mean + slack, true
}
