package compare

import (
	"fmt"
	"strconv"

	"sixnines/result"
)

// besideOf describes the pairs of an ab if the runs of each were made at the same time; nil if not.
func besideOf(pairs []couple) *Beside {
	if len(pairs) == 0 {
		return nil
	}
	b := Beside{Known: true}
	for _, c := range pairs {
		var generator, brokers, cores float64
		for _, r := range c.runs {
			if !r.Header.Trial.Beside {
				return nil
			}
			// One process makes both runs, and each run sees all of it.
			used, known := meanOf(r.Run, result.VitalProcessCPU, func(v float64, _ int64) float64 { return v })
			broker, _ := meanOf(r.Run, result.VitalBrokerCPU, func(v float64, length int64) float64 { return v * 1e9 / float64(length) })
			generator, brokers, cores = max(generator, used), brokers+broker, processors(&r.Header)
			b.Known = b.Known && known && cores > 0
		}
		if cores > 0 {
			b.Used = max(b.Used, (generator+brokers)/cores)
		}
	}
	return &b
}

// Disturbed says why nothing is decided: the sides may have slowed each other; empty: they used little enough.
func (b *Beside) Disturbed() string {
	switch {
	case b == nil:
		return ""
	case !b.Known:
		return "it is not known how much of the processors both sides used at once, so each may have slowed the other"
	case b.Used > MostUsed:
		return fmt.Sprintf("both sides at once used %.0f %% of the processors, so each may have slowed the other", b.Used*100)
	}
	return ""
}

// meanOf is the mean of a vital over a run's window, by time; of makes a rate of a value and the length of its interval, ns.
func meanOf(r *result.Run, name result.Vital, of func(v float64, length int64) float64) (mean float64, known bool) {
	sum, length := 0.0, 0.0
	for i := range r.Series {
		p := &r.Series[i]
		v, ok := p.Vitals[name]
		if p.Phase != result.PhaseMeasure || !ok || p.End <= p.Start {
			continue
		}
		sum += of(v, p.End-p.Start) * float64(p.End-p.Start)
		length += float64(p.End - p.Start)
	}
	if length == 0 {
		return 0, false
	}
	return sum / length, true
}

// processors is how many processors the generator may use; 0: the result does not tell.
func processors(h *result.Header) float64 {
	for _, f := range h.Machine {
		if f.Name == result.FactProcessors {
			n, _ := strconv.ParseFloat(f.Value, 64) // 0 is not known
			return n
		}
	}
	return 0
}
