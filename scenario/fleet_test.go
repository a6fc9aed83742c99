package scenario

import (
	"strings"
	"testing"
)

// Agents are chosen by number, label or names, and each choice is written as it is read.
func TestAgents(t *testing.T) {
	labels := map[string]string{"zone": "b", "empty": ""}
	for _, c := range []struct {
		text, written string
		has           bool // m1, with the labels
		wrong         string
	}{
		{text: "3", written: "3"},
		{text: "zone=b", written: "zone=b", has: true},
		{text: "zone=c", written: "zone=c"},
		{text: "empty=", written: "empty=", has: true},
		{text: "other=", written: "other="},
		{text: "m1", written: "m1", has: true},
		{text: "m0, m1", written: "m0,m1", has: true},
		{text: "0", wrong: "no possible number"},
		{text: "99999999999999999999", wrong: "no possible number"},
		{text: "10001", wrong: "no possible number"},
		{text: "-1", wrong: "which agents"},
		{text: "m1,,m2", wrong: "which agents"},
		{text: "m1,m1", wrong: "named twice"},
		{text: "=b", wrong: "no name of a label"},
		{text: " ", wrong: "which agents"},
	} {
		a, err := ParseAgents(c.text)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%q is %+v, %v", c.text, a, err)
			}
			continue
		}
		if err != nil || a.String() != c.written || a.Has("m1", labels) != c.has {
			t.Errorf("%q is %+v, written %q, %v", c.text, a, a.String(), err)
		}
	}
}

// Both roles are needed, and fleet: {} takes roles back.
func TestFleet(t *testing.T) {
	for text, want := range map[string]string{
		"fleet: {producers: {agents: 3}}":                                              "not which are the consumers",
		"fleet: {consumers: {agents: zone=b}}":                                         "not which are the producers",
		"fleet: {producers: {agents: 3}, consumers: {agents: [a]}}":                    "consumers",
		"fleet: {producers: {agents: 3}, consumers: {agents: \"\"}}":                   "which agents",
		"fleet: {producers: {agents: 3}, consumers: {agents: zone=b}}":                 "",
		"fleet: {producers: {agents: 3}, consumers: {agents: 2}, observers: {}}":       "observers",
		"fleet: {bound: expected}":                                                     "each agent receives what it sends",
		"fleet: {producers: {agents: 1}, consumers: {agents: 1}, bound: expected}":     "",
		"fleet: {producers: {agents: 1}, consumers: {agents: 1}, bound: hoped}":        "proved",
		"fleet: {probe: {agents: 1}}":                                                  "",
		"fleet: {probe: {agents: zone=b}, producers: {agents: 1}}":                     "not which are the consumers",
		"fleet: {probe: {agents: 2}}":                                                  "one agent measures",
		"fleet: {probe: {agents: \"m1,m2\"}}":                                          "one agent measures",
		"target: {topic: orders}\nfleet: {probe: {agents: 1}}":                         "a topic of its own",
		"workload: {pattern: consume}\nfleet: {probe: {agents: 1}}":                    "sends none",
		"workloads: {a: {rate: 1/s, fleet: {producers: {agents: 3}}}, b: {rate: 1/s}}": "fleet",
		"fleet: {}": "",
	} {
		s, err := Parse("test", []byte(text+"\n"))
		if err == nil {
			err = s.Validate()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	s, err := Parse("test", []byte("fleet: {producers: {agents: 3}, consumers: {agents: zone=b}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := s.clone()
	if err := c.Apply(Override{Key: "fleet", Value: "{}"}); err != nil {
		t.Fatal(err)
	}
	if c.Normalise(); c.Fleet != nil || s.Fleet == nil || s.Fleet.Consumers.Agents.Value != "b" {
		t.Errorf("%+v, and before %+v", c.Fleet, s.Fleet)
	}
	if err := (&Scenario{Fleet: &Fleet{Producers: Role{Agents{Names: []string{"a b"}}}, Consumers: Role{Agents{Count: 1}}}}).Validate(); err == nil {
		t.Error("a name with a blank")
	}
}
