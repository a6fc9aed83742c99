package compare

import (
	"time"

	"sixnines/result"
)

// The rules of a comparison.
const (
	// Confidence is the confidence level of all intervals; the intervals of judged
	// figures hold simultaneously.
	Confidence = 0.95
	// MinPairs is the least number of pairs of runs that can show a difference at
	// Confidence: with six, the least p-value is 2/2⁶.
	MinPairs = 6
	// RecommendedPairs is a number of pairs at which one pair may disagree.
	RecommendedPairs = 10
	// DefaultMinEffect is the default of the least change that matters: 5 %.
	DefaultMinEffect = 0.05
)

// Outcome is the result of a comparison, or of one figure in it.
type Outcome string

// The outcomes. A change matters from a factor of 1 + the minimum effect, in either direction.
const (
	Slower    Outcome = "slower"                     // shown slower by more than matters
	Faster    Outcome = "faster"                     // shown faster by more than matters
	Same      Outcome = "no difference that matters" // shown to be smaller than that
	NotSlower Outcome = "not slower"                 // shown not to be slower by more than that; whether it is faster is not
	Undecided Outcome = "not decided"                // too much noise for the number of pairs
	Mixed     Outcome = "slower and faster"          // at different percentiles; of a whole comparison
	TooFew    Outcome = "too few runs"               // fewer than MinPairs pairs
	Unranked  Outcome = "not ranked"                 // the sets are too unlike for a ranking
	NoFigure  Outcome = "no statement"               // some run does not have the percentile
	Nothing   Outcome = "nothing to compare"         // no pair of runs is left
	Unjudged  Outcome = "not judged"                 // a workload in the background
	More      Outcome = "more"                       // shown to be more by more than matters; of what actions cost
	Less      Outcome = "less"                       // shown to be less by more than that
)

// Kinds of Comparison.Kind.
const (
	KindAA   = "A/A"  // both arms of an ab are the same
	KindAB   = "ab"   // randomised interleaved pairs
	KindSets = "sets" // two sets of runs, paired in order of time
)

// Comparison is the comparison of two sets of runs. All times are nanoseconds.
type Comparison struct {
	// Workload is the compared one of several workloads; empty: the runs have only one.
	// Background says that a side runs it in the background, so that nothing is judged.
	Workload   string  `json:"workload,omitempty"`
	Background bool    `json:"background,omitempty"`
	Kind       string  `json:"kind"`
	Outcome    Outcome `json:"outcome"`
	Text       string  `json:"text"` // the outcome in a sentence
	MinEffect  float64 `json:"min_effect"`
	A          Set     `json:"a"`
	B          Set     `json:"b"`
	// Changes is what an ab was asked to compare; empty for an A/A, and for two sets that
	// were not made by an ab.
	Changes []Change `json:"changes,omitempty"`
	// Follows are differences that result from the changes: guarantees, settings in effect,
	// another broker if the changes ask for one. The gravest come first.
	Follows []Difference `json:"follows,omitempty"`
	// Guarantees says which guarantees of B are weaker than, stronger than or different from
	// A's because of the changes; empty: none.
	Guarantees string `json:"guarantees,omitempty"`
	// Differences are all other differences, the gravest first.
	Differences []Difference `json:"differences"`
	// Refused says why a ranking is refused; empty: it is not. Asked says that only the
	// requested changes prevent it: then rows have their change with its interval, as what
	// the change costs or saves, but no outcome.
	Refused string `json:"refused,omitempty"`
	Asked   bool   `json:"asked,omitempty"`
	// Forced says that Options.RankUnlike forced a ranking in spite of Differences.
	Forced bool   `json:"forced,omitempty"`
	Pairs  []Pair `json:"pairs"`
	// Beside says how pairs were made whose runs were made at the same time; nil: they were not.
	Beside *Beside `json:"beside,omitempty"`
	// Design says how the runs were made; nil: it is not known.
	Design *result.Design `json:"design,omitempty"`
	// Made is how many pairs of an ab were made, without those that were replaced, and Planned how many it was to have,
	// at most, if it was ended before it was over: then no figure is decided. Planned is 0 of one that was not.
	Made    int `json:"pairs_made,omitempty"`
	Planned int `json:"pairs_planned,omitempty"`
	// Control is what pairs with A on both sides differ by; nil without any.
	Control *Control `json:"control,omitempty"`
	// Confidence is the level of the intervals of judged figures, which is above [Confidence] where the pairs are
	// evaluated at several looks.
	Confidence float64 `json:"confidence"`
	// Replaced are pairs of an ab that had an INVALID run and were measured again; they are
	// in no figure.
	Replaced []Replaced `json:"replaced,omitempty"`
	// Remade are pairs with a run that was made again, whatever the ending of the attempt before it, also replaced ones and
	// those with A on both sides.
	Remade         []Replaced      `json:"remade,omitempty"`
	Left           []Left          `json:"left_out"`
	SuspectReasons []SuspectReason `json:"doubts"`
	// P is the probability of judged differences at least as large as these between sets
	// that differ only by chance; 1 if nothing was judged.
	P       float64  `json:"p"`
	Metrics []Metric `json:"metrics"` // judged ones first
	// Slices are percentiles over the time of pairs whose runs were made at the same time; none: they were not, or too few
	// messages are in half a second.
	Slices []Slices `json:"slices,omitempty"`
	// Throughput is that of unpaced runs; nil if a run had a schedule.
	Throughput *Row      `json:"throughput,omitempty"`
	Accounts   []Account `json:"accounts"`
	// Regressions are the reasons for which a gate fails: the subjects that [Gate] has as
	// worse, in words.
	Regressions []string `json:"regressions"`
	// Ungated says why no figure can be judged; empty: it can.
	Ungated string `json:"ungated,omitempty"`
	// Gate has the answers about everything that a gate judges.
	Gate *Gate `json:"gate"`
	// Costs is what actions cost; nil: no run has actions.
	Costs *Costs `json:"costs,omitempty"`
	// consumed says that unpaced runs have consumers, so that deliveries are judged.
	consumed bool
}

// Stated reports whether rows have changes with intervals, judged or not.
func (c *Comparison) Stated() bool {
	return (c.Refused == "" || c.Asked) && len(c.Pairs) >= MinPairs
}

// Set describes one side of a comparison.
type Set struct {
	Label string    `json:"label"` // what was run
	Runs  int       `json:"runs"`  // given
	Used  int       `json:"used"`  // in pairs
	From  time.Time `json:"from"`  // start of the first of the runs
	To    time.Time `json:"to"`    // start of the last of the runs
}

// Beside describes pairs of runs that were made at the same time.
type Beside struct {
	// Used is the largest share of the processors, 0 to 1, that the generator and both brokers used on average over
	// the windows of a pair. Known says that it could be measured, or in turn that Tail could; without it nothing is decided.
	Used  float64 `json:"used"`
	Known bool    `json:"known"`
	// Slice is how long each side has its turn, and Edge for how long of it nothing is due, so that what is in flight
	// ends before the other side's turn; 0: both sides are loaded all the time.
	Slice time.Duration `json:"slice_ns,omitempty"`
	Edge  time.Duration `json:"edge_ns,omitempty"`
	// Tail is how long messages take in turn: the longer of both sides' medians of p99, or of few messages p90 or p50. Above
	// Edge nothing is decided.
	Tail time.Duration `json:"tail_ns,omitempty"`
}

// MostUsed is the share of the processors above which nothing is decided: runs that are made at the same time may then wait
// for each other, and the slower side may hide in what it takes from the other.
const MostUsed = 0.5

// Pair is two runs that are compared with each other.
type Pair struct {
	Number int    `json:"pair"`
	A      string `json:"a"` // result file
	B      string `json:"b"`
}

// Replaced is a pair that was set aside because another was measured instead, or a run of which was made again.
type Replaced struct {
	Pair int    `json:"pair"`
	By   int    `json:"by"`  // the pair that was made instead; Pair itself if it was made again
	Why  []Left `json:"why"` // its INVALID runs, or those that were made again
	// Control says that the pair has A on both sides.
	Control bool `json:"control,omitempty"`
}

// Left is a run that is left out of all pairs.
type Left struct {
	Side string `json:"side"` // "A" or "B"
	Run  string `json:"run"`
	Why  string `json:"why"`
	// Partner says that the run itself can be used, but its partner cannot; of a run that was made again, that it was
	// only because its partner was.
	Partner bool `json:"partner,omitempty"`
	// Chosen says of a run that was made again that somebody may have chosen to: an attempt at it was stopped, ended early or
	// killed, or lost its file.
	Chosen bool `json:"chosen,omitempty"`
	// Overloaded says that the run is in no figure because the system did not carry its
	// load. A gate counts that as a failure of the system.
	Overloaded bool `json:"overloaded,omitempty"`
}

// SuspectReason is a reason for which compared runs of one side are SUSPECT.
type SuspectReason struct {
	Side        string              `json:"side"`
	Runs        int                 `json:"runs"` // number of runs that have the reason
	Code        result.ReasonCode   `json:"code"`
	Metric      result.Metric       `json:"metric,omitempty"`
	Percentiles []result.Percentile `json:"percentiles,omitempty"` // of the metric; none: the whole run
	Text        string              `json:"text"`                  // of the first of them
	Found       string              `json:"found"`                 // Text without meaning and advice
}

// Metric is one latency in both sets.
type Metric struct {
	Metric result.Metric `json:"metric"`
	// Judged metrics have outcomes; their intervals hold for all judged metrics at once.
	// The intervals of another metric hold for that metric alone.
	Judged bool  `json:"judged"`
	Rows   []Row `json:"rows"` // the maximum last
}

// Row is one figure in both sets.
type Row struct {
	Percentile result.Percentile `json:"percentile"` // "99.9"; "max"; "throughput"
	A          Figures           `json:"a"`
	B          Figures           `json:"b"`
	Shift      *Shift            `json:"shift,omitempty"` // nil: no statement
	// Outcome is empty where nothing is judged.
	Outcome Outcome `json:"outcome,omitempty"`
	Cause   Cause   `json:"cause,omitempty"` // why it is [Undecided]
	// Spread is what the interval of Shift is made of; nil where nothing is judged.
	Spread *Spread  `json:"spread,omitempty"`
	Notes  []string `json:"notes,omitempty"`
	judged *Judged  // nil where nothing is
}

// Figures are one figure of the runs of a set.
type Figures struct {
	// Runs is how many runs have the figure. The other fields are computed over these runs,
	// and are zero without any.
	Runs int `json:"runs"`
	// Mean is the geometric mean of the runs' figures: the change is B's Mean divided by
	// A's. It is zero if a run has zero.
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"` // of the runs
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	// Between is the spread from run to run: the geometric standard deviation
	// less one; 0.03 is 3 %. Zero with one run.
	Between float64 `json:"between"`
	// Within is half the width of the 95 % interval within a run, as a share of the
	// figure: the median over the runs; 0 if unknown.
	Within float64 `json:"within"`
}

// Shift is the change from A to B, as a ratio.
type Shift struct {
	Ratio float64 `json:"ratio"` // geometric mean over the pairs
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	// Ns, NsLo and NsHi are the same change in units of the figure: the ratio minus 1,
	// times A's mean. For a throughput they are not ns but messages per second.
	Ns   float64 `json:"ns"`
	NsLo float64 `json:"ns_lo"`
	NsHi float64 `json:"ns_hi"`
	// P is the p-value, adjusted for all figures that are judged together.
	P float64 `json:"p"`
	// Shown says that B differs from A beyond chance, even if by little.
	Shown bool `json:"shown"`
}
