package scenario

import (
	"strings"
	"testing"
)

// An action with parameters is written in one line and read back, from YAML and from JSON.
func TestActionsWithParameters(t *testing.T) {
	for _, text := range []string{
		"{at: 1s, stall: {node: 0}, for: 2s}",
		"{at: 1s, freeze: {node: followers}, for: 2s}",
		"{at: 1s, kill: {node: leader}, restart: 5s}",
		"{at: 1s, kill: {node: all}}",
		"{at: 1s, terminate: {node: random}, restart: 1m30s}",
		"{at: 1s, restart: {node: 2}}",
		"{at: 1s, restart: {node: 2, after: 3s}}",
		"{at: 1s, rolling: {restart: all, pause: 1s}}",
		"{at: 1s, transfer: leader}",
	} {
		s := parsed(t, "target: {nodes: 3}\nphases: {duration: 2m}\nactions: ["+text+"]\n")
		if got := s.Acts()[0].String(); got != text {
			t.Errorf("%s is written %s", text, got)
		}
		b, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := FromRecord("x", b)
		if err != nil || again.Acts()[0].String() != text {
			t.Errorf("%s: read back %v", b, err)
		}
	}
}

// An act of the run is in each part, by that part's clock, and once in the whole.
func TestActsOfTheRunInParts(t *testing.T) {
	s := parsed(t, "workloads:\n  a: {rate: 10/s}\n  b: {rate: 10/s, from: 4s}\nactions:\n  - {at: 3s, stall: {node: 0}, for: 1s}\n  - {at: 5s, pause: consumers, for: 1s, workload: b}\n")
	var all []string
	for _, p := range s.Parts() {
		for _, a := range p.Scenario.Acts() {
			all = append(all, p.Name+" "+a.Key()+" "+a.String())
		}
	}
	for _, a := range s.Acts() {
		all = append(all, a.String())
	}
	if got, want := strings.Join(all, "\n"), "a actions[0] {at: 3s, stall: {node: 0}, for: 1s}\n"+
		"b actions[0] {at: -1s, stall: {node: 0}, for: 1s}\nb actions[1] {at: 1s, pause: consumers, for: 1s}\n"+
		"{at: 3s, stall: {node: 0}, for: 1s}\n{at: 5s, pause: consumers, workload: b, for: 1s}"; got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

func TestActsOfTheRunImpossible(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"actions: [{at: 1s, stall: 0, for: 1s}]\n", `x.yaml:1:27: actions[0].stall is "0", not a mapping (its keys are node)`},
		{"actions: [{at: 1s, stall: {nod: 0}, for: 1s}]\n", `x.yaml:1:28: unknown key "nod" in actions[0].stall (did you mean node?)`},
		{"actions: [{at: -1s, stall: {node: 0}, for: 1s}]\n", "an action at an impossible time (give a time after the start of the window)"},
		{"actions: [{at: 1s, stall: {node: 0}}]\n", "the action stall does not say how long (give it for, such as for: 5s)"},
		{"actions: [{at: 1s, stall: {node: 1}, for: 1s}]\n", "x.yaml:1:27: node 1 does not exist: the broker has node 0 alone (target.nodes gives the number of nodes)"},
		{"phases: {duration: 3s}\nactions: [{at: 4s, stall: {node: 0}, for: 1s}]\n", "the action is at 4s, after the window of 3s has ended"},
		{"phases: {duration: 3s}\nactions: [{at: 2s, stall: {node: 0}, for: 2s}]\n", "the action lasts until 4s, after the window of 3s has ended"},
		{"actions: [{at: 1s, stall: {node: 0}, for: 1s, restart: 2s}]\n", "the action stall ends no node that could be started again (leave restart out)"},
		{"actions: [{at: 1s, kill: {node: 0}, for: 1s}]\n", "the action kill has no length, but for: 1s"},
		{"actions: [{at: 1s, restart: 5s}]\n", "an action that does nothing"},
		{"actions: [{at: 1s, kill: {node: 0}, restart: soon}]\n", `x.yaml:1:46: "soon" does not say when nodes are restarted (write restart: 5s beside kill`},
		{"actions: [{at: 1s, kill: {node: 0}, restart: {node: 0}}]\n", "an action with kill and restart (write two actions)"},
		{"actions: [{at: 1s, kill: {node: 0}}, {at: 3s, restart: {node: 0}}]\n", "two actions on the same node at the same time: kill node 0 at 1s, and restart node 0 at 3s"},
		{"actions: [{at: 1s, kill: {node: 0}, restart: 10s}]\n", "the action lasts until 11s"},
		{"actions: [{at: 1s, transfer: leader}]\n", "a transfer of leadership, but the broker has one node (give target.nodes)"},
		{"actions: [{at: 1s, rolling: {pause: 1s}}]\n", "the action rolling does not say which node (write rolling: {restart: all}"},
		{"target: {nodes: 3}\nphases: {duration: 30s}\nactions: [{at: 10s, rolling: {restart: all, pause: 10s}}]\n", "the last of 3 nodes is restarted at 30s at the earliest, after the window of 30s has ended (lengthen phases.duration, or shorten the pause)"},
		{"target: {nodes: 3}\nphases: {duration: 30s}\nactions: [{at: 10s, rolling: {restart: followers, pause: 25s}}]\n", "the last of 2 nodes is restarted at 35s"},
		{"target: {nodes: 5}\nphases: {duration: 30s}\nactions: [{at: 10s, kill: {node: leader}, restart: 5s}, {at: 12s, kill: {node: leader}}]\n", "two actions on the same node at the same time: kill leader at 10s, and kill leader at 12s"},
		{"target: {nodes: 5}\nphases: {duration: 30s}\nactions: [{at: 10s, kill: {node: followers}}, {at: 12s, kill: {node: followers}}]\n", "two actions on the same node at the same time"},
		{"workloads:\n  a: {rate: 10/s}\nactions: [{at: 1s, stall: {node: 0}, for: 1s, workload: a}]\n", `the action stall happens to all workloads, and names "a" (leave workload out)`},
		{"actions: [{at: 1s, stall: {node: 0}, for: 3s}, {at: 3s, freeze: {node: random}, for: 1s}]\n", "two actions on the same node at the same time: stall node 0 at 1s, and freeze a random node at 3s"},
	} {
		s, err := Parse("x.yaml", []byte(c.text))
		if err == nil {
			err = s.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	parsed(t, "target: {nodes: 3}\nactions: [{at: 1s, freeze: {node: followers}, for: 3s}, {at: 2s, stall: {node: leader}, for: 1s}]\n")
	parsed(t, "target: {nodes: 5}\nphases: {duration: 60s}\nactions: [{at: 10s, kill: {node: leader}}, {at: 40s, kill: {node: leader}}]\n")
	parsed(t, "target: {nodes: 3}\nphases: {duration: 30s}\nactions: [{at: 10s, rolling: {restart: all, pause: 9s}}]\n")
}
