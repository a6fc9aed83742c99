package result

import "sixnines/internal/histograms"

// Run is a whole result file: the merged intervals, and the points for charts over time.
// It is not safe for concurrent use.
type Run struct {
	Path     string // of the file; empty if the run was not read from a file
	Header   Header
	Metrics  map[Metric]*Merged
	Counters Counters // the sum over the intervals
	// Connections is the same of [Interval.Connections]; nil: the load opened none.
	Connections *Connections
	Series      []Point // one per interval, in order
	Events      []Event
	Pauses      []Pause
	Tail        []Exemplar // the slowest messages, slowest first within a metric
	Lost        [][2]int64 // [Interval.Lost]
	Closing     *Closing   // [Interval.Closing]; nil: the run was killed, or is of an earlier version
	ReadBack    *ReadBack  // [Interval.ReadBack]; nil: what the broker kept was not read back
	// Summary is nil if the file was cut short: the run was killed.
	Summary *Summary
	// Counted is the summary's seal computed from the lines read; nil if the summary has
	// no seal, or if the run was not read by a [Reader].
	Counted *Seal
	// Oddities are the first inconsistencies within single intervals, at most 64.
	Oddities []Oddity
	// Damaged describes what could not be read at the file's end; empty: nothing.
	Damaged string

	// Workloads are the parts of a run with several named workloads, each with its own
	// header, records and summary; see [Run.Parts]. The fields above are then empty,
	// except Path, Header (the first workload's), Events and Damaged.
	Workloads []*Run

	measured int   // intervals of the window so far
	perBlock int   // intervals in each block
	cell     int64 // length of the cells of due time, ns; 0: none so far
	dueUntil int64 // ns from the window's start: where its last cell ends so far

	inflater *histograms.Decoder // nil before the first interval
}

// Merged is one metric over the whole run.
type Merged struct {
	Hist     *Histogram
	Censored *Histogram // lower bounds of unresolved messages; nil if every message was resolved
	Refused  int64      // refused messages, which count as slower than every value
	Min, Max int64      // exact; both 0 if Hist is empty
	// Slots holds the largest value of each slot of intended time, ns, by slot
	// number; 0 for a slot without values, Refused for one with a refused message.
	// Only response metrics have it.
	Slots []int64
	// UnansweredAt is MetricInterval.Unanswered, and RefusedAt MetricInterval.Refused.
	UnansweredAt [][2]int64
	RefusedAt    [][2]int64
	// Own has an entry for each band for response metrics; it is nil for others.
	Own []OwnBand

	blocks []Block
	due    []DueCell // of messages that were answered; in runs with actions
}

// OwnOfAll sums the bands of Own.
func (x *Merged) OwnOfAll() (all OwnBand) {
	for _, b := range x.Own {
		all.Add(b)
	}
	return all
}

// WithPending returns a copy of the metric with n more unresolved messages, whose lower
// bound is the lowest trackable value. x is not changed; the copy shares its values.
func (x *Merged) WithPending(n int64) *Merged {
	y := *x
	y.Censored = NewHistogram(x.Hist.Layout())
	y.Censored.Add(x.Censored)
	lowest, _, _ := y.Censored.Layout()
	_ = y.Censored.Record(lowest, n) // in range: cannot fail
	return &y
}

// Point is one interval, reduced to what a chart over time needs. Start and End are ns
// from the window's start.
type Point struct {
	Phase    string
	Start    int64
	End      int64
	Counters Counters
	InFlight int64
	Backlog  int64
	Vitals   map[Vital]float64
	Metrics  map[Metric]PointMetric
	Levels   []Level
	Depth    *Depth // the broker's last depth in the interval; nil: it gave none
	Readings []BacklogReading
}

// Stretches yields the interval split at its Levels: first each reading, at last the
// interval's end with the remaining counts. start is where the part that ends with the
// reading begins, ns from the window's start.
func (p *Point) Stretches(yield func(start int64, l Level) bool) {
	rest := Level{At: p.End, Due: p.Counters.Scheduled, Sent: p.Counters.Sent + p.Counters.Rejected, InFlight: p.InFlight, Backlog: p.Backlog}
	start := p.Start
	for _, l := range p.Levels {
		if !yield(start, l) {
			return
		}
		start = l.At
		rest.Due, rest.Sent = rest.Due-l.Due, rest.Sent-l.Sent
	}
	yield(start, rest)
}

// PointMetric is one metric in one interval, in ns. The percentiles are nearest ranks of
// that interval's own histogram, never averages.
type PointMetric struct {
	Count                    int64
	Min, P50, P90, P99, P999 int64
	Max                      int64
}
