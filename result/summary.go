package result

import (
	"slices"
	"time"
)

// Summary is the last record: the totals and the verdict. Every figure in it
// can be computed from the intervals.
type Summary struct {
	Type     string   `json:"type"`               // "summary"
	Workload string   `json:"workload,omitempty"` // Header.Workload
	Verdict  Verdict  `json:"verdict"`
	Counters Counters `json:"counters"`
	// Connections are those that were opened beside those of the messages; nil: none were.
	Connections *Connections             `json:"connections,omitempty"`
	Rate        Rate                     `json:"rate"`
	Throughput  *Throughput              `json:"throughput,omitempty"`
	Histograms  map[Metric]*Distribution `json:"histograms"`
	End         int64                    `json:"end"`      // of the window, as it was
	Resolved    int64                    `json:"resolved"` // when the last message was resolved or given up
	Interrupted bool                     `json:"interrupted,omitempty"`
	Aborted     bool                     `json:"aborted,omitempty"` // ended at once, without waiting for what was under way
	// Steady says how the run went on, stretch by stretch; nil where nothing was
	// measured in a window.
	Steady *Steady `json:"steady,omitempty"`
	// EffectiveSampleSize says how much the run's messages tell beside independent ones; nil
	// where that is not known, and in results of earlier versions.
	EffectiveSampleSize *EffectiveSampleSize `json:"effective,omitempty"`
	// Attribution says what the slowest messages met, for each metric that Tail
	// has messages of.
	Attribution []Attribution `json:"attribution,omitempty"`
	// Availability is the share of the messages that were answered in time; nil
	// where nothing was answered, and in results of earlier versions.
	Availability *Availability `json:"availability,omitempty"`
	// Objectives says of each of Header.Objectives how the run stands to it.
	Objectives []Objective `json:"objectives,omitempty"`
	// Until says how exactly the percentile of Header.Until came to be known; nil:
	// none was waited for.
	Until *Until `json:"until,omitempty"`
	// Backlog says how the backlog came and went of consumers that came late or paused;
	// nil: there were none.
	Backlog *Backlog `json:"kept,omitempty"`
	// Left is what of the run is still at the broker, as Closing.Left says.
	Left []Leftover `json:"left,omitempty"`
	// ReadBack is what the broker had kept when the run was over, as Interval.ReadBack of the
	// closing record says it; nil: it was not read back.
	ReadBack *ReadBack `json:"read_back,omitempty"`
	// Costs says what the actions of the run cost, in order of time; nil in results of earlier
	// versions, and where none happened.
	Costs []Cost `json:"costs,omitempty"`
	// Unexplained are losses and the like that no action explains; nil: none, or no action
	// happened.
	Unexplained *Unexplained `json:"unexplained,omitempty"`
	// Outside has the response times of the messages that were due while no action had an
	// effect: outside of From to Gone of all Costs. Nil without Costs.
	Outside map[Metric]*Distribution `json:"outside,omitempty"`
	// ClosedLoop is what a closed loop of as many producers, each with one message at a time,
	// would have recorded of Costs' Metric: those of Outside, and for each outage of Costs one
	// message of each producer, which waits for as long. Nil if no action had an effect.
	ClosedLoop *Distribution `json:"closed_loop,omitempty"`
	// Seal is always the last; nil in results of earlier versions, and in one that is
	// not in a file.
	Seal *Seal `json:"seal,omitempty"`
}

// Until is how exactly a percentile came to be known in a run that was to go on
// until it was. Its interval holds at whatever moment the run ended.
type Until struct {
	Text  string `json:"until"` // as it was asked
	Ended string `json:"ended"` // one of the Ended constants
	Value int64  `json:"value"` // the figure, ns
	Low   int64  `json:"low"`   // its 95 % interval, ns; both 0: no interval
	High  int64  `json:"high"`
	// Open says that the interval has no upper end, because unresolved messages
	// reach it: High is a lower bound.
	Open bool `json:"open,omitempty"`
	// Refused says that the figure is a refused message's, OpenRefused that the
	// upper end is, and LowRefused that the lower one is, so that there is no
	// interval: no latency is as slow. Value and High are then those of the slowest
	// other message.
	Refused     bool `json:"refused,omitempty"`
	OpenRefused bool `json:"open_refused,omitempty"`
	LowRefused  bool `json:"low_refused,omitempty"`
	// Narrow says that the interval is as narrow as was asked.
	Narrow bool `json:"narrow"`
	// Independent is why the interval takes messages for independent; empty: it
	// is the wider of that and of the one by stretches of the run.
	Independent string `json:"independent,omitempty"`
	Found       string `json:"found"` // for people, one line
}

// The values of Until.Ended: what ended the window.
const (
	EndedNarrow      = "narrow"      // the interval was as narrow as was asked
	EndedAtMost      = "at most"     // the greatest length was reached
	EndedInterrupted = "interrupted" // the user ended it
	EndedCutShort    = "cut short"   // the run was killed
)

// Availability is the share of the messages that were answered within a limit:
// delivered, replied to or acknowledged, as Metric says. Refused messages and
// unresolved ones are not.
type Availability struct {
	Metric   Metric `json:"metric"`   // whose values are counted
	Limit    int64  `json:"limit"`    // ns: the scenario's workload.timeout
	Answered int64  `json:"answered"` // values up to Limit
	Of       int64  `json:"of"`       // all, refused and unresolved ones included
	// Unknown were given up before Limit was over: they had no time to be answered.
	Unknown int64 `json:"unknown,omitempty"`
	// Share is Answered ÷ Of, and Low to High its exact 95 % interval (Clopper and
	// Pearson) for this number of messages, one delivered to several consumers being one: Low as
	// if none of those unknown had been answered, High as if all had.
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Steady is how the p50 and p99 of the stretches of a window went on.
type Steady struct {
	Metric    Metric `json:"metric"`
	Intervals int    `json:"intervals"` // stretches looked at for the p50
	P50       Trend  `json:"p50"`
	P99       Trend  `json:"p99"`
	// Text is the conclusion, one line: what to discard, or that nothing must be.
	Text string `json:"text"`
}

// Trend is the class of one figure's series.
type Trend struct {
	// Class is "not assessed", "flat", "warm-up", "drift", "level shift" or "no
	// steady state".
	Class string `json:"class"`
	// From is where the steady part begins, ns from the window's start; −1:
	// there is none.
	From int64 `json:"from"`
	// Change is how many times as large as at the beginning the figure is at the
	// end.
	Change float64 `json:"change"`
	// Stretches is how many had a figure: those of a window have messages enough
	// for it each.
	Stretches int `json:"stretches,omitempty"`
	// Outliers is how many stretches stand out and were taken for events and no
	// state.
	Outliers int `json:"outliers,omitempty"`
}

// EffectiveSampleSize is how many independent messages would tell as much about a percentile
// of the run as its messages do, which are alike in bursts and near a broker's
// capacity: from above 0 to Distribution.Samples.
type EffectiveSampleSize struct {
	Metric Metric  `json:"metric"`
	P50    float64 `json:"p50"`
	P99    float64 `json:"p99"`
}

// Attribution is what the slowest messages of a metric met.
type Attribution struct {
	Metric   Metric `json:"metric"`
	Messages int    `json:"messages"` // looked at
	From     int64  `json:"from"`     // the least of their values, ns
	// Causes are in order of Share, the largest first; a message may count for
	// several.
	Causes []Cause `json:"causes,omitempty"`
	// Unexplained messages met no cause that is Named.
	Unexplained int `json:"unexplained"`
}

// Cause is one thing that slow messages met.
type Cause struct {
	// Source is one of the Pause constants, or the Kind of an event.
	Source   string  `json:"source"`
	Messages int     `json:"messages"` // that overlap it
	Share    float64 `json:"share"`    // of those looked at
	// Expected is the share that would overlap it by chance, had they been
	// anywhere in the window.
	Expected float64 `json:"expected"`
	// Named says that it is a cause, and not company: what they have in common is
	// beyond chance, or it is when the process was paused or a connection was
	// lost, and that took most of these messages' time.
	Named bool   `json:"named"`
	Text  string `json:"text"` // for people, one line: Found, and Try where it is Named
	Found string `json:"found,omitempty"`
	Try   string `json:"try,omitempty"` // what to do about it
}

// Objective is how a run stands to one of its objectives.
type Objective struct {
	Text    string `json:"objective"` // as it was asked
	Outcome string `json:"outcome"`   // "met", "missed", "undecided" or "meaningless"
	Found   string `json:"found"`     // what was found, one line
	// Brief is Found in a few words, where Found is long; else, and in files of
	// older versions, it is empty.
	Brief string `json:"brief,omitempty"`
}

// Rate is messages a second over the measured window.
type Rate struct {
	Asked float64 `json:"asked"` // the schedule's mean; 0: flat out or closed loop
	// Due is what the schedule had due in the window as it was: with random
	// arrivals, or a ramp that was ended early, another number than Asked. Missing
	// where nothing was due and in files of older versions.
	Due         float64 `json:"due,omitempty"`
	Sent        float64 `json:"sent"`
	WorstSecond float64 `json:"worst_second"` // sent ÷ due in the worst second, or in a window that is shorter, 1 = all
}

// SentShare returns the share of due messages that was sent in the window, 1 = all. ok is
// false if the load had no rate.
func (r Rate) SentShare() (share float64, ok bool) {
	due := r.Due
	if due == 0 {
		due = r.Asked
	}
	return r.Sent / due, r.Asked > 0 && due > 0
}

// Throughput is what flat out came to: over when everything was acknowledged
// and delivered, or, without acknowledgements, read by the broker, and not before the
// senders had sent all or the window was at its end.
type Throughput struct {
	Messages  int64         `json:"messages"`
	Bytes     int64         `json:"bytes"`
	Elapsed   time.Duration `json:"elapsed_ns"`
	PerSecond float64       `json:"per_second"`
	// Received counts deliveries; zero without consumers.
	Received          int64   `json:"received"`
	ReceivedPerSecond float64 `json:"received_per_second"`
	// WarmUp counts the deliveries of what the warm-up had sent, or its acknowledgements if
	// those are more, that came when the window had begun. They are not in Received nor in
	// Messages, and took of its time.
	WarmUp int64 `json:"warm_up,omitempty"`
	// SentPerSecond is what the senders came to by themselves: messages acknowledged until the
	// last of them was, or where nothing is acknowledged, handed to the client until the last
	// of them was, wherever they were then; and in each case for as long as they tried.
	// 0: not known.
	SentPerSecond float64 `json:"sent_per_second,omitempty"`
	Until         string  `json:"until"` // what stopped the clock
	// Needs is LeastThroughput where fewer messages were handed out: the rates say nothing
	// of the system then, and are not to be published. 0: they may be.
	Needs int64 `json:"needs,omitempty"`
}

// LeastThroughput is the least number of messages from which a rate is computed: with 100,
// one message more or less at either end changes it by one per cent.
const LeastThroughput = 100

// Status is a verdict's one word.
type Status string

// The statuses, from best to worst.
const (
	Valid    Status = "VALID"
	Suspect  Status = "SUSPECT"
	Unstable Status = "UNSTABLE" // overload: no steady state, no steady-state percentiles
	Invalid  Status = "INVALID"
)

// Verdict says whether the numbers can be trusted, and why not. It prints as
// "VALID", "VALID to p99", "SUSPECT", "OVERLOADED", …
type Verdict struct {
	Status Status `json:"status"`
	// ValidTo is, where Status is Valid, the highest percentile of the run's first
	// latency that is valid, where some beyond it are not: "99". Empty: Status
	// speaks for all of them.
	ValidTo Percentile `json:"valid_to,omitempty"`
	// Limits says for each latency that is partly not to be trusted where that
	// part begins, in the order of [Metrics].
	Limits  []Limit  `json:"limits,omitempty"`
	Reasons []Reason `json:"reasons"`
}

// Limit says from which percentile on a metric is suspect, and from which it is invalid.
type Limit struct {
	Metric Metric `json:"metric"`
	// ValidTo is the highest percentile below; empty: no percentile is below.
	ValidTo Percentile `json:"valid_to,omitempty"`
	From    Percentile `json:"suspect_from"` // the first that is suspect or invalid, and so are all beyond it
	Why     string     `json:"why"`          // a few words: "36 % own lag"
	// Codes are those of the reasons in Why; nil in results of earlier versions.
	Codes []ReasonCode `json:"codes,omitempty"`
	// InvalidFrom is the first percentile that is invalid: From or a higher one. All beyond
	// it are invalid, too. Empty: no percentile is invalid, as in results of earlier versions.
	InvalidFrom Percentile `json:"invalid_from,omitempty"`
	InvalidWhy  string     `json:"invalid_why,omitempty"` // a few words
	// InvalidCodes are those of the reasons in InvalidWhy, as Codes are.
	InvalidCodes []ReasonCode `json:"invalid_codes,omitempty"`
}

// String returns the status as users see it, with the highest valid percentile; UNSTABLE
// becomes "OVERLOADED".
func (v Verdict) String() string {
	if v.Status == Unstable {
		return "OVERLOADED"
	}
	if v.Status == Valid && v.ValidTo != "" {
		return string(v.Status) + " to p" + string(v.ValidTo)
	}
	return string(v.Status)
}

// Limit returns the limit of a metric, nil if the verdict does not limit it. The pointer is
// into v.Limits.
func (v Verdict) Limit(m Metric) *Limit {
	for i := range v.Limits {
		if v.Limits[i].Metric == m {
			return &v.Limits[i]
		}
	}
	return nil
}

// Of returns what a percentile of a metric, or its maximum, is worth: Valid, Suspect or Invalid. It is the worse of the
// metric's limit there, and of the reasons without a percentile, which concern all of the metric or all of the run.
// It is never Unstable: an overloaded run has no steady-state response times at all, see Status.
func (v Verdict) Of(m Metric, percentile Percentile) Status {
	worth := v.Limit(m).Of(percentile)
	for _, r := range v.Reasons {
		switch whole := r.Percentile == "" && (r.Metric == "" || r.Metric == m); {
		case whole && r.Status == Invalid:
			return Invalid
		case whole && r.Status == Suspect && worth == Valid:
			worth = Suspect
		}
	}
	return worth
}

// Reaches reports whether the percentile is suspect or invalid; the maximum, "max", lies
// beyond all percentiles. A percentile between ValidTo and From also counts as suspect,
// because nothing shows that it is valid. A nil limit reaches nothing.
func (l *Limit) Reaches(percentile Percentile) bool { return l.Of(percentile) != Valid }

// Of returns Valid, Suspect or Invalid for a percentile or the maximum, see Reaches.
func (l *Limit) Of(percentile Percentile) Status {
	switch {
	case l == nil:
		return Valid
	case l.InvalidFrom != "" && beyond(percentile, l.InvalidFrom, below(l.InvalidFrom, l.ValidTo)):
		return Invalid
	case beyond(percentile, l.From, l.ValidTo):
		return Suspect
	}
	return Valid
}

// below returns the next lower published percentile, or least if percentile is the lowest or
// not a published one.
func below(percentile, least Percentile) Percentile {
	all := Percentiles()
	if i := slices.Index(all, percentile); i > 0 {
		return all[i-1]
	}
	return least
}

// beyond reports whether a percentile is above to, the next published percentile below from,
// or, if to is empty, at or above from.
func beyond(percentile, from, to Percentile) bool {
	least, ok := from.Number()
	p, isNumber := percentile.Number()
	if !ok || !isNumber {
		return ok
	}
	if valid, ok := to.Number(); ok {
		return p > valid
	}
	return p >= least
}
