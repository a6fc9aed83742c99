package result

// Depth is how many messages the broker said that it holds, over all topics and
// groups, at an instant: ns from the window's start.
type Depth struct {
	At       int64 `json:"at"`
	Messages int64 `json:"messages"`
	// Unacknowledged says that those count too that consumers have got and not
	// acknowledged.
	Unacknowledged bool `json:"unacknowledged,omitempty"`
}

// BacklogReading is how many messages of the window had been sent at an instant, how many
// deliveries these make, and how many of them had come.
type BacklogReading struct {
	At       int64 `json:"at"`                // ns from the window's start
	Sent     int64 `json:"sent"`              // messages
	Expected int64 `json:"expected"`          // deliveries
	Arrived  int64 `json:"arrived"`           // deliveries, damaged ones among them
	Earlier  int64 `json:"earlier,omitempty"` // deliveries of earlier runs' messages
}

// Left returns how many deliveries had not come, at least 0.
func (k BacklogReading) Left() int64 { return max(0, k.Expected-k.Arrived) }

// What a broker's depth counts, as [Backlog.Depth] says it.
const (
	DepthWaiting        = "not handed out"   // without messages on their way to consumers
	DepthUnacknowledged = "not acknowledged" // by the consumers, or not committed
)

// Backlog is how a load went whose consumers came late or paused, so that the broker
// kept messages for them. All instants are ns from the window's start.
type Backlog struct {
	// From is when consumers were told to connect, or went on after the pause.
	From int64 `json:"from"`
	// Filled is how many messages were sent before From, FillRate how many a second
	// from the window's start until the last of them, or its acknowledgement.
	Filled   int64   `json:"filled"`
	FillRate float64 `json:"fill_rate"`
	// Peak is the most that was sent and not received, in deliveries, by the readings of
	// Interval.Readings and the ends of intervals, and PeakAt when.
	Peak   int64 `json:"peak"`
	PeakAt int64 `json:"peak_at"`
	// Gone is when the backlog was gone: of a load that had stopped the last
	// delivery, else the first reading with at most a hundredth of Peak left, or as much
	// as before the pause. 0: it was not.
	Gone int64 `json:"gone,omitempty"`
	// Drained is how many deliveries came from From until Gone, or until the last one,
	// those of what earlier runs had left among them, and DrainRate how many a second; 0
	// where that took less than from one reading to the next.
	Drained   int64   `json:"drained"`
	DrainRate float64 `json:"drain_rate"`
	Left      int64   `json:"left,omitempty"` // sent and not received at the end, in deliveries
	// Depth says what the broker's depth counts, one of the Depth constants; empty: it
	// told none.
	Depth string `json:"depth,omitempty"`
	// Steps is how it went, in at most 16 stretches from the window's start.
	Steps []BacklogStep `json:"course"`
}

// BacklogStep is a stretch of the time in which a backlog grew or went.
type BacklogStep struct {
	End      int64   `json:"end"`
	Sent     float64 `json:"sent"`     // messages a second
	Received float64 `json:"received"` // deliveries a second, of earlier runs' messages too
	Backlog  int64   `json:"backlog"`  // sent and not received at its end, in deliveries
	// Depth is what the broker said last that it holds; −1: nothing in the stretch.
	Depth int64 `json:"depth"`
}
