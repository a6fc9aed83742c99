package scenario

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
)

// Objective is a service level objective that a run must meet. Its text is a figure,
// a comparison and a limit:
//
//	delivery.response p99.9 < 5ms    a percentile, or max, of a metric
//	p99.9 < 5ms                      the same, of the pattern's response time, see
//	                                 [Objective.Of]
//	lost == 0                        a counter of the result
//	rate >= 99.9%                    the share of due messages that was sent
//	worst_second >= 95%              the same in the worst second
//	availability > 99.9%             the share of all messages answered within the timeout
//	unavailable < 5s                 how long an action left what was due without an answer
//	recovered < 10s                  how long after an action the latency was as before
//	p99 < 20ms outside actions       the same outside of the effects of actions, or during
//	rate >= 50% during stall         those of a kind, see [Stretch]
type Objective struct {
	Subject string  // a metric, a counter, "rate", "worst_second" or "availability"; empty with a Percent: the load's response time
	Percent float64 // of a metric: the percentile, in (0, 100); 100 is the maximum; 0: not about a metric
	Op      string  // <, <=, ==, >= or >
	Limit   float64 // nanoseconds for a metric or a time, a number for a counter, a share in [0, 1] for a rate
	Stretch Stretch // of the window; empty: all of it
}

// The subjects of an Objective beside the counters.
const (
	subjectRate  = "rate"
	subjectWorst = "worst_second"

	subjectAvailability = "availability"
	subjectUnavailable  = "unavailable"
	subjectRecovered    = "recovered"
)

// objectiveMetrics are the metrics that objectives may be about, as results name
// them.
func objectiveMetrics() []string {
	return []string{"publish.response", "publish.service", "delivery.response", "delivery.service", "delivery.last",
		"roundtrip.response", "roundtrip.service", "connection.connect", "connection.login", "connection.subscribe", "lag.own", "lag.blocked"}
}

// objectiveCounters are the counters that objectives may be about, as results
// name them; "lost" is another word for "missing".
func objectiveCounters() []string {
	return []string{"lost", "missing", "lost_acked", "corrupted", "duplicated", "redelivered", "reordered", "not_sent",
		"rejected", "nacked", "unknown", "censored", "late", "foreign", "late_replies", "timed_out", "dropped", "returned",
		"earlier", "earlier_missing", "earlier_duplicated"}
}

const objectiveForm = `an objective is such as "p99.9 < 5ms", "delivery.service p99 < 5ms", "lost == 0" or "rate >= 99.9%"`

// IsMetric reports whether o is about a latency.
func (o Objective) IsMetric() bool { return o.Percent > 0 }

// IsRate reports whether o is about the share of due messages that was sent.
func (o Objective) IsRate() bool { return o.Subject == subjectRate || o.Subject == subjectWorst }

// IsAvailability reports whether o is about the share of messages that was answered.
func (o Objective) IsAvailability() bool { return o.Subject == subjectAvailability }

// IsTime reports whether o is about how long the effect of an action lasted.
func (o Objective) IsTime() bool { return o.IsRecovery() || o.Subject == subjectUnavailable }

// IsRecovery reports whether o is about how long after an action the latency was as before.
func (o Objective) IsRecovery() bool { return o.Subject == subjectRecovered }

// isShare reports whether o's limit is a percentage.
func (o Objective) isShare() bool { return o.IsRate() || o.IsAvailability() }

// ParseObjective reads an objective. Its errors are of type [*Error], without a
// position.
func ParseObjective(s string) (Objective, error) {
	written := s
	s = strings.NewReplacer("≤", "<=", "≥", ">=").Replace(s)
	at := strings.IndexAny(s, "<>=")
	if at < 0 {
		return Objective{}, wrong(quote(written)+" compares nothing", objectiveForm)
	}
	end := at + 1
	if end < len(s) && s[end] == '=' {
		end++
	}
	o := Objective{Op: s[at:end]}
	if o.Op == "=" {
		o.Op = "=="
	}
	words := strings.Fields(s[:at])
	limit, stretch, err := cutStretch(strings.TrimSpace(s[end:]))
	switch {
	case err != nil:
		return Objective{}, err
	case len(words) == 0 || limit == "":
		return Objective{}, wrong(quote(s)+" is incomplete on one side of "+o.Op, objectiveForm)
	}
	o.Subject, o.Stretch = words[0], stretch
	switch figure := strings.Join(words, ""); {
	case isFigure(figure):
		o.Subject = ""
		err = o.ofMetric(s, []string{figure}, limit)
	case slices.Contains(objectiveMetrics(), o.Subject):
		err = o.ofMetric(s, words[1:], limit)
	case !o.isShare() && !o.IsTime() && !slices.Contains(objectiveCounters(), o.Subject):
		err = o.unknown(limit)
	case len(words) > 1:
		err = wrong(quote(s)+": "+quote(words[1])+" after "+quote(o.Subject)+" says nothing", objectiveForm)
	case o.isShare():
		err = o.ofShare(s, limit)
	case o.IsTime():
		err = o.ofDuration(s, limit)
	default:
		err = o.ofCounter(s, limit)
	}
	if err == nil {
		err = o.checkStretch(s)
	}
	switch {
	case err != nil:
		return Objective{}, err
	case o.Limit == 0 && o.Op == "<":
		return Objective{}, wrong(quote(s)+" can never be met: nothing is below 0", "compare by <= or ==, or with a larger limit")
	case o.Limit == 0 && o.Op == ">=":
		return Objective{}, wrong(quote(s)+" is always met, so it checks nothing", "compare by >, or with a larger limit")
	}
	return o, nil
}

// unknown returns the error for an objective without a known subject, with what was
// probably meant.
func (o *Objective) unknown(limit string) error {
	small, whole := strings.ToLower(o.Subject), o.Subject+".response"
	rank, ranked := strings.CutPrefix(small, "p")
	_, notNumber := strconv.ParseFloat(rank, 64)
	switch nines, is := strings.CutPrefix(rank, "99"); {
	case small == "mean" || small == "avg" || small == "average":
		return wrong("a mean does not show how long users wait", "write p50 "+o.Op+" "+limit+" or p99 "+o.Op+" "+limit)
	case ranked && is && nines != "" && strings.Trim(nines, "9") == "":
		return wrong(quote(o.Subject)+" is no percentile", "write p99."+nines)
	case ranked && notNumber == nil:
		return noPercentile(o.Subject)
	case small == o.Subject && (small == "response" || small == "service" || small == "latency"):
		return wrong(quote(o.Subject)+" does not say of what", "write such as p99 "+o.Op+" "+limit+" for the response time, or delivery.service p99 "+o.Op+" "+limit)
	case slices.Contains(objectiveMetrics(), whole):
		return wrong(quote(o.Subject)+" has a response and a service time", "write "+whole+", which counts from when a message was due")
	}
	all := slices.Concat(objectiveMetrics(), objectiveCounters(), []string{subjectRate, subjectWorst, subjectAvailability, subjectUnavailable, subjectRecovered})
	return wrong("nothing is called "+quote(o.Subject), "there are percentiles such as p99.9, "+strings.Join(all, ", ")+spell.Meant(o.Subject, all...))
}

func (o *Objective) ofMetric(s string, words []string, limit string) error {
	if len(words) != 1 {
		return wrong(quote(s)+" does not say which percentile of "+o.Subject, "write "+o.Subject+" p99 "+o.Op+" "+limit+", or max for the maximum")
	}
	if o.Percent = 100; !strings.EqualFold(words[0], "max") {
		v, ok := parsePercentile(words[0])
		if !ok {
			return noPercentile(words[0])
		}
		o.Percent = v
	}
	return o.ofDuration(s, limit)
}

// ofDuration reads a limit of time.
func (o *Objective) ofDuration(s, limit string) error {
	if o.Op == "==" {
		return wrong(quote(s)+": a latency is never equal to a limit", "compare by < or >")
	}
	d, err := spell.ParseDuration(limit)
	switch {
	case err != nil:
		return because(quote(s)+": the limit "+quote(limit), err, "write it with its unit: 5ms, 250us, 1.5s")
	case d > 1<<53: // beyond, a float64 is not exact
		return wrong(quote(limit)+" is not a duration", "write it with its unit: 5ms, 250us, 1.5s")
	}
	o.Limit = float64(d)
	return nil
}

func noPercentile(figure string) error {
	return wrong(quote(figure)+" is no percentile", "write p50, p99.9 or another above p0 and below p100, or max")
}

// isFigure reports whether a word is a percentile or max, rather than a metric's name.
func isFigure(word string) bool {
	_, ok := parsePercentile(word)
	return ok || strings.EqualFold(word, "max")
}

// Of returns the objective for a workload of the pattern. An objective that names no
// metric gets the pattern's response time: of deliveries with deliver, of round trips
// with roundtrip and request-reply, of acknowledgements with publish. With consume, which
// times nothing, it stays as it is.
func (o Objective) Of(p Pattern) Objective {
	if o.Subject == "" {
		o.Subject = p.response()
	}
	return o
}

// response returns the name of a pattern's response time; empty: it has none.
func (p Pattern) response() string {
	switch p {
	case Publish:
		return "publish.response"
	case Deliver:
		return "delivery.response"
	case RoundTrip, RequestReply:
		return "roundtrip.response"
	}
	return ""
}

// parsePercentile reads p50, p99.9, p(99.9) or another above p0 and below p100.
func parsePercentile(word string) (percent float64, ok bool) {
	digits, is := strings.CutPrefix(strings.ToLower(word), "p")
	if inner, ok := strings.CutPrefix(digits, "("); ok && strings.HasSuffix(inner, ")") {
		digits = strings.TrimSuffix(inner, ")")
	}
	v, err := strconv.ParseFloat(digits, 64)
	return v, is && err == nil && v > 0 && v < 100 && strings.TrimLeft(digits, "0123456789.") == ""
}

// percentileName is "p99.9".
func percentileName(percent float64) string { return "p" + strconv.FormatFloat(percent, 'f', -1, 64) }

func (o *Objective) ofShare(s, limit string) error {
	share, err := spell.ParsePercent(strings.ReplaceAll(limit, " ", ""))
	if err != nil || share > 10 {
		return wrong(quote(s)+": "+quote(limit)+" is not a percentage", "write "+o.Subject+" "+o.Op+" 99.9%")
	}
	if o.IsAvailability() && (share > 1 || share == 1 && o.Op == ">") {
		return wrong(quote(s)+" can never be met: at most 100 % can be answered", "write "+o.Subject+" > 99.9%")
	}
	if math.Round(share*1e9)/1e9 != share {
		return wrong(quote(s)+": "+quote(limit)+" has more than seven decimals", "write "+o.Subject+" "+o.Op+" 99.9%")
	}
	o.Limit = share
	return nil
}

func (o *Objective) ofCounter(s, limit string) error {
	v, err := strconv.ParseInt(limit, 10, 64)
	if err != nil || v < 0 || v > 1<<53 {
		return wrong(quote(s)+": "+quote(limit)+" is not a number of messages", "write a whole number, such as "+o.Subject+" == 0")
	}
	o.Limit = float64(v)
	return nil
}

// Holds reports whether v, in the unit of Limit, meets the objective.
func (o Objective) Holds(v float64) bool {
	switch o.Op {
	case "<":
		return v < o.Limit
	case "<=":
		return v <= o.Limit
	case "==":
		return v == o.Limit
	case ">=":
		return v >= o.Limit
	case ">":
		return v > o.Limit
	}
	return false
}

// String returns the text that ParseObjective reads as o.
func (o Objective) String() string {
	text := o.Subject + " " + o.Op + " " + strconv.FormatInt(int64(o.Limit), 10)
	switch {
	case o.IsMetric():
		figure := "max"
		if o.Percent < 100 {
			figure = percentileName(o.Percent)
		}
		text = strings.TrimSpace(o.Subject+" "+figure) + " " + o.Op + " " + time.Duration(o.Limit).String()
	case o.isShare():
		text = o.Subject + " " + o.Op + " " + spell.PercentText(math.Round(o.Limit*1e9)/1e9)
	case o.IsTime():
		text = o.Subject + " " + o.Op + " " + time.Duration(o.Limit).String()
	}
	return strings.TrimSpace(text + " " + string(o.Stretch))
}
