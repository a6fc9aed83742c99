package actioncost

// CostSummary is what an action cost in several runs, or several whose effects overlapped in any of them.
// Times are in ns.
type CostSummary struct {
	Actions []int                  `json:"actions"` // their numbers in the plan, from 1
	Name    string                 `json:"name"`
	Figures map[Subject]CostSpread `json:"figures"`
}

// Summaries returns what actions cost in runs, in order of time; none if the runs have no actions, or not
// the same.
func Summaries(all []Trial) (out []CostSummary) {
	if len(all) == 0 || !Same(all) {
		return nil
	}
	for _, p := range Places(all) {
		x := CostSummary{Actions: p.Actions, Name: p.Name, Figures: map[Subject]CostSpread{}}
		for _, f := range p.Figures {
			x.Figures[f.Of] = SpreadOf(f.Runs)
		}
		out = append(out, x)
	}
	return out
}
