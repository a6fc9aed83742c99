package compare

import (
	"time"

	"sixnines/result"
)

// The rules of a comparison.
const (
	// Confidence is that of all intervals, simultaneous over what is judged.
	Confidence = 0.95
	// MinPairs is the fewest pairs of runs that can show a difference at
	// Confidence: of 2⁶ assignments of signs two are as extreme as all alike.
	MinPairs = 6
	// RecommendedPairs leave room for a pair that disagrees.
	RecommendedPairs = 10
	// DefaultMinEffect is the least change that matters unless another is asked
	// for: 5 %.
	DefaultMinEffect = 0.05
)

// Outcome is what a comparison comes to.
type Outcome string

// The outcomes. What matters is a factor of 1 + the minimum effect, either way.
const (
	Slower    Outcome = "slower"                     // shown slower by more than matters
	Faster    Outcome = "faster"                     // shown faster by more than matters
	Same      Outcome = "no difference that matters" // shown to be smaller than that
	NotSlower Outcome = "not slower"                 // shown not to be slower by more than that; whether it is faster is not
	Undecided Outcome = "not decided"                // too much noise for the number of pairs
	Mixed     Outcome = "slower and faster"          // at different percentiles; of a whole comparison
	TooFew    Outcome = "too few runs"               // fewer than MinPairs pairs
	Unranked  Outcome = "not ranked"                 // unlike things
	NoFigure  Outcome = "no statement"               // of a percentile that some run does not have
	Nothing   Outcome = "nothing to compare"         // no pair of runs is left
	Unjudged  Outcome = "not judged"                 // a workload in the background
)

// Kinds of Comparison.Kind.
const (
	KindAA   = "A/A"  // both arms of an ab are the same
	KindAB   = "ab"   // randomised interleaved pairs
	KindSets = "sets" // two sets of runs, paired in order of time
)

// Comparison is two sets of runs beside each other. All times are nanoseconds.
type Comparison struct {
	// Workload is the one of several that the comparison is of; empty: the runs have
	// one. Background says that a side has it in the background: nothing of it is
	// judged.
	Workload   string  `json:"workload,omitempty"`
	Background bool    `json:"background,omitempty"`
	Kind       string  `json:"kind"`
	Outcome    Outcome `json:"outcome"`
	Text       string  `json:"text"` // the outcome in a sentence
	MinEffect  float64 `json:"min_effect"`
	A          Set     `json:"a"`
	B          Set     `json:"b"`
	// Changes is what an ab was asked to compare; none: an A/A, or two sets that were not
	// made by an ab.
	Changes []Change `json:"changes,omitempty"`
	// Follows are differences that come with the changes: guarantees, settings in
	// effect, another broker where another was asked for. The gravest first.
	Follows []Difference `json:"follows,omitempty"`
	// Guarantees says which guarantees of B are weaker, stronger or others than A's
	// where that comes with the changes; empty: none.
	Guarantees string `json:"guarantees,omitempty"`
	// Differences is what is unlike besides, the gravest first.
	Differences []Difference `json:"differences"`
	// Refused says why there is no ranking; empty: there may be one. Asked says that
	// only what was to be compared is in its way: then rows have their change with its
	// interval, as what the change costs or saves, and no outcome.
	Refused string `json:"refused,omitempty"`
	Asked   bool   `json:"asked,omitempty"`
	// Forced says that there is a ranking although Differences refuse it.
	Forced bool   `json:"forced,omitempty"`
	Pairs  []Pair `json:"pairs"`
	// Replaced are pairs of an ab of which a run was INVALID and others were made
	// instead; they are in no figure.
	Replaced       []Replaced      `json:"replaced,omitempty"`
	Left           []Left          `json:"left_out"`
	SuspectReasons []SuspectReason `json:"doubts"`
	// P is the probability of judged differences like these or larger between
	// sets that differ in nothing but chance; 1 if nothing was judged.
	P       float64  `json:"p"`
	Metrics []Metric `json:"metrics"` // judged ones first
	// Throughput is what flat out came to; nil where there was a schedule.
	Throughput *Row      `json:"throughput,omitempty"`
	Accounts   []Account `json:"accounts"`
	// Regressions are what a gate fails for: what [Gate] has as worse, in words.
	Regressions []string `json:"regressions"`
	// Ungated says why no figure can be judged; empty: it can.
	Ungated string `json:"ungated,omitempty"`
	// Gate is what is shown of everything that a gate judges.
	Gate *Gate `json:"gate"`
	// consumed says that flat out somebody consumed, so that deliveries are judged.
	consumed bool
}

// Stated reports whether rows have changes with intervals, be they judged or not.
func (c *Comparison) Stated() bool {
	return (c.Refused == "" || c.Asked) && len(c.Pairs) >= MinPairs
}

// Set is one side.
type Set struct {
	Label string    `json:"label"` // what was run
	Runs  int       `json:"runs"`  // given
	Used  int       `json:"used"`  // in pairs
	From  time.Time `json:"from"`  // start of the first of the runs
	To    time.Time `json:"to"`    // and of the last
}

// Pair is two runs that are compared with each other.
type Pair struct {
	Number int    `json:"pair"`
	A      string `json:"a"` // result file
	B      string `json:"b"`
}

// Replaced is a pair that was set aside.
type Replaced struct {
	Pair int    `json:"pair"`
	By   int    `json:"by"`  // the pair that was made instead
	Why  []Left `json:"why"` // its INVALID runs
}

// Left is a run that is in no pair.
type Left struct {
	Side string `json:"side"` // "A" or "B"
	Run  string `json:"run"`
	Why  string `json:"why"`
	// Partner says that nothing speaks against the run but that its partner cannot be
	// used.
	Partner bool `json:"partner,omitempty"`
	// Overloaded says that the run is in no figure because the system did not carry its
	// load, which is an answer: a gate counts it as a failure.
	Overloaded bool `json:"overloaded,omitempty"`
}

// SuspectReason is a reason for which runs that are compared are SUSPECT.
type SuspectReason struct {
	Side        string            `json:"side"`
	Runs        int               `json:"runs"` // that have it
	Code        result.ReasonCode `json:"code"`
	Metric      result.Metric     `json:"metric,omitempty"`
	Percentiles []string          `json:"percentiles,omitempty"` // of the metric; none: the whole run
	Text        string            `json:"text"`                  // of the first of them
	Found       string            `json:"found"`                 // the same without what it means and what to do
}

// Metric is one latency in both sets.
type Metric struct {
	Metric result.Metric `json:"metric"`
	// Judged metrics have outcomes; their intervals hold for all of them at
	// once. The intervals of another one hold for that one alone.
	Judged bool  `json:"judged"`
	Rows   []Row `json:"rows"` // the maximum last
}

// Row is one figure in both sets.
type Row struct {
	Percentile string  `json:"percentile"` // "99.9"; "max"; "throughput"
	A          Figures `json:"a"`
	B          Figures `json:"b"`
	Shift      *Shift  `json:"shift,omitempty"` // nil: no statement
	// Outcome is empty where nothing is judged.
	Outcome Outcome  `json:"outcome,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	judged  *Judged  // nil where nothing is
}

// Figures are one figure of the runs of a set.
type Figures struct {
	// Runs is how many runs have the figure; the others are of these, and zero without
	// any.
	Runs int `json:"runs"`
	// Mean is the geometric mean of the runs' figures: that of B over that of A is the
	// change. Zero where a run has zero.
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"` // of the runs
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	// Between is the spread from run to run: the geometric standard deviation
	// less one; 0.03 is 3 %. Zero with one run.
	Between float64 `json:"between"`
	// Within is half the width of the 95 % interval within a run, as a part of
	// the figure, in the run in the middle of them; 0 if it is not known.
	Within float64 `json:"within"`
}

// Shift is by how much B is larger than A.
type Shift struct {
	Ratio float64 `json:"ratio"` // geometric mean over the pairs
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	// Ns, NsLo and NsHi are the same, applied to A's mean.
	Ns   float64 `json:"ns"`
	NsLo float64 `json:"ns_lo"`
	NsHi float64 `json:"ns_hi"`
	// P is adjusted for all figures that are judged with it.
	P float64 `json:"p"`
	// Shown says that B differs from A beyond chance, by however little.
	Shown bool `json:"shown"`
}
