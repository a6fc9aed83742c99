package scenario

import (
	"strings"
	"testing"
	"time"
)

func parsed(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if err := s.Validate(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	s.Normalise()
	return s
}

// planOf writes the acts of a scenario, and of each workload.
func planOf(s *Scenario) string {
	var lines []string
	for _, a := range s.Acts() {
		lines = append(lines, a.String())
	}
	for _, p := range s.Parts() {
		line := p.Name
		for _, a := range p.Scenario.Acts() {
			line += " " + a.String()
		}
		if p.Stops {
			line += " stops"
		}
		lines = append(lines, line+" "+p.Scenario.Phases.Duration.String()+" "+p.Scenario.Phases.Warmup.String()+" "+p.Scenario.Phases.Drain.String())
	}
	return strings.Join(lines, "\n")
}

// Older keys give the same plan as actions.
func TestSpellingsOfActions(t *testing.T) {
	for _, c := range []struct{ old, new, plan string }{
		{"workload: {consumer: {pause: 5s@2s}}\n", "actions: [{at: 2s, pause: consumers, for: 5s}]\n",
			"{at: 2s, pause: consumers, for: 5s}\n {at: 2s, pause: consumers, for: 5s} 10s 2s 10s"},
		{"workload: {consumer: {from: 3s}}\n", "actions: [{at: 3s, start: consumers}]\n",
			"{at: 3s, start: consumers}\n {at: 3s, start: consumers} 10s 0s 10m0s"},
		{"workload: {rate: max, messages: 5, consumer: {from: filled}}\n", "workload: {rate: max, messages: 5}\nactions: [{at: filled, start: consumers}]\n",
			"{at: filled, start: consumers}\n {at: filled, start: consumers} stops 0s 0s 10m0s"},
		{"workload: {consumer: {from: 1s, pause: 1.5s@4s}}\n", "actions: [{at: 4s, pause: consumers, for: 1.5s}, {at: 1s, start: consumers}]\n",
			"{at: 1s, start: consumers}\n{at: 4s, pause: consumers, for: 1.5s}\n {at: 1s, start: consumers} {at: 4s, pause: consumers, for: 1.5s} 10s 0s 10m0s"},
		{"workloads:\n  a: {rate: 10/s}\n  b: {rate: 10/s, from: 2s, for: 5s, consumer: {pause: 1s@1s}}\n",
			"workloads:\n  a: {rate: 10/s}\n  b: {rate: 10/s, from: 2s}\nactions:\n  - {at: 3s, pause: consumers, for: 1s, workload: b}\n  - {at: 7s, stop: producers, workload: b}\n", ""},
	} {
		old, now := parsed(t, c.old), parsed(t, c.new)
		got := planOf(now)
		if c.plan == "" { // the stop is the one action that is a length in the older spelling
			got = strings.ReplaceAll(strings.ReplaceAll(got, "{at: 7s, stop: producers, workload: b}\n", ""), " {at: 5s, stop: producers}", "")
		}
		if want := planOf(old); got != want || c.plan != "" && got != c.plan {
			t.Errorf("%s: the plan is\n%s\nby the older keys\n%s\nwant\n%s", c.new, got, want, c.plan)
		}
		text, err := now.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again := parsed(t, string(text)); planOf(again) != planOf(now) {
			t.Errorf("%s: written and read again\n%s", text, planOf(again))
		}
	}
}

func TestActionsAreAddedAndReplaced(t *testing.T) {
	s := parsed(t, "actions: [{at: 1s, pause: consumers, for: 1s}]\n")
	if err := s.Apply(Override{"actions[]", "{at: 5s, disconnect: all}", ""}); err != nil {
		t.Fatal(err)
	}
	if acts := s.Acts(); len(acts) != 2 || acts[1].Kind != ActionDisconnect || acts[1].At.After != 5*time.Second {
		t.Errorf("%+v", acts)
	}
	if err := s.Apply(Override{"actions", "[{at: 2s, pause: consumers, for: 3s}]", ""}); err != nil {
		t.Fatal(err)
	}
	if acts := s.Acts(); len(acts) != 1 || acts[0].End() != 5*time.Second {
		t.Errorf("%+v", acts)
	}
	if err := s.Apply(Override{"actions[]", "{at: 5s, dance: all}", "--set"}); err == nil || !strings.Contains(err.Error(), `--set: unknown key "dance" in actions[1]`) {
		t.Error(err)
	}
}

func TestActionsImpossible(t *testing.T) {
	several := "workloads:\n  live: {rate: 10/s}\n  feed: {rate: 10/s, pattern: publish, from: 4s}\n"
	for _, c := range []struct{ text, want string }{
		{"actions: [{at: 5s, dance: consumers}]\n", `x.yaml:1:20: unknown key "dance" in actions[0] (valid keys are at, pause, start, stop, disconnect`},
		{"actions: [{at: 5s, pause: producers, for: 1s}]\n", `"producers" is not allowed for pause (one of consumers)`},
		{"actions: [{at: soon, pause: consumers, for: 1s}]\n", `x.yaml:1:16: "soon" does not say when an action happens (write a time after the start of the window, such as 30s, or filled)`},
		{"actions: [{at: 5s}]\n", "x.yaml:1:11: an action that does nothing (give it one of pause, start, stop, disconnect"},
		{"actions: [{at: 5s, pause: consumers, disconnect: all, for: 1s}]\n", "an action with pause and disconnect (write two actions)"},
		{"actions: [{at: 5s, pause: consumers}]\n", "the action pause does not say how long (give it for"},
		{"actions: [{at: 5s, disconnect: all, for: 2s}]\n", "x.yaml:1:42: the action disconnect has no length, but for: 2s (leave for out)"},
		{"actions: [{at: filled, disconnect: all}]\n", "the action disconnect at: filled (give a time"},
		{"actions: [{at: 12s, disconnect: all}]\n", "the action is at 12s, after the window of 10s has ended (lengthen phases.duration, or move the action earlier)"},
		{"actions: [{at: 10s, pause: consumers, for: 1s}]\n", "x.yaml:1:11: the pause begins at 10s, when the window of 10s is over"},
		{"actions: [{at: 10s, start: consumers}]\n", "consumers come after 10s, when the window of 10s is over (write at: filled"},
		{"actions: [{start: consumers}]\n", "consumers that start late, at 0s"},
		{"actions: [{at: 2s, pause: consumers, for: 3s}, {at: 4s, pause: consumers, for: 1s}]\n", "x.yaml:1:48: two actions pause: consumers at the same time, at 2s and at 4s (start the second when the first has ended"},
		{"workload: {consumer: {pause: 3s@2s}}\nactions: [{at: 4s, pause: consumers, for: 1s}]\n", "two actions pause: consumers at the same time"},
		{"workload: {loop: closed}\nactions: [{at: 4s, pause: consumers, for: 1s}]\n", "a closed loop waits for deliveries, and there are none while consumers are away"},
		{"workload: {pattern: request-reply}\nactions: [{at: 4s, pause: consumers, for: 1s}]\n", "consumers that start late or pause need the pattern deliver (choose pattern: deliver, or leave actions[0] out)"},
		{"workload: {pattern: publish}\nactions: [{at: 4s, disconnect: consumers}]\n", "the pattern publish has no consumers to disconnect"},
		{"actions: [{at: 4s, stop: producers}]\nphases: {duration: 10s}\n", "producers stop at 4s, but the window of their load lasts 10s (leave its length out"},
		{"actions: [{at: 4s, disconnect: all}]\nphases: {until: p99 ±5%}\n", "a window that ends as soon as a percentile is known may end before an action"},
		{"actions: [{at: 4s, disconnect: all, workload: live}]\n", `there is no workload "live" (the scenario has one workload`},
		{several + "actions: [{at: 5s, disconnect: all, workload: life}]\n", `there is no workload "life" (did you mean live?)`},
		{several + "actions: [{at: 2s, disconnect: producers}]\n", "the action is at 2s, and the workload feed begins at 4s (move the action later, or give it workload"},
		{several + "actions: [{at: 5s, pause: consumers, for: 1s, workload: feed}]\n", "workload feed: consumers that start late or pause need the pattern deliver"},
		{"workloads:\n  feed: {rate: 10/s, pattern: publish}\nactions: [{at: 5s, pause: consumers, for: 1s}]\n", "the action pause: consumers, and no workload has any"},
	} {
		s, err := Parse("x.yaml", []byte(c.text))
		if err == nil {
			err = s.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	// Without the name of a workload an action is for those that have anybody to whom it could happen.
	s := parsed(t, several+"actions: [{at: 5s, pause: consumers, for: 1s}]\n")
	if live, feed := s.Parts()[0].Scenario.Acts(), s.Parts()[1].Scenario.Acts(); len(live) != 1 || len(feed) != 0 {
		t.Errorf("live %+v, feed %+v", live, feed)
	}
}
