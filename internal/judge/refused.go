package judge

import "sixnines/result"

// addRefused adds the metric's refused messages to the blocks in which they were due, with
// twice the run's largest latency as their value, which stands for "slower than any".
func addRefused(b []timedBlock, run *result.Run, m result.Metric) {
	x, slot := run.Metrics[m], int64(run.Header.Slot)
	if refused(x) == 0 {
		return
	}
	i := 0
	for _, p := range x.RefusedAt { // in order, the unknown ones last
		if p[0] == result.UnknownSlot {
			continue
		}
		due := p[0]*slot + slot/2
		for i < len(b)-1 && b[i].end <= due {
			i++
		}
		b[i].Block = b[i].With(2*max(x.Max, 1), p[1])
	}
}
