package result

import "time"

// Summary is the last record: the totals and the verdict. Every figure in it
// can be computed from the intervals.
type Summary struct {
	Type        string                   `json:"type"` // "summary"
	Verdict     Verdict                  `json:"verdict"`
	Counters    Counters                 `json:"counters"`
	Rate        Rate                     `json:"rate"`
	Throughput  *Throughput              `json:"throughput,omitempty"`
	Histograms  map[Metric]*Distribution `json:"histograms"`
	End         int64                    `json:"end"`      // of the window, as it was
	Resolved    int64                    `json:"resolved"` // when the last message was resolved or given up
	Interrupted bool                     `json:"interrupted,omitempty"`
	Aborted     bool                     `json:"aborted,omitempty"` // ended at once, without waiting for what was under way
}

// Rate is messages a second over the measured window.
type Rate struct {
	Asked       float64 `json:"asked"` // 0: flat out or closed loop
	Sent        float64 `json:"sent"`
	WorstSecond float64 `json:"worst_second"` // sent ÷ due in the worst whole second, 1 = all
}

// Throughput is what flat out came to: over when everything was acknowledged
// and delivered, or, without acknowledgements, read by the broker.
type Throughput struct {
	Messages  int64         `json:"messages"`
	Bytes     int64         `json:"bytes"`
	Elapsed   time.Duration `json:"elapsed_ns"`
	PerSecond float64       `json:"per_second"`
	// Received counts deliveries; zero where nobody consumes.
	Received          int64   `json:"received"`
	ReceivedPerSecond float64 `json:"received_per_second"`
	Until             string  `json:"until"` // what stopped the clock
}

// Status is a verdict's one word.
type Status string

// The statuses, from best to worst.
const (
	Valid    Status = "VALID"
	Suspect  Status = "SUSPECT"
	Unstable Status = "UNSTABLE" // overload: no steady state, no steady-state percentiles
	Invalid  Status = "INVALID"
)

// Verdict says whether the numbers are to be believed, and why not.
type Verdict struct {
	Status  Status   `json:"status"`
	Reasons []Reason `json:"reasons"`
}

// Reason is one finding of the verdict.
type Reason struct {
	Status Status `json:"status"` // what this finding alone leads to; Valid: a note
	Code   string `json:"code"`   // stable, for programs: "own-lag", "conservation", …
	Text   string `json:"text"`   // for people: what was found and what to do
	// Metric and Percentile tell what it applies to; empty: the whole run.
	Metric     Metric `json:"metric,omitempty"`
	Percentile string `json:"percentile,omitempty"`
}

// Distribution is the published figures of one metric, in ns. Percentiles are
// keyed as people write them: "50", "99.9".
type Distribution struct {
	Count       int64               `json:"count"`
	Censored    int64               `json:"censored,omitempty"`
	Min         int64               `json:"min"`
	Max         int64               `json:"max"`
	Mean        float64             `json:"mean"`
	StdDev      float64             `json:"stddev"`
	Percentiles map[string]int64    `json:"percentiles"`
	Intervals   map[string][2]int64 `json:"intervals"` // 95 %, exact binomial
	// Unsupported percentiles are not printed as numbers: the samples needed.
	Unsupported map[string]int64 `json:"unsupported,omitempty"`
	// AtLeast names percentiles, and "max", whose figure is a lower bound,
	// because unresolved messages reach it: print "≥".
	AtLeast map[string]bool `json:"at_least,omitempty"`
	// Open names percentiles whose interval has no upper end, because unresolved
	// messages reach it: the second number of the interval is a lower bound.
	Open map[string]bool `json:"open,omitempty"`
	// Few names percentiles that rest on 4 to 99 exceedances: print "~".
	Few map[string]bool `json:"few,omitempty"`
	// Episodes counts, from p99 up, the separate events behind the
	// exceedances. Below 4 the percentile describes this run, not the system.
	Episodes map[string]int `json:"episodes,omitempty"`
	// OwnShare is the share of the percentile that is the generator's own lag.
	OwnShare map[string]float64 `json:"own_share,omitempty"`
	// Samples is the number of messages behind Count (a message delivered to
	// a thousand consumers is one sample).
	Samples int64 `json:"samples"`
}

// Percentiles are the percentiles that summaries publish, as written and as
// numbers.
func Percentiles() []string {
	return []string{"50", "75", "90", "95", "99", "99.9", "99.99", "99.999", "99.9999"}
}
