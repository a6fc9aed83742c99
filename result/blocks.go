package result

import (
	"slices"
	"strings"

	"sixnines/internal/histograms"
)

// maxBlocks bounds the blocks of a run: when there would be more, each two become
// one. So a run of a week has as many as one of nine minutes, and takes a few
// megabytes for them.
const maxBlocks = 512

// blocked reports whether a metric's blocks are kept: those that objectives may be about.
func (m Metric) blocked() bool {
	switch m {
	case PublishService, DeliveryService, RoundTripService, LagOwn, LagBlocked:
		return true
	}
	return m.IsResponse()
}

// addBlocks puts an interval's values into their blocks.
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
			x.blocks = append(x.blocks, histograms.Block{})
		}
		// What is waited for has to be known better than to a sixteenth.
		waited, _, _ := strings.Cut(r.Header.Until, " ")
		x.blocks[at] = x.blocks[at].Join(histograms.BlockOf(v.index, string(m) == waited))
	}
}

// Blocks returns a metric's blocks in order of time, all of the same number of
// intervals but the last, which may have fewer; and that number. It is nil for
// metrics of which they are not kept: all but response and service times, and the lags of
// the schedule.
func (r *Run) Blocks(m Metric) (blocks []histograms.Block, intervals int) {
	x := r.Metrics[m]
	if x == nil || !m.blocked() || r.measured == 0 {
		return nil, 0
	}
	n := (r.measured-1)/r.perBlock + 1
	return append(slices.Clip(x.blocks), make([]histograms.Block, n-len(x.blocks))...), r.perBlock
}
