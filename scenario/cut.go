package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/strict"
)

// Cut are the parameters of an action that drops packets between ends of the broker's network.
type Cut struct {
	From   Ends `yaml:"from" doc:"the ends on one side: numbers of nodes from 0, leader, followers, random, all, or clients; one, or a list"`
	To     Ends `yaml:"to" doc:"the ends on the other side, as in from"`
	OneWay bool `yaml:"one_way,omitempty" doc:"only packets from those in from to those in to are dropped; default: both directions"`
}

// End is an end of a network's path: a node, see [Node], or the clients, which are all processes that
// are not of the broker.
type End string

// ClientsEnd is the end with the clients.
const ClientsEnd End = "clients"

// Ends are ends of paths.
type Ends []End

// ParseEnd reads an end. Its errors are of type [*Error], without a position.
func ParseEnd(s string) (End, error) {
	switch n := Node(s); n {
	case Leader, Followers, RandomNode, EveryNode, Node(ClientsEnd):
		return End(s), nil
	default:
		if i, is := n.Number(); is && i >= 0 && i < 1000 && strconv.Itoa(i) == s {
			return End(s), nil
		}
	}
	return "", wrong(quote(s)+" names no side of the broker's network", "write a node's number from 0, leader, followers, random, all, or clients")
}

// String returns the end as [ParseEnd] reads it.
func (e End) String() string { return string(e) }

// Node returns the node that is meant; false: it is the clients.
func (e End) Node() (Node, bool) { return Node(e), e != ClientsEnd }

// words names the ends.
func (all Ends) words() string {
	var words []string
	for _, e := range all {
		if n, is := e.Node(); is {
			words = append(words, string(n.subject()))
		} else {
			words = append(words, string(e))
		}
	}
	return strings.Join(words, " and ")
}

// subject says what is cut from what.
func (c *Cut) subject() Subject {
	between := " from "
	if c.OneWay {
		between = " to "
	}
	return Subject(c.From.words() + between + c.To.words())
}

// Clients reports whether all nodes are cut from the clients alone, and which packets are held back: those to the
// brokers, and those from them.
func (c *Cut) Clients() (to, from, all bool) {
	clients := func(e Ends) bool {
		return len(e) > 0 && !slices.ContainsFunc(e, func(x End) bool { return x != ClientsEnd })
	}
	nodes := func(e Ends) bool { return slices.Equal(e, Ends{End(EveryNode)}) }
	switch {
	case clients(c.From) && nodes(c.To):
		return true, !c.OneWay, true
	case nodes(c.From) && clients(c.To):
		return !c.OneWay, true, true
	}
	return false, false, false
}

// checkCut checks that an action has something to cut, as far as the scenario says how many nodes there
// are.
func checkCut(v *validator, a *Act) {
	key := strict.Join(a.key, string(ActionCut))
	c := a.Cut
	if len(c.From) == 0 || len(c.To) == 0 {
		v.fail("the action cut does not say what is cut from what", "write cut: {from: [0], to: [2]}, or from: clients, to: all", key, a.key)
		return
	}
	nodes := max(1, v.s.Target.Nodes)
	for _, e := range slices.Concat(c.From, c.To) {
		n, is := e.Node()
		if i, numbered := n.Number(); is && numbered && v.s.Target.URL == "" && i >= nodes {
			v.fail(fmt.Sprintf("node %d, and there are %s", i, nodesWord(nodes)), "numbers begin with 0; target.nodes gives the number of nodes", key, a.key)
			return
		}
	}
	clients := slices.Contains(c.From, ClientsEnd) || slices.Contains(c.To, ClientsEnd)
	one := len(c.From) == 1 && slices.Equal(c.From, c.To)
	several := c.From[0] == End(EveryNode) || c.From[0] == End(Followers)
	switch {
	case v.s.Target.URL == "" && nodes == 1 && a.Names(Followers):
		v.fail("followers, but the broker has one node", "give target.nodes, or write 0", key, a.key)
	case v.s.Target.URL == "" && nodes == 1 && !clients:
		v.fail("a cut between nodes, but the broker has one node", "give target.nodes, or cut it from the clients: from: clients, to: 0", key, a.key)
	case one && !(several && nodes > 1):
		v.fail("a cut of "+c.From.words()+" from itself", "name something else in to", key, a.key)
	}
}

// Apart reports whether the nodes of a broker that is started for the run need network
// namespaces of their own, since an action, or the network of the whole run, is on the paths between them.
func (s *Scenario) Apart() bool {
	return s.Network != nil && s.Network.Resolved().Among() || slices.ContainsFunc(s.Actions, func(a Action) bool { return a.Cut != nil || a.Network != nil && a.Network.Resolved().Among() })
}
