package judge

import "sixnines/result"

// gate is one question of the verdict. It returns nothing if all is well, else
// what it found, each finding with the status that it alone leads to; Valid
// makes it a note.
type gate func(*evidence) []result.Reason

// gates lists all questions in the order in which reasons are given: first
// what makes a run worthless, last what is only to be known.
func gates() []gate {
	return []gate{
		cutShort, conservation, violations, suspended,
		selfInflicted, frozen, ownLag,
		backlogGrows, steadiness,
		notSent, sentLate, worstSecond,
		throttled, steal, swap, processors, collector, scheduler, attributed, besideProbe,
		clientDrops, clamps, little,
		closedLoop, unpaced, sameHost, nearFloor, interrupted, until,
		aborted, losses, refusals, duplicates, censoredMessages, handovers, events, semantics,
	}
}

// decide asks all gates; the verdict is the worst finding's.
func decide(e *evidence) result.Verdict {
	v := result.Verdict{Status: result.Valid, Reasons: []result.Reason{}}
	for _, g := range gates() {
		for _, r := range g(e) {
			v.Reasons = append(v.Reasons, r)
			if rank(r.Status) > rank(v.Status) {
				v.Status = r.Status
			}
		}
	}
	return v
}

// rank orders the statuses from best to worst.
func rank(s result.Status) int {
	switch s {
	case result.Valid:
		return 0
	case result.Suspect:
		return 1
	case result.Unstable:
		return 2
	}
	return 3
}

// one is the outcome of a gate with one finding.
func one(s result.Status, code, text string) []result.Reason {
	return []result.Reason{{Status: s, Code: code, Text: text}}
}
