package wire

import (
	"errors"
	"fmt"
	"math"

	"sixnines/internal/clocksync"
)

// MostDrift is the most that an agent's clock gains on the coordinator's, as a share: a clock is slewed by no more.
const MostDrift = 0.001

// Clock says how an agent's monotonic clock differs from the coordinator's, which is the run's: by Offset when the agent's
// reads At, ns, and by Drift more for each ns since.
type Clock struct {
	Run    string  `json:"run"`
	At     int64   `json:"at"`
	Offset int64   `json:"offset"`
	Drift  float64 `json:"drift"`
}

// Kind implements [Message].
func (*Clock) Kind() Kind { return KindClock }
func (*Clock) most() int  { return 4 << 10 }

// Check implements [Message].
func (c *Clock) Check() error {
	if c.At <= 0 || !(math.Abs(c.Drift) <= MostDrift) {
		return fmt.Errorf("a clock that reads %d and gains %g", c.At, c.Drift)
	}
	return errors.Join(CheckRun(c.Run))
}

// Shift is how far the agent's clock is ahead of the run's when it reads now, ns.
func (c *Clock) Shift(now int64) int64 {
	return c.Offset + int64(math.Round(c.Drift*float64(now-c.At)))
}

// Stamps is an exchange of an agent's raw clock with that of the control plane's machine, as their kernels stamped it: see
// [clocksync.Sight].
type Stamps struct {
	Times [4]int64 `json:"times"` // T1 to T4 of [clocksync.Exchange], ns
	// When its monotonic clock read At, ns, the agent's raw clock was ahead of it by Ahead, ± Width/2.
	At     int64  `json:"at"`
	Ahead  int64  `json:"ahead"`
	Width  int64  `json:"width"`
	Kernel bool   `json:"kernel,omitempty"` // all four are from the kernels
	Clock  uint64 `json:"clock"`            // names the control plane's clock
}

// mostInstant bounds instants, so that sums of some are numbers; mostWidth is the longest time in which two clocks are read.
const (
	mostInstant = 1 << 60
	mostWidth   = 1_000_000_000
)

// Kind implements [Message].
func (*Stamps) Kind() Kind { return KindStamps }
func (*Stamps) most() int  { return 4 << 10 }

// Check implements [Message].
func (s *Stamps) Check() error {
	for _, at := range append(s.Times[:], s.At, s.Ahead) {
		if at < -mostInstant || at > mostInstant {
			return fmt.Errorf("the instant %d", at)
		}
	}
	if s.Width < 1 || s.Width > mostWidth {
		return fmt.Errorf("two clocks that were read in %d ns", s.Width)
	}
	return nil
}

// NewStamps returns what is sent of a sight.
func NewStamps(x *clocksync.Sight) *Stamps {
	return &Stamps{Times: [4]int64{x.T1, x.T2, x.T3, x.T4}, At: x.Here.At, Ahead: x.Here.Ahead, Width: x.Here.Width, Kernel: x.Kernel, Clock: x.Clock}
}

// Sight is what was sent.
func (s *Stamps) Sight() clocksync.Sight {
	return clocksync.Sight{Exchange: clocksync.Exchange{T1: s.Times[0], T2: s.Times[1], T3: s.Times[2], T4: s.Times[3]},
		Here: clocksync.Reading{At: s.At, Ahead: s.Ahead, Width: s.Width}, Kernel: s.Kernel, Clock: s.Clock}
}
