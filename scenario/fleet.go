package scenario

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Fleet says what some agents of a fleet do apart from the others. Without it each agent receives what it sends. Only a fleet can
// have it.
type Fleet struct {
	Producers Role `yaml:"producers,omitempty" doc:"the agents that only send"`
	Consumers Role `yaml:"consumers,omitempty" doc:"the agents that only receive"`
	// Bound says by which bound of the clocks latencies from one agent to another are judged; empty: by what is proved.
	Bound ClockBound `yaml:"bound,omitempty" doc:"by which bound of several clocks latencies from one agent to another are judged: proved, or expected, if the ways between the clocks are symmetric, which nothing proves; default proved" enum:"proved,expected"`
	Probe Role       `yaml:"probe,omitempty" doc:"the agent that has no part in the load, and measures the broker beside it with one producer and one consumer at a low rate"`
}

// ClockBound is a bound on how wrong the difference of two clocks is.
type ClockBound string

// The bounds.
const (
	// BoundProved holds whatever the ways between the clocks are like.
	BoundProved ClockBound = "proved"
	// BoundExpected holds if the fastest ways are symmetric within a tenth.
	BoundExpected ClockBound = "expected"
)

// Divided reports whether some agents only send and others only receive, so that every message goes from one agent to another. It
// may be called on nil.
func (f *Fleet) Divided() bool {
	return f != nil && !(f.Producers.Agents.IsZero() && f.Consumers.Agents.IsZero())
}

// Probed reports whether an agent only measures beside the load. It may be called on nil.
func (f *Fleet) Probed() bool { return f != nil && !f.Probe.Agents.IsZero() }

// Role is what some agents of a fleet do.
type Role struct {
	Agents Agents `yaml:"agents,omitempty" doc:"which agents: a number of them, such as 3; those with a label, such as zone=b; or names, such as m1,m2"`
}

// Agents chooses agents of a fleet. Its text is a number, a label with its value (zone=b), or names with commas in between.
// The zero value chooses none.
type Agents struct {
	Count        int      // this number of those that are chosen in no other way
	Label, Value string   // those whose label has the value
	Names        []string // those with one of these names; a name of digits alone is read as a number
}

// The notation of Agents.
const (
	mostAgents = 10_000
	agentsForm = "write a number of agents such as 3, a label such as zone=b, or names such as m1,m2"
	namePart   = `[A-Za-z0-9][A-Za-z0-9._-]{0,62}`
)

var (
	agentPattern = regexp.MustCompile(`^` + namePart + `$`)
	labelPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9./_-]{0,62}$`)
	countPattern = regexp.MustCompile(`^[0-9]+$`)
)

// IsZero reports whether a chooses none.
func (a Agents) IsZero() bool { return a.Count == 0 && a.Label == "" && len(a.Names) == 0 }

// Has reports whether a names an agent, or a label that it has.
func (a Agents) Has(name string, labels map[string]string) bool {
	value, known := labels[a.Label]
	return slices.Contains(a.Names, name) || a.Label != "" && known && value == a.Value
}

// ParseAgents reads which agents are chosen. Its errors are of type [*Error], without a position.
func ParseAgents(text string) (Agents, error) {
	if countPattern.MatchString(text) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostAgents {
			return Agents{}, wrong(quote(text)+" is no possible number of agents", "write 1 to "+strconv.Itoa(mostAgents))
		}
		return Agents{Count: n}, nil
	}
	if label, value, ok := strings.Cut(text, "="); ok {
		if !labelPattern.MatchString(label) {
			return Agents{}, wrong(quote(label)+" is no name of a label", agentsForm)
		}
		return Agents{Label: label, Value: value}, nil
	}
	var a Agents
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		switch {
		case !agentPattern.MatchString(name):
			return Agents{}, wrong(quote(text)+" does not say which agents", agentsForm)
		case slices.Contains(a.Names, name):
			return Agents{}, wrong("agent "+quote(name)+" is named twice", "name it once")
		}
		a.Names = append(a.Names, name)
	}
	return a, nil
}

// String returns the text that [ParseAgents] reads as a; the empty string for the zero value.
func (a Agents) String() string {
	switch {
	case a.Count > 0:
		return strconv.Itoa(a.Count)
	case a.Label != "":
		return a.Label + "=" + a.Value
	}
	return strings.Join(a.Names, ",")
}

// The keys of [Fleet], and of the probe's role in it.
const fleetKey, probeKey = "fleet", "probe"

// fleet checks the roles of agents.
func (v *validator) fleet() {
	f := v.s.Fleet
	if f == nil {
		return
	}
	for _, x := range []struct {
		role, other string
		agents      Agents
	}{{"producers", "consumers", f.Producers.Agents}, {"consumers", "producers", f.Consumers.Agents}, {probeKey, "", f.Probe.Agents}} {
		again, err := ParseAgents(x.agents.String())
		switch {
		case x.agents.IsZero():
			if x.role == probeKey || !f.Divided() {
				continue
			}
			v.fail("fleet says which agents are the "+x.other+", and not which are the "+x.role, "add "+x.role+": {agents: 1}, or leave fleet out, so that each agent receives what it sends", fleetKey+"."+x.role, fleetKey)
		case err != nil || again.String() != x.agents.String(): // made in Go
			v.fail("fleet."+x.role+".agents does not say which agents", agentsForm, fleetKey+"."+x.role+".agents")
		case x.role == probeKey && max(x.agents.Count, len(x.agents.Names)) > 1:
			v.fail("fleet.probe.agents is "+x.agents.String()+", and one agent measures beside the load", "write 1, a name, or a label that one agent has", fleetKey+"."+probeKey+".agents")
		}
	}
	if f.Bound != "" && !f.Divided() {
		v.fail("fleet.bound is of latencies from one agent to another, and each agent receives what it sends", "leave fleet.bound out, or add fleet.producers and fleet.consumers", fleetKey+".bound", fleetKey)
	}
	if !f.Probed() {
		return
	}
	for _, p := range v.s.Parts() {
		if p.Scenario.Workload.Pattern == Consume {
			v.fail("fleet.probe measures beside messages that are sent, and pattern consume sends none", "leave fleet.probe out", fleetKey+"."+probeKey, fleetKey)
			break
		}
	}
	if v.s.Target.Topic != "" {
		v.fail("the agent of fleet.probe needs a topic of its own, and target.topic names topics that exist", "leave fleet.probe or target.topic out", fleetKey+"."+probeKey, fleetKey)
	}
}
