package network

import (
	"time"

	"sixnines/scenario"
)

// Command makes the program sixnines the process of the queues: it is no command for users.
const Command = "__queues"

// queueSpec is what one queue does to the packets of one way.
type queueSpec struct {
	Namespace  string              `json:"namespace,omitempty"`
	Conditions scenario.Conditions `json:"conditions"`
	// Back has the delays of the other way, which are added to each packet: see [Plan.queues].
	Back scenario.Conditions `json:"back"`
	Seed uint64              `json:"seed"`
}

// whole reports whether packets may stay as large as the sender's kernel made them. Loss, reordering and a
// rate are of packets as they go over a line.
func (s queueSpec) whole() bool {
	return s.Conditions.Loss == 0 && s.Conditions.Reorder == 0 && s.Conditions.Rate == 0
}

// opened is the first thing that the process of the queues writes: their numbers.
type opened struct {
	Queues []uint16 `json:"queues"`
}

// order is what the process of the queues is asked for then: that packets wait, or that they pass.
type order struct {
	Hold bool `json:"hold"`
}

// obeyed is its answer.
type obeyed struct {
	Error string `json:"error,omitempty"`
}

// Instant is when a change happened: not before Asked and not after Done, CLOCK_MONOTONIC ns. Both are 0 if it has not.
type Instant struct{ Asked, Done int64 }

// Counts is what happened to the packets of one way by one means.
type Counts struct {
	Packets   int64 // that came
	Lost      int64 // dropped by the condition loss
	Reordered int64 // sent before others that came earlier
	Overflow  int64 // dropped since the path's own queue was full
	Bytes     int64 // carried while the rate was the limit
	// Busy is how long the rate was the limit: packets were queued for it.
	Busy time.Duration
	// Late and LateMost are by how much packets left after they were due, on average and at most. An average below 0
	// says that they left before.
	Late, LateMost time.Duration
}

// Rate returns the bits a second that were carried while the rate was the limit; 0: it never was.
func (c Counts) Rate() float64 {
	if c.Busy <= 0 {
		return 0
	}
	return float64(c.Bytes) * 8 / c.Busy.Seconds()
}
