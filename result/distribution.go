package result

import (
	"encoding/json"
	"iter"
)

// Distribution is the published figures of one metric, in ns. Percentiles are
// keyed as people write them: "50", "99.9".
type Distribution struct {
	Count    int64 // resolved messages
	Censored int64 // unresolved messages
	Refusals int64 // messages that the client or the broker refused: slower than every value
	// Samples is the number of messages behind Count (a message delivered to a thousand
	// consumers is one sample).
	Samples int64
	// Min, Mean and StdDev are of Count, and 0 if that is 0.
	Min          int64
	Mean, StdDev float64
	Max          int64
	MaxAtLeast   bool // Max is a lower bound, because there are unresolved or refused messages
	MaxRefused   bool // the slowest message was refused: print "refused"
	// Figures are the percentiles. Those that too few messages support have no value, see
	// Figure.Needs: read them by At, which tells that from 0.
	Figures map[Percentile]Figure
	// Succeeded is the same of the messages that were not refused; nil if none was refused.
	Succeeded *Distribution
	// Corrected is the distribution with what HdrHistogram's correction for the expected
	// interval of Header.Synchronous adds to it; nil for other metrics. Unresolved and refused
	// messages are not in it, it has no intervals, and no verdict or objective uses it.
	Corrected *Distribution
}

// Figure is one published percentile, ns.
type Figure struct {
	Value int64
	// Needs is the number of messages that the percentile needs, if there are fewer: the
	// figure has no value then.
	Needs int64
	// AtLeast says that Value is a lower bound, because unresolved or refused messages reach
	// the percentile: print "≥".
	AtLeast bool
	// Refused says that refused messages reach the percentile: print "refused". Value is the
	// slowest other message's, and AtLeast is true.
	Refused bool
	Few     bool // rests on 4 to 99 exceedances: print "~"
	// Interval is the 95 % interval, exact if messages are independent. It is nil if it cannot
	// be computed, or if its lower end is a refused message's.
	Interval *Bounds
	// Blocks is a tail's 95 % interval from stretches of the run instead of single messages:
	// messages that are slow together count as one event. If it is nil, BlocksNA is the
	// reason; both are empty if the run's intervals are not in the file.
	Blocks   *Bounds
	BlocksNA string
	// Episodes counts, from p99 up, the separate events behind the exceedances; 0: not
	// counted. Below 4 the percentile describes this run, not the system.
	Episodes int
	// FloorRatio is how many times the noise floor's the figure is; nil if Header.Floor lacks
	// it. Below 3 the figure describes the machine as much as the broker.
	FloorRatio *float64
	// OwnShare is the share of the figure that is the generator's own lag; nil: not known.
	OwnShare *float64
	// ReceiveShare is the share of the figure that the end of it lay unread in this machine;
	// nil: not known.
	ReceiveShare *float64
}

// Bounds are a 95 % confidence interval, ns.
type Bounds struct {
	Low, High int64
	// Open says that High is a lower bound, because unresolved or refused messages reach it.
	Open bool
	// OpenRefused says that refused messages reach High: print "refused" for it. Open is true.
	OpenRefused bool
	// Sequential says that the interval holds whenever the run ended, see Until. Other
	// intervals are for a length that is fixed before the run.
	Sequential bool
}

// Total returns the number of messages behind the percentiles: resolved, unresolved and
// refused.
func (d *Distribution) Total() int64 { return d.Count + d.Censored + d.Refusals }

// At returns the figure of a percentile, or of [Maximum]. Without ok it has no value,
// and Needs says how many messages the percentile needs, if that is the reason. A nil
// Distribution has no figures.
func (d *Distribution) At(percentile Percentile) (f Figure, ok bool) {
	if d == nil {
		return f, false
	}
	if percentile == Maximum {
		return Figure{Value: d.Max, AtLeast: d.MaxAtLeast, Refused: d.MaxRefused}, d.Total() > 0
	}
	f, ok = d.Figures[percentile]
	return f, ok && f.Needs == 0
}

// All yields the percentiles that have a value, in ascending order.
func (d *Distribution) All() iter.Seq2[Percentile, Figure] {
	return func(yield func(Percentile, Figure) bool) {
		for _, name := range Percentiles() {
			if f, ok := d.At(name); ok && !yield(name, f) {
				return
			}
		}
	}
}

// Update changes a figure, or adds it.
func (d *Distribution) Update(percentile Percentile, change func(f *Figure)) {
	f := d.Figures[percentile]
	change(&f)
	if d.Figures == nil {
		d.Figures = map[Percentile]Figure{}
	}
	d.Figures[percentile] = f
}

// Published reports whether any percentile has a value.
func (d *Distribution) Published() bool {
	for range d.All() {
		return true
	}
	return false
}

// Widest returns the ends of the figure's interval that covers both Interval and Blocks: a
// tail in bursts is only a few events. Interval must not be nil.
func (f Figure) Widest() (low, high int64) {
	low, high = f.Interval.Low, f.Interval.High
	if f.Blocks != nil {
		low, high = min(low, f.Blocks.Low), max(high, f.Blocks.High)
	}
	return low, high
}

// MarshalJSON writes the form that result files and reports have: an object by percentile for
// each property of a figure.
func (d *Distribution) MarshalJSON() ([]byte, error) { return json.Marshal(d.JSONForm()) }

// JSONForm returns the value that d's JSON is made from. Its type has the names of that form,
// for schemas and comparisons.
func (d *Distribution) JSONForm() any { return formOf(d) }

// UnmarshalJSON reads that form.
func (d *Distribution) UnmarshalJSON(text []byte) error {
	var x distributionForm
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	*d = x.distribution()
	return nil
}
