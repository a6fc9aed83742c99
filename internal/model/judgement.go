package model

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"sixnines/scenario"
)

// Judgement is the set of outcomes that an objective may have.
type Judgement struct {
	Objective string
	Of        scenario.Objective
	// Outcomes are the outcomes that the rules allow. They are several if the outcome
	// depends on intervals by stretches of the run, which the model does not compute.
	Outcomes []string
	// Overloaded are the possible outcomes if the run's verdict is UNSTABLE.
	Overloaded []string
}

// The outcomes.
const (
	met         = "met"
	missed      = "missed"
	undecided   = "undecided"
	meaningless = "meaningless"
)

// judge sets the possible outcomes of each objective.
func (o *Outcome) judge(p *play, all []scenario.Objective) {
	for _, x := range all {
		o.Objectives = append(o.Objectives, Judgement{Objective: x.String(), Of: x, Outcomes: o.judgement(p, x), Overloaded: o.overloaded(p, x)})
	}
}

// overloaded returns the possible outcomes in an overloaded run. Its latencies depend on its
// length and show nothing; in a longer run fewer messages would be answered in time.
func (o *Outcome) overloaded(p *play, x scenario.Objective) []string {
	switch all := o.judgement(p, x); {
	case x.IsMetric():
		return []string{meaningless}
	case x.IsAvailability() && slices.Contains(all, met):
		return []string{undecided}
	default:
		return all
	}
}

// judgement returns the possible outcomes of an objective, overload apart. An objective is
// about the whole window. If the window was ended early, nothing is met, and only what the
// rest could not have changed is missed.
func (o *Outcome) judgement(p *play, x scenario.Objective) []string {
	all := o.ofWindow(p, x)
	if p.at.Interrupted == 0 || p.end >= p.window {
		return all
	}
	least := x.Op == ">" || x.Op == ">="
	var found []string
	for _, outcome := range all {
		switch {
		case outcome == met:
			outcome = undecided
		case outcome != missed:
		case x.IsRate():
			if x.Subject == "rate" {
				found = append(found, undecided) // depends on how much is due in the rest
			} else if !least {
				outcome = undecided
			}
		case x.IsAvailability(), x.IsMetric() && x.Percent < 100:
		case least, x.Op == "==" && float64(o.Counters[counterOf(x)]) <= x.Limit: // the counter may grow
			outcome = undecided
		}
		found = append(found, outcome)
	}
	return found
}

// counterOf returns the name of a counter in results.
func counterOf(x scenario.Objective) string {
	if x.Subject == "lost" {
		return "missing"
	}
	return x.Subject
}

func (o *Outcome) ofWindow(p *play, x scenario.Objective) []string {
	switch {
	case x.IsTime(), x.Stretch != "":
		return nil // it depends on what actions cost
	case x.IsMetric():
		return o.ofLatency(x)
	case x.IsAvailability():
		return o.ofAvailability(p, x)
	case x.IsRate():
		if o.Rate.Due == 0 {
			return []string{meaningless}
		}
		share := o.Rate.Worst
		if x.Subject == "rate" {
			share = o.Rate.Sent / o.Rate.Due
		}
		return []string{fact(holds(x, math.Round(share*1e13)/1e13))}
	}
	return o.ofCounter(p, x)
}

// ofCounter decides about a count. Acknowledged messages that were not delivered may be lost, unless what the
// broker keeps was read, and a count of none of nothing shows nothing.
func (o *Outcome) ofCounter(p *play, x scenario.Objective) []string {
	least := o.Counters[counterOf(x)]
	if x.Subject == "corrupted" {
		least += o.Counters["corrupted_copies"]
	}
	most := least
	if x.Subject == "lost_acked" {
		switch {
		case readsBack(p.o):
			least = max(least, int64(len(o.Losses)))
			most = least
		case o.Counters["expected"] == 0: // nothing receives them
			most = max(most, o.Counters["acked"])
		default:
			most += o.Counters["undelivered"]
		}
	}
	switch inside := float64(least) <= x.Limit && x.Limit <= float64(most); {
	case holds(x, float64(least)) != holds(x, float64(most)), x.Op == "==" && least < most && inside:
		return []string{undecided}
	case !holds(x, float64(least)):
		return []string{missed}
	case least == 0 && o.among(x) == 0:
		return []string{undecided}
	}
	return []string{met}
}

// among returns how many messages could have been counted.
func (o *Outcome) among(x scenario.Objective) int64 {
	c := o.Counters
	switch x.Subject {
	case "lost", "missing":
		return c["expected"]
	case "lost_acked":
		return c["acked"]
	case "duplicated", "reordered", "late":
		return c["received"]
	case "corrupted", "redelivered", "foreign":
		return c["received"] + c["corrupted"]
	case "earlier_missing", "earlier_duplicated":
		return 0 // the model's broker has nothing of earlier runs
	case "nacked", "unknown", "timed_out", "dropped", "returned":
		return c["sent"]
	}
	return c["scheduled"]
}

func fact(holds bool) string {
	if holds {
		return met
	}
	return missed
}

// holds compares a figure with an objective's limit.
func holds(x scenario.Objective, v float64) bool {
	switch x.Op {
	case "<":
		return v < x.Limit
	case "<=":
		return v <= x.Limit
	case ">":
		return v > x.Limit
	case ">=":
		return v >= x.Limit
	}
	return v == x.Limit
}

// ofLatency returns the possible outcomes for a percentile: met if its whole interval is,
// missed if none of it is, undecided otherwise. The interval is the wider of the exact one
// and the one by stretches of the run, which lies within the extremes. With too few
// stretches nothing is decided.
func (o *Outcome) ofLatency(x scenario.Objective) []string {
	l := o.Latencies[x.Subject]
	if l == nil || l.total() == 0 {
		return []string{meaningless}
	}
	if x.Percent == 100 {
		return o.maximum(l, x)
	}
	low, high, ok := l.span(strconv.FormatFloat(x.Percent, 'f', -1, 64))
	switch {
	case !ok:
		return []string{undecided}
	case low.Refused:
		return []string{fact(holds(x, math.Inf(1)))}
	}
	below := x.Op == "<" || x.Op == "<="
	lowHolds, lowSure := o.edge(x, low.Value)
	highHolds, highSure := o.edge(x, high.Value)
	if high.AtLeast {
		highHolds, highSure = !below, true
	}
	if low.AtLeast && below { // a lower bound may be exceeded
		lowSure = lowSure && !lowHolds
	}
	switch {
	case !lowSure || !highSure:
		return []string{met, missed, undecided}
	case lowHolds != highHolds:
		return []string{undecided}
	}
	return []string{fact(lowHolds), undecided}
}

// edge reports whether the figure of a value satisfies the objective, and whether that is sure
// given the width of its bucket.
func (o *Outcome) edge(x scenario.Objective, v int64) (holding, sure bool) {
	least, most := holds(x, float64(v)/o.Bucket), holds(x, float64(v)*o.Bucket+1)
	return least, least == most
}

// maximum decides about the largest value.
func (o *Outcome) maximum(l *Latency, x scenario.Objective) []string {
	below := x.Op == "<" || x.Op == "<="
	switch {
	case l.Refused > 0:
		return []string{fact(holds(x, math.Inf(1)))}
	case len(l.Bounds) == 0:
		return []string{fact(holds(x, float64(l.Values[len(l.Values)-1])))}
	}
	holding, sure := o.edge(x, l.all[len(l.all)-1])
	switch {
	case !sure:
		return []string{met, missed, undecided}
	case holding == below:
		return []string{undecided}
	}
	return []string{fact(holding)}
}

// ofAvailability decides by both ends of Clopper and Pearson's interval of the share that was
// answered within the timeout after it was due. For messages that had no time to be answered,
// the lower end assumes that none would have been, the upper one that all would.
func (o *Outcome) ofAvailability(p *play, of scenario.Objective) []string {
	for _, name := range strings.Fields("delivery roundtrip publish") {
		l := o.Latencies[name+".response"]
		if o.FlatOut { // without a schedule a message is due when it is sent
			l = o.Latencies[name+".service"]
		}
		if l == nil || l.total() == 0 {
			continue
		}
		// A value or bound in the timeout's bucket may lie on either side of the timeout.
		in, _ := slices.BinarySearch(l.Values, int64(p.w.Timeout)+1)
		all, _ := slices.BinarySearch(l.Values, int64(float64(p.w.Timeout)*o.Bucket)+1)
		early, _ := slices.BinarySearch(l.Bounds, int64(float64(p.w.Timeout)/o.Bucket))
		most, _ := slices.BinarySearch(l.Bounds, int64(p.w.Timeout))
		var found []string
		for _, x := range [][2]int{{in, early}, {in, most}, {all, early}, {all, most}} {
			n := x[0] + x[1]
			low, _ := proportion(int64(x[0])*l.Samples/l.total(), l.Samples)
			low = min(low, float64(x[0])/float64(l.total()))
			_, high := proportion((int64(n)*l.Samples+l.total()-1)/l.total(), l.Samples)
			high = max(high, float64(n)/float64(l.total()))
			switch a, b := holds(of, low), holds(of, high); {
			case a != b:
				found = append(found, undecided)
			case a:
				found = append(found, met, undecided)
			default:
				found = append(found, missed, undecided)
			}
		}
		return found
	}
	return []string{meaningless}
}

// proportion is Clopper and Pearson's 95 % interval of k of n.
func proportion(k, n int64) (low, high float64) {
	atLeast := func(p float64) (sum float64) { // P(X ≥ k)
		for i := k; i <= n; i++ {
			sum += binomial(n, i, p)
		}
		return sum
	}
	atMost := func(p float64) (sum float64) {
		for i := range k + 1 {
			sum += binomial(n, i, p)
		}
		return sum
	}
	high = 1
	if k > 0 {
		low = root(func(p float64) bool { return atLeast(p) > 0.025 })
	}
	if k < n {
		high = root(func(p float64) bool { return atMost(p) < 0.025 })
	}
	return low, high
}

// root returns the point between 0 and 1 at which above becomes true.
func root(above func(float64) bool) float64 {
	a, b := 0.0, 1.0
	for range 60 {
		if m := (a + b) / 2; above(m) {
			b = m
		} else {
			a = m
		}
	}
	return (a + b) / 2
}
