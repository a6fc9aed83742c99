package result

import (
	"sixnines/internal/histograms"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Run is a result file as a whole: the intervals merged, and what is needed to
// draw them over time. It is not safe for concurrent use.
type Run struct {
	Path     string // of the file; empty if it never was one
	Header   Header
	Metrics  map[Metric]*Merged
	Counters Counters // the sum over the intervals
	Series   []Point  // one per interval, in order
	Events   []Event
	Pauses   []Pause
	Tail     []Exemplar // the slowest messages, slowest first within a metric
	Lost     [][2]int64 // [Interval.Lost]
	Closing  *Closing   // [Interval.Closing]; nil: the run was killed, or an earlier version's
	// Summary is nil if the file was cut short: the run was killed.
	Summary *Summary
	// Counted is what the summary's seal should be by the lines that were read; nil
	// if it has none, or if the run was not read by a [Reader].
	Counted *Seal
	// Oddities are what is impossible in single intervals, the first of them.
	Oddities []Oddity
	// Damaged tells what could not be read at the file's end, if anything.
	Damaged string

	// Workloads are the parts of a run of several named workloads, each with its own
	// header, records and summary; see [Run.Parts]. Everything above is then empty
	// but the path, the first one's header, the events and the damage.
	Workloads []*Run

	measured int // intervals of the window so far
	perBlock int // intervals in each block

	inflater *histograms.Decoder // nil before the first interval
}

// Merged is one metric over the whole run.
type Merged struct {
	Hist     *hdr.Histogram
	Censored *hdr.Histogram // lower bounds of the unresolved; nil if there are none
	Refused  int64          // messages that were refused: slower than every value
	Min, Max int64          // exact; both 0 if Hist is empty
	// Slots holds the largest value of each slot of intended time, by slot
	// number; 0 where a slot has none, Refused where it has a refused message.
	// Response metrics only.
	Slots []int64
	// RefusedAt is MetricInterval.Refused.
	RefusedAt [][2]int64
	// Own has Bands entries for response metrics, else none.
	Own []OwnBand

	blocks []histograms.Block
}

// WithPending is the metric with n more messages of which nothing is known but
// that they are not resolved. Its values are those of x.
func (x *Merged) WithPending(n int64) *Merged {
	y := *x
	y.Censored = hdr.New(x.Hist.LowestTrackableValue(), x.Hist.HighestTrackableValue(), int(x.Hist.SignificantFigures()))
	if x.Censored != nil {
		y.Censored.Merge(x.Censored)
	}
	_ = y.Censored.RecordValues(y.Censored.LowestTrackableValue(), n) // which is in range
	return &y
}

// Point is one interval, reduced to what a picture over time needs.
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
	Depth    *Depth // nil: nothing was told in it
	Readings []BacklogReading
}

// Stretches yields the interval by its Levels: each reading, and as the last one
// the interval's end with what is left of its counts. Start is that of the
// stretch that ends with the reading.
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

// PointMetric is one metric in one interval; percentiles by nearest rank of
// that interval's own histogram, never averaged. All in ns.
type PointMetric struct {
	Count                    int64
	Min, P50, P90, P99, P999 int64
	Max                      int64
}
