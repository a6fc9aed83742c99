package scenario

import (
	"fmt"
	"slices"
	"strconv"

	"sixnines/internal/strict"
)

// Nodes are the parameters of an action that happens to nodes of the broker.
type Nodes struct {
	Node Node `yaml:"node" doc:"which node: its number from 0, leader, followers, random or all" pattern:"[0-9]{1,3}|leader|followers|random|all"`
}

// Node says which of a broker's nodes are meant: a number from 0, or one of the words below. Who
// leads is asked of the broker when the action happens.
type Node string

// The words for nodes.
const (
	Leader     Node = "leader"
	Followers  Node = "followers"
	RandomNode Node = "random" // one, drawn by the scenario's seed
	EveryNode  Node = "all"
)

// Number returns the number of the node, from 0; false: it is not given by its number.
func (n Node) Number() (int, bool) {
	i, err := strconv.Atoi(string(n))
	return i, err == nil
}

// subject is what the nodes are called in reports.
func (n Node) subject() Subject {
	switch n {
	case Leader, Followers:
		return Subject(n)
	case RandomNode:
		return "a random node"
	case EveryNode:
		return "all nodes"
	}
	return Subject("node " + string(n))
}

// meets reports whether two choices may be of the same node, as far as is known beforehand.
func (n Node) meets(other Node) bool {
	any := func(n Node) bool { return n == EveryNode || n == RandomNode }
	return n == other || any(n) || any(other) // which number leads is not known: an act that finds its node taken fails
}

// nodeActions are the kinds that happen to nodes of the broker.
func nodeActions() []ActionProperties {
	return []ActionProperties{
		{Kind: ActionStall, Run: true, Lasts: true, Explains: ExplainsOutage, check: checkNodes,
			written: func(a *Action) Subject { return a.Stall.Node.subject() },
			Does:    "All threads of the nodes' processes are stopped (SIGSTOP); their connections stay open, and what is sent to them waits.",
			Undone:  "They go on (SIGCONT)."},
		{Kind: ActionFreeze, Run: true, Lasts: true, Explains: ExplainsOutage, check: checkNodes,
			written: func(a *Action) Subject { return a.Freeze.Node.subject() },
			Does:    "The same as stall.",
			Undone:  "They go on (SIGCONT)."},
	}
}

// Nodes returns which of the broker's nodes the act happens to; empty: it is not an act on nodes.
func (a *Act) Nodes() Node {
	switch {
	case a.Kind == ActionStall:
		return a.Stall.Node
	case a.Kind == ActionFreeze:
		return a.Freeze.Node
	}
	return ""
}

// runActs checks the acts of the run, which happen to what all its loads use.
func (v *validator) runActs() {
	s := v.s
	all := slices.DeleteFunc(s.Acts(), func(a Act) bool { return !a.Properties().Run })
	for i := range all {
		a := &all[i]
		p := a.Properties()
		known := s.Workload.Messages == 0 // how long the window is
		d := s.Phases.Duration
		switch {
		case known && a.At.After >= d:
			v.fail(fmt.Sprintf("the action is at %s, when the window of %s is over", a.At, formatDuration(d)), "make phases.duration longer, or let it happen sooner", a.key, "phases.duration")
		case known && a.End() > d:
			v.fail(fmt.Sprintf("the action lasts until %s, and the window of %s is over then", formatDuration(a.End()), formatDuration(d)), "make phases.duration longer, or let it last shorter", a.key, "phases.duration")
		}
		before := len(v.errs)
		p.check(v, a)
		if len(v.errs) > before {
			continue
		}
		for j := range all[:i] {
			b := &all[j]
			if a.Nodes() == "" || b.Nodes() == "" || !a.Nodes().meets(b.Nodes()) || a.At.After >= b.End() && a.At != b.At {
				continue
			}
			v.fail(fmt.Sprintf("two actions on the same node at the same time: %s %s at %s, and %s %s at %s", b.Kind, b.Subject, b.At, a.Kind, a.Subject, a.At),
				"let the second begin when the first is over, or name different nodes", a.key, b.key)
			break
		}
	}
}

// checkNodes checks which nodes an action names, as far as the scenario says how many there are.
func checkNodes(v *validator, a *Act) {
	n := a.Nodes()
	if n == "" {
		v.fail("the action "+string(a.Kind)+" does not say which node", "write "+string(a.Kind)+": {node: 0}, or leader, followers, random or all", strict.Join(a.key, string(a.Kind)), a.key)
		return
	}
	nodes := max(1, v.s.Target.Nodes)
	if i, is := n.Number(); is && v.s.Target.URL == "" && i >= nodes {
		v.fail(fmt.Sprintf("there is no node %d: the broker has %s", i, nodesWord(nodes)), "target.nodes says how many it has", strict.Join(a.key, string(a.Kind)), a.key)
	}
	v.refuse(n == Followers && v.s.Target.URL == "" && nodes == 1, "followers, and the broker has one node", "give target.nodes, or write node: 0", strict.Join(a.key, string(a.Kind)), a.key)
}

// nodesWord says which nodes there are.
func nodesWord(n int) string {
	if n == 1 {
		return "node 0 alone"
	}
	return fmt.Sprintf("the nodes 0 to %d", n-1)
}
