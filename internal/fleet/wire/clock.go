package wire

import (
	"errors"
	"fmt"
	"math"
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
