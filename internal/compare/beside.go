package compare

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// besideOf describes the pairs of an ab if the runs of each were made at the same time; nil if not.
func besideOf(pairs []couple) *Beside {
	if len(pairs) == 0 {
		return nil
	}
	b := Beside{Known: true}
	for _, c := range pairs {
		for _, r := range c.runs {
			if !r.Header.Trial.Beside {
				return nil
			}
		}
		used, known := UsedAtOnce(c.runs[0].Run, c.runs[1].Run)
		b.Used, b.Known = max(b.Used, used), b.Known && known
		if s := c.runs[0].Header.Trial.Slices; s != nil {
			b.Slice, b.Edge = s.Every/2, s.Every/2-s.On
		}
	}
	if b.Slice > 0 {
		b.Tail, b.Known = tailOf(pairs)
	}
	return &b
}

// tailOf is how long the messages of a run take: the longer of both sides' medians of the runs' p99, or of p90 or p50 where
// a run has fewer messages. A pause of one run alone says nothing about the others. It is not known if half of a side's
// runs have none of them, or a lower bound only.
func tailOf(pairs []couple) (tail time.Duration, known bool) {
	pairs, _ = fitOnes(pairs)
	metrics := headline(measured(pairs))
	var sides [2][]float64
	for _, c := range pairs {
		for i, r := range c.runs {
			own := math.Inf(1)
			for _, p := range []result.Percentile{result.P50, result.P90, result.P99} {
				for _, m := range metrics {
					if f, there := dist(r, m).At(p); there && !f.AtLeast {
						own = float64(f.Value)
					} else if there {
						own = math.Inf(1)
					}
				}
			}
			sides[i] = append(sides[i], own)
		}
	}
	for _, values := range sides {
		if len(values) == 0 {
			continue
		}
		m := stats.Median(values)
		if math.IsInf(m, 1) {
			return 0, false
		}
		tail = max(tail, time.Duration(m))
	}
	return tail, true
}

// UsedAtOnce is the share of the processors, 0 to 1, that two runs at the same time used.
func UsedAtOnce(a, b *result.Run) (share float64, known bool) {
	var generator, brokers, cores float64
	known = true
	for _, r := range []*result.Run{a, b} {
		// One process makes both runs, and each run sees all of it.
		used, measured := meanOf(r, result.VitalProcessCPU, func(v float64, _ int64) float64 { return v })
		broker, _ := meanOf(r, result.VitalBrokerCPU, func(v float64, length int64) float64 { return v * 1e9 / float64(length) })
		generator, brokers, cores = max(generator, used), brokers+broker, processors(&r.Header)
		known = known && measured && cores > 0
	}
	if cores > 0 {
		share = (generator + brokers) / cores
	}
	return share, known
}

// Disturbed says why nothing is decided: the sides may have slowed each other; empty: they used little enough.
func (b *Beside) Disturbed() string {
	switch {
	case b == nil:
		return ""
	case b.Slice > 0 && !b.Known:
		return "it is not known whether messages of one side's turn end before the other's"
	case b.Slice > 0 && b.Tail > b.Edge:
		return fmt.Sprintf("p99 of the runs is %s, and the other side's turn begins after %s, so each may have slowed the other; --slices takes longer turns",
			spell.Duration(b.Tail.Round(time.Millisecond)), spell.Duration(b.Edge))
	case b.Slice > 0:
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
