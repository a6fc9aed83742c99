package actioncost

import (
	"cmp"
	"slices"

	"sixnines/result"
)

// Trial is what the actions of one run cost, and what qualifies that.
type Trial struct {
	Actions []result.Action
	Costs   []result.Cost // in order of time
	// Undated are lost messages whose time of acknowledgement is not known: no cost includes them.
	Undated int64
	// Unfit says why nothing of it counts, and Suspect why it decides nothing; both are empty for
	// other runs.
	Unfit, Suspect string
}

// Of returns what the actions of a run cost.
func Of(run *result.Run) Trial {
	t := Trial{Actions: run.Header.Actions}
	s := run.Summary
	switch {
	case s == nil:
		t.Unfit = "cut short"
		return t
	case s.Aborted:
		t.Unfit = "aborted"
	case s.Verdict.Status == result.Invalid:
		t.Unfit = "INVALID"
	case s.Interrupted:
		t.Suspect = "the window was ended early"
	}
	for _, c := range s.Costs {
		c.Before, c.During, c.After = nil, nil, nil // large, and not compared
		t.Costs = append(t.Costs, c)
	}
	for _, r := range s.Verdict.Reasons {
		if r.Status == result.Suspect && r.Percentile == "" && (r.Metric == "" || len(s.Costs) > 0 && r.Metric == s.Costs[0].Metric) {
			t.Suspect = cmp.Or(t.Suspect, "SUSPECT: "+r.Short())
		}
	}
	if b := run.ReadBack; b != nil {
		lost := b.Lost
		if b.Whole && b.Gone != nil {
			lost = b.Gone
		}
		if lost != nil {
			t.Undated = lost.Undated
		}
	}
	return t
}

// Same reports whether all trials have the same timeline. Which nodes are leader is not part of it.
func Same(all []Trial) bool {
	return !slices.ContainsFunc(all, func(t Trial) bool { return !slices.Equal(t.Actions, all[0].Actions) })
}

// Any reports whether the plan of any trial has actions.
func Any(all []Trial) bool {
	return slices.ContainsFunc(all, func(t Trial) bool { return len(t.Actions) > 0 })
}
