package result

import (
	"math"
	"time"
)

// Interval is what happened in one interval of the run. Histograms hold the
// messages that were resolved in it; all counts are of this interval only, so
// that the sum over the intervals is the run.
type Interval struct {
	Type     string                     `json:"type"`               // "interval"
	Workload string                     `json:"workload,omitempty"` // Header.Workload
	Phase    string                     `json:"phase"`
	Start    int64                      `json:"start"`
	End      int64                      `json:"end"`
	Metrics  map[Metric]*MetricInterval `json:"metrics,omitempty"`
	Counters Counters                   `json:"counters"`
	InFlight int64                      `json:"in_flight"` // unacknowledged or undelivered at the end of the interval, whichever are more
	Backlog  int64                      `json:"backlog"`   // due but not sent at the end of the interval
	Vitals   map[Vital]float64          `json:"vitals,omitempty"`
	Pauses   []Pause                    `json:"pauses,omitempty"`
	// Levels are readings within the interval, in order of time, where it is longer
	// than what gates need, see Level.
	Levels []Level `json:"levels,omitempty"`
	// Tail holds the slowest messages of the whole run, slowest first; in the
	// closing record only.
	Tail []Exemplar `json:"tail,omitempty"`
	// Lost counts the deliveries of the whole run that were lost or overtaken, by
	// the slot of Header.Slot (from the window's start) in which they were due:
	// pairs of slot number and count, in order. They never leave InFlight, and are
	// no backlog. Of those that were overtaken it need not be proven that they are lost:
	// they are Undelivered then. In the closing record of a paced run only.
	Lost [][2]int64 `json:"lost,omitempty"`
	// Depth is what the broker said last in the interval that it holds; nil: nothing.
	Depth *Depth `json:"depth,omitempty"`
	// Readings are readings within the interval, in order of time, of a load whose consumers
	// come late or pause: how a backlog came and went does not depend on where intervals
	// end. Other loads have none, nor have results of earlier versions.
	Readings []BacklogReading `json:"kept,omitempty"`
	// Closing is in the closing record only; nil in results of earlier versions.
	Closing *Closing `json:"closing,omitempty"`
	// Connections counts those that were opened beside those of the messages; nil: the load opens none.
	Connections *Connections `json:"connections,omitempty"`
	// ReadBack is what the broker had kept, in the closing record of a run that read it back;
	// nil: it did not.
	ReadBack *ReadBack `json:"read_back,omitempty"`
	// Ledger is which messages were sent and received in the interval, in the result of a process with a
	// Segment.Role; nil: the process receives what it sends, or merges the results of others.
	Ledger *Ledger `json:"ledger,omitempty"`
}

// Level is a reading of what was due, sent and in flight within a long interval,
// so that how these went on is known by the length of the window and not by
// that of the interval. Due and Sent are of the time since the reading before,
// or since the interval's start; what came after the last one is the rest of
// the interval's.
type Level struct {
	At       int64 `json:"at"`        // ns from the window's start
	Due      int64 `json:"due"`       // messages
	Sent     int64 `json:"sent"`      // messages whose turn to be sent came: refused ones, too
	InFlight int64 `json:"in_flight"` // as in Interval
	Backlog  int64 `json:"backlog"`
}

// Exemplar is one of the slowest messages.
type Exemplar struct {
	Metric    Metric `json:"metric"` // whose slowest it is among
	Value     int64  `json:"value"`  // ns
	Producer  int    `json:"producer"`
	Consumer  int    `json:"consumer"` // −1: an acknowledgement's
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"` // −1: the driver does not tell
	Sequence  uint64 `json:"sequence"`  // of the producer in the topic
	// Intended, Sent and Done are its instants, ns from the window's start. Done
	// is the acknowledgement, delivery or reply that Value ends with. Of a message
	// that was never resolved Sent is −1, Done is when that was given up, and Value
	// a lower bound.
	Intended int64 `json:"intended"`
	Sent     int64 `json:"sent"`
	Done     int64 `json:"done"`
	Own      int64 `json:"own"` // of Sent − Intended, what the generator itself was late, ns
}

// The phases of Interval.Phase.
const (
	PhaseMeasure = "measure"
	PhaseDrain   = "drain"
	// PhaseClosing is the record that closes the accounts when all is over:
	// it holds no time of its own, only what could be known only then
	// (missing, censored, not sent).
	PhaseClosing = "closing"
)

// MetricInterval is one metric's share of an interval.
type MetricInterval struct {
	// Hist is an HdrHistogram, V2 compressed, base64.
	Hist string `json:"hist"`
	Min  int64  `json:"min"` // exact
	Max  int64  `json:"max"` // exact
	// Slots gives, for response metrics, the largest value yet seen among the
	// messages that were due in a slot of Header.Slot: pairs of slot number
	// (from the window's start) and value, only those that changed. Episodes
	// are counted from them.
	Slots [][2]int64 `json:"slots,omitempty"`
	// Own gives, for response metrics, how much of the values was the
	// generator's own delay, per octave-and-eighth band of the value.
	Own []OwnBand `json:"own,omitempty"`
	// Censored is a histogram of lower bounds: messages that were never
	// resolved, at the time that had passed since they were due when they were
	// given up, or when the run ended.
	Censored string `json:"censored,omitempty"`
	// Unanswered counts, for response metrics, the messages of Censored by the slot of
	// Header.Slot in which they were due, as Refused does. In the closing record only.
	// Results of earlier versions have none.
	Unanswered [][2]int64 `json:"unanswered,omitempty"`
	// Refused counts the messages that the client or the broker refused, which
	// are slower than every value, by the slot of Header.Slot in which they were
	// due (from the window's start), UnknownSlot where nothing tells that: pairs of
	// slot number and count. In the closing record only. Results of earlier
	// versions leave them out of every distribution.
	Refused [][2]int64 `json:"refused,omitempty"`
}

// SlotLength is Header.Slot, in every version so far.
const SlotLength = 100 * time.Millisecond

// UnknownSlot stands in MetricInterval.Refused for a slot that is not known.
const UnknownSlot = -1

// Refused is the value of a slot in [Merged.Slots] that has a refused message.
const Refused = math.MaxInt64

// OwnBand sums, over the messages whose value lies in one band, the values and
// the own lag in them. Bands are an eighth of an octave wide: each of 0 to 7 ns has its own,
// and from there on band 8·o + e begins at 2^(o+2)·(1 + e/8) ns.
type OwnBand struct {
	Band     int   `json:"b"`
	Count    int64 `json:"n"`
	Own      int64 `json:"own"`            // Σ own lag, ns
	Received int64 `json:"recv,omitempty"` // Σ receive lag, ns; in none of the others but Majority
	Total    int64 `json:"total"`          // Σ value, ns
	Majority int64 `json:"majority"`       // messages whose latency is more than half own and receive lag
	// Unknown are the messages of Count whose receive lag is not known: Received has nothing of them.
	// Results of earlier versions do not tell them apart from messages without receive lag.
	Unknown int64 `json:"unknown,omitempty"`
}

// Add adds the sums of another band.
func (b *OwnBand) Add(o OwnBand) {
	b.Count += o.Count
	b.Own += o.Own
	b.Received += o.Received
	b.Total += o.Total
	b.Majority += o.Majority
	b.Unknown += o.Unknown
}
