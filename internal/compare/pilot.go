package compare

import "sixnines/result"

const (
	// PilotRounds is how many rounds a pilot has at most. A side is called slowed if it is so in each of them: on a
	// machine where runs of the same differ by 7 %, one round has it by chance in one of ten.
	PilotRounds = 3
	// mostSlowed is how much slower a side may be at once with the other one than alone.
	mostSlowed = 1.1
	// mostInPilot leaves [MostUsed] some room: pairs that follow use more or less than the pilot.
	mostInPilot = 0.9 * MostUsed
)

// Pilot describes a round of a pilot: a run of each side alone, and one of each at the same time.
func Pilot(alone, atOnce [2]*result.Run) result.PilotRound {
	var p result.PilotRound
	p.Used, p.Known = UsedAtOnce(atOnce[0].Parts()[0], atOnce[1].Parts()[0])
	p.A, p.B = slowed(alone[0], atOnce[0]), slowed(alone[1], atOnce[1])
	return p
}

// slowed is the largest ratio of p50 over the workloads of two runs of the same; 0: unknown.
func slowed(alone, atOnce *result.Run) float64 {
	most := 0.0
	for i, part := range alone.Parts() {
		if i >= len(atOnce.Parts()) {
			break
		}
		a, b := run{Run: part}, run{Run: atOnce.Parts()[i]}
		if a.Summary == nil || b.Summary == nil || part.Header.Background {
			continue
		}
		for _, m := range headline(measured([]couple{{runs: [2]run{a, b}}})) {
			if v, w := p50(a, m), p50(b, m); v > 0 {
				most = max(most, w/v)
			}
		}
	}
	return most
}

func p50(r run, m result.Metric) float64 {
	f, ok := dist(r, m).At("50")
	if !ok {
		return 0
	}
	return float64(f.Value)
}

// Choose is the design that the rounds of a pilot speak for: both sides at the same time or, where they disturb each other,
// apart. More: another round is needed to tell.
func Choose(rounds []result.PilotRound) (kind result.DesignKind, reason result.DesignReason, more bool) {
	slow := [2]int{}
	for _, r := range rounds {
		if !r.Known || r.Used > mostInPilot {
			return result.DesignApart, result.DesignUse, false
		}
		for i, v := range []float64{r.A, r.B} {
			if v > mostSlowed {
				slow[i]++
			}
		}
	}
	switch n := len(rounds); {
	case slow[0] < n && slow[1] < n:
		return result.DesignBeside, result.DesignUndisturbed, false
	case n < PilotRounds:
		return result.DesignBeside, result.DesignUndisturbed, true
	}
	return result.DesignApart, result.DesignSlowed, false
}
