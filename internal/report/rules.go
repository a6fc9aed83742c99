package report

import (
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// rulesOf is the table of the rules of benchmarking that a run's scenario does not keep; it has no
// rows if it keeps all of them, or if the file has no scenario that can be read.
func rulesOf(h *result.Header, sum *result.Summary) *table {
	x := &table{Class: "sheet", Caption: "They lower no verdict: the figures stand, and are no answer to what a rule is about", Head: textCells("what the load does", "what its figures do not show", "what does", "by")}
	sc, err := scenario.Parse("the result", h.Scenario)
	if len(h.Scenario) == 0 || err != nil {
		return x
	}
	sc.Normalise()
	machines := 1
	if h.Fleet != nil {
		machines = len(h.Fleet.Agents)
	}
	for _, part := range sc.Parts() {
		if part.Name != h.Workload {
			continue
		}
		for _, r := range judge.Rules(part.Scenario, h.SameHost, machines, sum.Counters.Scheduled) {
			x.add(plain(r.Found), plain(r.Means), plain(r.Try), plain(r.Source))
		}
	}
	return x
}
