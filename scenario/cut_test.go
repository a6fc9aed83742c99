package scenario

import (
	"strings"
	"testing"
)

// A cut names its ends one by one or in a list, and is read back as it is written.
func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"{at: 1s, cut: {from: [0], to: [2]}, for: 2s}":                                "node 0 from node 2",
		"{at: 1s, cut: {from: [0, 1], to: [clients], one_way: true}, for: 2s}":        "node 0 and node 1 to clients",
		"{at: 1s, cut: {from: [leader], to: [followers, clients]}, for: 8.5s}":        "leader from followers and clients",
		"{at: 1s, cut: {from: [all], to: [all]}, for: 2s}":                            "all nodes from all nodes",
		"{at: 1s, cut: {from: [random], to: [clients], one_way: true}, for: 500ms}":   "a random node to clients",
		"{at: 1s, cut: {from: [followers], to: [followers], one_way: true}, for: 1s}": "followers to followers",
	} {
		s := parsed(t, "target: {nodes: 3}\nactions: ["+text+"]\n")
		a := s.Acts()[0]
		if a.String() != text || string(a.Subject) != want || !s.Apart() {
			t.Errorf("%s is written %s, of %q, apart: %v", text, a.String(), a.Subject, s.Apart())
		}
		b, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := FromRecord("x", b); err != nil || again.Acts()[0].String() != text {
			t.Errorf("%s: read back %v", b, err)
		}
	}
	s := parsed(t, "actions: [{at: 1s, cut: {from: clients, to: 0}, for: 2s}]\n")
	if got, want := s.Acts()[0].String(), "{at: 1s, cut: {from: [clients], to: [0]}, for: 2s}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := parsed(t, "actions: [{at: 1s, stall: {node: 0}, for: 2s}]\n"); s.Apart() {
		t.Error("a stall needs no namespaces")
	}
}

func TestCutsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"target: {nodes: 3}\nactions: [{at: 1s, cut: {from: 0}, for: 1s}]":                    "does not say what is cut from what",
		"target: {nodes: 3}\nactions: [{at: 1s, cut: {from: 0, to: 3}, for: 1s}]":             "node 3, and there are the nodes 0 to 2",
		"target: {nodes: 3}\nactions: [{at: 1s, cut: {from: 1, to: [1]}, for: 1s}]":           "a cut of node 1 from itself",
		"target: {nodes: 3}\nactions: [{at: 1s, cut: {from: leader, to: leader}, for: 1s}]":   "a cut of leader from itself",
		"target: {nodes: 3}\nactions: [{at: 1s, cut: {from: clients, to: clients}, for: 1s}]": "a cut of clients from itself",
		"actions: [{at: 1s, cut: {from: 0, to: all}, for: 1s}]":                               "a cut between nodes, but the broker has one node",
		"actions: [{at: 1s, cut: {from: clients, to: followers}, for: 1s}]":                   "followers, but the broker has one node",
		"actions: [{at: 1s, cut: {from: producers, to: all}, for: 1s}]":                       "names no side of the broker's network",
		"actions: [{at: 1s, cut: {from: \"01\", to: clients}, for: 1s}]":                      "names no side of the broker's network",
		"actions: [{at: 1s, cut: {from: clients, to: all}}]":                                  "does not say how long",
	} {
		s, err := Parse("x.yaml", []byte(text+"\n"))
		if err == nil {
			err = s.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
