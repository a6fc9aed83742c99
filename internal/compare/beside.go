package compare

import "sixnines/result"

// besideOf describes the pairs of an ab if the runs of each were made at the same time; nil if not.
func besideOf(pairs []couple) *Beside {
	if len(pairs) == 0 {
		return nil
	}
	var b Beside
	for _, c := range pairs {
		for _, r := range c.runs {
			if !r.Header.Trial.Beside {
				return nil
			}
			b.Busy = max(b.Busy, busy(r.Run))
		}
	}
	return &b
}

// busy is the share of the machine's processors that was in use on average over a run's window; 0 if it is not known.
func busy(r *result.Run) float64 {
	var sum, length float64
	for i := range r.Series {
		p := &r.Series[i]
		share, ok := p.Vitals[result.VitalHostBusy]
		if p.Phase != result.PhaseMeasure || !ok {
			continue
		}
		sum += share * float64(p.End-p.Start)
		length += float64(p.End - p.Start)
	}
	if length == 0 {
		return 0
	}
	return sum / length
}
