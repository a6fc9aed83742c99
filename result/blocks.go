package result

import (
	"slices"
	"strings"
)

// maxBlocks is the largest number of blocks of a run. When a run would exceed it, each
// two neighbours are joined into one, so that the blocks of a week-long run take no more
// memory than those of nine minutes: a few megabytes.
const maxBlocks = 512

// blocked reports whether a metric's blocks are kept: those that objectives may be about.
func (m Metric) blocked() bool {
	switch m {
	case PublishService, DeliveryService, RoundTripService, LagOwn, LagBlocked:
		return true
	}
	return m.IsResponse()
}

// addBlocks adds an interval's values to the blocks of their metrics.
func (r *Run) addBlocks(phase string, shares map[Metric]values) {
	if r.perBlock == 0 {
		r.perBlock = 1
	}
	if phase == PhaseMeasure {
		r.measured++
	}
	if r.measured == 0 {
		return
	}
	if (r.measured-1)/r.perBlock == maxBlocks {
		r.perBlock *= 2
		for _, x := range r.Metrics {
			for i := 0; i < len(x.blocks); i += 2 {
				b := x.blocks[i]
				if i+1 < len(x.blocks) {
					b = b.Join(x.blocks[i+1])
				}
				x.blocks[i/2] = b
			}
			half := (len(x.blocks) + 1) / 2
			clear(x.blocks[half:])
			x.blocks = x.blocks[:half]
		}
	}
	at := (r.measured - 1) / r.perBlock
	for m, v := range shares {
		if !m.blocked() {
			continue
		}
		x := r.Metrics[m]
		for len(x.blocks) <= at {
			x.blocks = append(x.blocks, Block{})
		}
		// The metric of Header.Until needs the finer resolution, and so do the slices of sides that are compared.
		waited, _, _ := strings.Cut(r.Header.Until, " ")
		fine := string(m) == waited || m.IsResponse() && r.Header.Trial != nil && r.Header.Trial.Beside
		x.blocks[at] = x.blocks[at].Join(blockOf(v.index, fine))
	}
}

// Blocks returns a metric's blocks in order of time, and the number of intervals in each;
// the last block may have fewer. It returns nil for metrics without blocks: only response
// times, service times, lag.own and lag.blocked have them.
func (r *Run) Blocks(m Metric) (blocks []Block, intervals int) {
	x := r.Metrics[m]
	if x == nil || !m.blocked() || r.measured == 0 {
		return nil, 0
	}
	n := (r.measured-1)/r.perBlock + 1
	return append(slices.Clip(x.blocks), make([]Block, n-len(x.blocks))...), r.perBlock
}
