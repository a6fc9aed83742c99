package result

// Cost is what an action cost, or several whose effects overlap: these are attributed to all of
// them together. Instants are ns from the start of the window.
type Cost struct {
	Actions []int `json:"actions"` // their numbers in Header.Actions, from 1, in order of time
	From    int64 `json:"from"`    // when the first happened
	Over    int64 `json:"over"`    // when the last was undone; From if none lasts
	// Gone is when the effect on latency was gone: when the former level was back, and not
	// before Over. It is Until if that was not seen.
	Gone int64 `json:"gone"`
	// Until is where the stretch ends that is attributed to them: when the next action
	// happened, or the end of the records.
	Until int64 `json:"until"`

	// Causes are what the actions can do to messages, by their kinds, in the words of
	// scenario.Harms: only these are counted below. What they cannot have done is in
	// Summary.Unexplained.
	Causes []string `json:"causes"`

	// Metric is the response time that the effect was looked for in; empty: the load has none.
	Metric Metric `json:"metric,omitempty"`
	Effect Impact `json:"effect"`
	// Why says why the effect is unknown, empty if it is known.
	Why    string       `json:"why,omitempty"`
	Former *FormerLevel `json:"former,omitempty"` // nil: not known
	// Detected is how long after From the first message was due that was late, refused or
	// never answered; nil: all were answered.
	Detected *Within `json:"detected,omitempty"`
	// Unavailable is the longest time for which what was due was refused or had no answer,
	// and Recovered how long after From the latency was back; nil: not known. Without an effect
	// both are 0 at least, and at most as long as nothing was due that could show one. A latency
	// that was not seen to be back has no Recovered.
	Unavailable *Within `json:"unavailable,omitempty"`
	Recovered   *Within `json:"recovered,omitempty"`
	// NotRecovered is how long after From the latency was not back for sure; 0: Recovered is known, or the
	// effect is not.
	NotRecovered int64 `json:"not_recovered,omitempty"`
	// Again is how many cells of due time (see Former) were late again after that.
	Again int `json:"late_again,omitempty"`

	// Refused are messages, and Unanswered messages (of Metric: deliveries), that were due from
	// From to Until, or shortly before From, when they were in flight; of results of earlier versions
	// Unanswered is not known.
	Refused    int64  `json:"refused"`
	Unanswered *int64 `json:"unanswered,omitempty"`
	// Duplicated, Redelivered and Reordered came from From to Until.
	Duplicated  int64 `json:"duplicated"`
	Redelivered int64 `json:"redelivered"`
	Reordered   int64 `json:"reordered"`
	// LostAcked are messages that the broker no longer had when everything was read back; nil:
	// it is not known which these are.
	LostAcked *CostLost `json:"lost_acked,omitempty"`

	Reconnects *Reconnects  `json:"reconnects,omitempty"` // nil: no connection was lost
	Backlog    *CostBacklog `json:"backlog,omitempty"`    // nil: none beyond that before

	// Before, During and After are the latencies of Metric by when messages were due: from
	// the former action's Gone to From, from there to Gone, and from there to Until; nil:
	// no message is known to have been due then.
	Before *Period `json:"before,omitempty"`
	During *Period `json:"during,omitempty"`
	After  *Period `json:"after,omitempty"`
}

// Unexplained are messages to which something happened that no action of the plan explains: it was
// before all of them, or in the time of some that cannot have done it.
type Unexplained struct {
	Refused     int64 `json:"refused,omitempty"`
	Unanswered  int64 `json:"unanswered,omitempty"`
	LostAcked   int64 `json:"lost_acked,omitempty"` // including those whose time of acknowledgement is not known
	Duplicated  int64 `json:"duplicated,omitempty"`
	Redelivered int64 `json:"redelivered,omitempty"`
	Reordered   int64 `json:"reordered,omitempty"`
}

// Impact says whether an action had an effect on latency.
type Impact string

// The values of Cost.Effect.
const (
	ImpactUnknown Impact = "unknown"
	ImpactNone    Impact = "none seen"
	ImpactSeen    Impact = "seen"
)

// FormerLevel is the latency before an action, from all messages that were due before it and
// outside of others' effects, in cells of due time.
type FormerLevel struct {
	P99  int64 `json:"p99"`  // ns
	Late int64 `json:"late"` // ns, the upper end of its 95 % interval: slower messages are late
	// Worst is the largest share of late messages in a cell, 0 to 1; at least 0.01.
	Worst    float64 `json:"worst"`
	Messages int64   `json:"messages"`
	Cells    int     `json:"cells"`
	Cell     int64   `json:"cell"` // length of a cell, ns
}

// Within is a duration that records tell no better than from Least to Most, ns.
type Within struct {
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
}

// Period is the latency of the messages that were due in a part of the window.
type Period struct {
	From    int64         `json:"from"`
	To      int64         `json:"to"`
	Latency *Distribution `json:"latency"`
}

// Reconnects are connections that were lost and made again.
type Reconnects struct {
	Lost int64 `json:"lost"`
	Made int64 `json:"made"`
	// Mean and Longest are how long it took, ns, if every connection made again is the one
	// that was lost first. The mean of all does not depend on that, the longest is no shorter
	// in truth. Both are 0 if no connection was made again.
	Mean    int64 `json:"mean,omitempty"`
	Longest int64 `json:"longest,omitempty"`
}

// CostLost are messages that were acknowledged from when what was due in the effect of the former action that
// can lose any was answered until that was so of this one's, and are lost, be it by this action or by a later one: when a message
// was lost is not known. The acknowledgement's instant is not known of all, see Losses.Undated; these are in no
// cost.
type CostLost struct {
	Count int64 `json:"count"`
	// FromLog says that Count is of ReadBack.Gone: messages that are gone from the broker's log,
	// delivered or not. Else it is of ReadBack.Lost: those that were not delivered either.
	FromLog bool `json:"from_log,omitempty"`
	// Oldest and Newest are how long before From the first and the last of them was
	// acknowledged, ns; below 0: after it. Both are 0 if Count is.
	Oldest int64 `json:"oldest"`
	Newest int64 `json:"newest"`
}

// CostBacklog is what was due and not answered or delivered: not sent, or in flight.
type CostBacklog struct {
	Before int64 `json:"before"` // its largest before the action
	Peak   int64 `json:"peak"`
	PeakAt int64 `json:"peak_at"`
	// Gone is when it was as before, or had come down to a hundredth of its peak; 0: it was
	// not by Until.
	Gone int64 `json:"gone,omitempty"`
}
