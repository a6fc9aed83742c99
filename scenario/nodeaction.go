package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"sixnines/internal/strict"
)

// Nodes are the parameters of an action that happens to nodes of the broker.
type Nodes struct {
	Node Node `yaml:"node" doc:"which node: its number from 0, leader, followers, random or all" pattern:"[0-9]{1,3}|leader|followers|random|all"`
}

// Restart says when nodes that an action ended are started again. In YAML it may be a time alone, or a
// word for nodes.
type Restart struct {
	Node  Node          `yaml:"node,omitempty" doc:"as a kind: which node ends and is started again" pattern:"[0-9]{1,3}|leader|followers|random|all"`
	After time.Duration `yaml:"after,omitempty" doc:"how long after it was ended a node is started again" min:"1ms" max:"168h"`
}

// parseRestart reads the short form.
func parseRestart(s string) (*Restart, error) {
	if n := Node(s); n == Leader || n == Followers || n == RandomNode || n == EveryNode {
		return &Restart{Node: n}, nil
	}
	d, err := parseDuration(s)
	if err != nil || d <= 0 {
		return nil, wrong(quote(s)+" does not say when nodes are restarted", "write restart: 5s beside kill or terminate, or without these restart: {node: 0}")
	}
	return &Restart{After: d}, nil
}

// Rolling are the parameters of a rolling restart.
type Rolling struct {
	Restart Node          `yaml:"restart" doc:"which nodes: followers or all" pattern:"[0-9]{1,3}|leader|followers|random|all"`
	Pause   time.Duration `yaml:"pause,omitempty" doc:"how long after a node answers again the next one ends" min:"1ms" max:"168h"`
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

// meets reports whether two choices may be of the same node, as far as is known before the run.
func (n Node) meets(other Node) bool {
	any := func(n Node) bool { return n == EveryNode || n == RandomNode }
	return n == other || any(n) || any(other) // which number leads is not known: an act that finds its node taken fails
}

// Nodes returns which of the broker's nodes the act happens to; empty: it is not an act on nodes.
func (a *Act) Nodes() Node {
	if f := a.Properties().nodes; f != nil {
		return f(&a.Action)
	}
	return ""
}

// Led reports whether the act happens to a leader or its followers, which the broker is asked for.
func (a *Act) Led() bool { return a.Names(Leader) || a.Names(Followers) }

// Names reports whether the act happens to what a word or number for nodes stands for.
func (a *Act) Names(n Node) bool {
	if a.Kind == ActionCut {
		return slices.Contains(a.Cut.From, End(n)) || slices.Contains(a.Cut.To, End(n))
	}
	return a.Nodes() == n
}

// freeFor returns when the nodes of an act may be under another on what a word or number stands for, from the start of the
// window.
func (a *Act) freeFor(other Node) time.Duration {
	switch {
	case !a.Properties().Restarts || a.Restart != nil:
		return a.End()
	case a.Nodes() == Leader && other == Leader:
		return a.End() // another node leads by then: one that finds its node still down fails
	}
	return MaxDuration // they stay down
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
			v.fail(fmt.Sprintf("the action is at %s, after the window of %s has ended", a.At, formatDuration(d)), "lengthen phases.duration, or move the action earlier", a.key, "phases.duration")
		case known && a.End() > d:
			v.fail(fmt.Sprintf("the action lasts until %s, after the window of %s has ended", formatDuration(a.End()), formatDuration(d)), "lengthen phases.duration, or shorten the action", a.key, "phases.duration")
		}
		before := len(v.errs)
		p.check(v, a)
		if len(v.errs) > before {
			continue
		}
		for j := range all[:i] {
			b := &all[j]
			if p.Beside || b.Properties().Beside || a.Nodes() == "" || b.Nodes() == "" || !a.Nodes().meets(b.Nodes()) || a.At.After >= b.freeFor(a.Nodes()) && a.At != b.At {
				continue
			}
			v.fail(fmt.Sprintf("two actions on the same node at the same time: %s %s at %s, and %s %s at %s", b.Kind, b.Subject, b.At, a.Kind, a.Subject, a.At),
				"start the second when the first has ended, or name different nodes", a.key, b.key)
			break
		}
	}
}

// checkNodes checks which nodes an action names, as far as the scenario says how many there are.
func checkNodes(v *validator, a *Act) {
	n := a.Nodes()
	if n == "" {
		v.fail("the action "+string(a.Kind)+" does not say which node", "write "+nodeForm(a.Kind)+", or leader, followers, random or all", strict.Join(a.key, string(a.Kind)), a.key)
		return
	}
	nodes := max(1, v.s.Target.Nodes)
	if i, is := n.Number(); is && v.s.Target.URL == "" && i >= nodes {
		v.fail(fmt.Sprintf("node %d does not exist: the broker has %s", i, nodesWord(nodes)), "target.nodes gives the number of nodes", strict.Join(a.key, string(a.Kind)), a.key)
	}
	v.refuse(n == Followers && v.s.Target.URL == "" && nodes == 1, "followers, but the broker has one node", "give target.nodes, or write node: 0", strict.Join(a.key, string(a.Kind)), a.key)
}

// checkRolling checks which nodes are named, and that the pauses between them are within the window.
func checkRolling(v *validator, a *Act) {
	checkNodes(v, a)
	if v.s.Target.URL != "" || v.s.Workload.Messages != 0 {
		return // not known: how many nodes there are, or how long the window is
	}
	nodes := 1
	switch n := max(1, v.s.Target.Nodes); a.Nodes() {
	case EveryNode:
		nodes = n
	case Followers:
		nodes = n - 1
	}
	if last := a.At.After + time.Duration(nodes-1)*a.Rolling.Pause; nodes > 1 && last >= v.s.Phases.Duration {
		v.fail(fmt.Sprintf("the last of %d nodes is restarted at %s at the earliest, after the window of %s has ended", nodes, formatDuration(last), formatDuration(v.s.Phases.Duration)),
			"lengthen phases.duration, or shorten the pause", a.key, "phases.duration")
	}
}

// checkTransfer checks that another node can lead.
func checkTransfer(v *validator, a *Act) {
	v.refuse(v.s.Target.URL == "" && v.s.Target.Nodes <= 1, "a transfer of leadership, but the broker has one node", "give target.nodes", strict.Join(a.key, string(a.Kind)), a.key)
}

// nodeForm is how a kind says which node.
func nodeForm(k ActionKind) string {
	switch k {
	case ActionRolling:
		return "rolling: {restart: all}"
	case ActionCorrupt:
		return "corrupt: {node: 0, file: \"*.log\"}"
	}
	return string(k) + ": {node: 0}"
}

// nodesWord says which nodes there are.
func nodesWord(n int) string {
	if n == 1 {
		return "node 0 alone"
	}
	return fmt.Sprintf("the nodes 0 to %d", n-1)
}
