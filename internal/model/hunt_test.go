package model

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"sixnines/internal/engine/enginetest"
	"sixnines/internal/hunttest"
	"sixnines/result"
	"sixnines/scenario"
)

// only is the seed of one scenario to be run, with what came out.
var only = flag.Uint64("seed", 0, "run the scenario of this seed only, and print it")

// first is the seed to begin with.
var first = flag.Uint64("first", 1, "the first seed of those that are run")

// acting is how many of a hundred scenarios have actions.
var acting = flag.Int("acting", 0, "how many of a hundred scenarios have actions")

// seeds is how many scenarios are run unless SIXNINES_HUNT asks for more.
var seeds = flag.Int("seeds", 1000, "how many scenarios to run")

// The engine's measurements in virtual time and the judge's conclusions agree with the model,
// whatever the scenario and the broker's faults.
func TestHunt(t *testing.T) {
	if *only != 0 {
		if d := hunt(t, *only, *acting, new(costsSeen)); d != "" {
			t.Fatal(d)
		}
		text, interrupted := Draw(*only, *acting)
		t.Logf("no difference\n%sinterrupted: %v", text, interrupted)
		return
	}
	huntAll(t, hunttest.Cases(t, *seeds, 0), *acting)
}

// So do they where each scenario has actions, and what these cost. The first thousand seeds are those for which the model knows
// all that may happen at one instant.
func TestHuntWithActions(t *testing.T) {
	if *only != 0 || *acting != 0 {
		t.Skip("the flags -seed and -acting are for TestHunt")
	}
	huntAll(t, hunttest.Cases(t, 60, 1000), 100)
}

// huntAll hunts by n seeds. Of a hundred scenarios as many have actions.
func huntAll(t *testing.T, n, acting int) {
	var seen costsSeen
	t.Cleanup(func() { // when all lanes have ended
		if t.Logf("costs of actions: %+v", &seen.counts); n >= 300 && acting == 100 && min(seen.counts.Effects, seen.counts.None, seen.counts.Unknown, seen.counts.Outages) == 0 {
			t.Errorf("a kind of cost was never there to be compared: %+v", &seen.counts)
		}
	})
	const lanes = 4
	for lane := range uint64(lanes) {
		t.Run(strconv.FormatUint(lane, 10), func(t *testing.T) {
			t.Parallel()
			different := 0
			for seed := *first + lane; seed < *first+uint64(n) && different < 5; seed += lanes {
				if d := hunt(t, seed, acting, &seen); d != "" {
					t.Error(d)
					different++
				}
			}
		})
	}
}

// hunt runs the scenario of a seed and returns in what it differs.
func hunt(t *testing.T, seed uint64, acting int, seen *costsSeen) string {
	text, interrupted := Draw(seed, acting)
	report := func(format string, args ...any) string {
		return fmt.Sprintf("seed %d: %s\n%sinterrupted: %v\nagain: go test ./internal/model -run Hunt -acting %d -seed %d", seed, fmt.Sprintf(format, args...), text, interrupted, acting, seed)
	}
	s, err := scenario.Parse("drawn.yaml", []byte(text))
	if err != nil {
		return report("%v", err)
	}
	s.Normalise()
	var left leaving
	load := enginetest.Load{Scenario: text, Interrupt: interrupted, Change: left.of}
	perform(s, &load)
	run, err := enginetest.Run(t, load)
	if err != nil {
		return report("%v", err)
	}
	seen.add(run)
	parts := run.Parts()
	var moments []Moments
	for _, part := range parts {
		moments = append(moments, Moments{Interrupted: int64(interrupted), Closed: left.since(part.Header.Started), Connected: connected(part), Sends: left.sends(part.Header.Started)})
	}
	early, sent, err := compared(s, run, moments)
	if err != nil {
		return report("%v", err)
	}
	if early == "" {
		return ""
	}
	// Some milliseconds lie between the instant at which all is resolved or given up and the
	// closing of clients. When senders stop in this time is undefined: after any of the
	// messages sent meanwhile, in their order.
	for len(sent) > 0 {
		for i, part := range parts {
			moments[i].Stopped = sent[0] + 1 - int64(part.Header.From)
		}
		late, more, err := compared(s, run, moments)
		if err != nil {
			return report("%v", err)
		}
		if late == "" {
			return ""
		}
		sent = more
	}
	return report("%s", early)
}

// compared returns how a run differs from the model of its scenario, and which further messages
// would have been sent before clients were closed.
func compared(s *scenario.Scenario, run *result.Run, moments []Moments) (different string, sent []int64, err error) {
	orders := 1
	for _, part := range s.Parts() {
		orders *= members(&part.Scenario.Workload)
	}
	tied, edge := false, false
	for n := range orders << (2 * mostConsumers) {
		order, takes, shut := n%orders, n/orders%(1<<mostConsumers), n/orders>>mostConsumers
		if takes > 0 && !tied || shut > 0 && !edge {
			continue
		}
		for i, part := range s.Parts() {
			// How many probes were sent before decides whose turn it is in a group.
			all := members(&part.Scenario.Workload)
			moments[i].Turn, moments[i].Takes, moments[i].Shut = order%all, takes, shut
			order /= all
		}
		want, err := Predict(s, moments)
		if err != nil {
			return "", nil, err
		}
		d := differs(run, want, moments)
		if d == "" {
			return "", nil, nil
		}
		if n == 0 {
			different, sent = d, want[0].Next
		}
		for _, o := range want {
			tied, edge = tied || o.Tied, edge || o.Edge
		}
	}
	return different, sent, nil
}

// members is how many take turns in a load's largest group.
func members(w *scenario.Workload) int {
	most := 1
	for _, g := range layOut(w).groups {
		most = max(most, len(g.members))
	}
	return most
}

// mostConsumers is how many consumers a load has that is drawn.
const mostConsumers = 4

// differs returns how a run differs from the outcomes that the model has for its loads.
func differs(run *result.Run, want []*Outcome, moments []Moments) string {
	parts := run.Parts()
	if len(parts) != len(want) {
		return fmt.Sprintf("%d workloads, and must be %d", len(parts), len(want))
	}
	for i, o := range want {
		if d := difference(parts[i], o, moments[i].Closed); d != "" {
			return strings.TrimSpace(o.Workload + " " + d)
		}
	}
	return ""
}
