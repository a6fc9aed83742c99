package judge

import (
	"sixnines/internal/stats"
	"sixnines/scenario"
)

// responsibly is the source of most rules.
const responsibly = "T. Treat, \"Benchmark Responsibly\", 2015"

// Rule is a rule of benchmarking that a scenario does not keep. Its figures stand, and are no
// answer to what the rule is about; so a rule lowers no verdict.
type Rule struct {
	Found  string `json:"found"`  // what the scenario does
	Means  string `json:"means"`  // what its figures therefore do not show
	Try    string `json:"try"`    // how to keep the rule
	Source string `json:"source"` // who gave it
}

// Rules returns the rules that a normalised scenario of one workload does not keep. sameHost says
// that broker and generator share a machine, machines how many make the load, and messages how
// many are due in the window, 0 if that is not known.
func Rules(s *scenario.Scenario, sameHost bool, machines int, messages int64) []Rule {
	w := &s.Workload
	all := []Rule{}
	add := func(broken bool, found, means, try string) {
		if broken {
			all = append(all, Rule{found, means, try, responsibly})
		}
	}
	add(w.Rate.IsMax() && w.Loop == scenario.Open && w.Producers == 1 && w.Consumers <= 1 && w.Pattern != scenario.Consume,
		"one producer and at most one consumer, flat out", "the rate is that of one connection, and not what the broker carries",
		"more --producers and --consumers, or sixnines capacity")
	add(w.Pattern == scenario.Publish && w.Rate.IsMax(),
		"only the sender's end is measured", "a broker may accept messages faster than it delivers them: the rate of one end is not the system's",
		"--pattern deliver, which gives the rates of both ends")
	add(sameHost && !hasNetwork(s),
		"broker and generator on one machine, without a network between them", "the figures have none of what a network adds, and both share the processors",
		"a broker on another machine (--url), or network: in the scenario, see docs/network.md")
	add(!sameHost && machines < 2 && w.Rate.IsMax(),
		"the load comes from one machine", "the rate may be that of this machine",
		"several machines: --fleet, see docs/fleet.md")
	needs := stats.MinSamples(0.99, confidence)
	add(messages > 0 && messages < needs && w.Pattern != scenario.Consume,
		"too few messages for p99", "a latency is its distribution: without its high percentiles it is close to a mean",
		"a longer --duration or a higher --rate")
	return all
}

// hasNetwork reports whether the scenario changes the path between generator and broker.
func hasNetwork(s *scenario.Scenario) bool {
	if s.Network != nil {
		return true
	}
	for _, a := range s.Actions {
		if a.Network != nil {
			return true
		}
	}
	return false
}
