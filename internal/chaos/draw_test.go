package chaos

import (
	"reflect"
	"testing"
	"time"

	"sixnines/scenario"
)

// A timeline follows from its seed, lies in its part of the window, has only actions that are possible, and
// differs between seeds; over some seeds each possible kind comes.
func TestDraw(t *testing.T) {
	for _, window := range []time.Duration{2 * time.Second, time.Hour} {
		for _, nodes := range []int{1, 3} {
			b := Bounds{Window: window, Nodes: nodes, Possible: func(all []scenario.Action) bool {
				s := scenario.Scenario{Target: scenario.Target{Nodes: nodes}, Phases: scenario.Phases{Duration: window}, Actions: all}
				s.Normalise()
				return s.Validate() == nil
			}}
			seen := map[scenario.ActionKind]int{}
			different := false
			first := Draw(1, b)
			for seed := uint64(1); seed <= 8; seed++ {
				all := Draw(seed, b)
				if !reflect.DeepEqual(all, Draw(seed, b)) {
					t.Fatalf("seed %d draws two timelines", seed)
				}
				different = different || !reflect.DeepEqual(all, first)
				if !b.Possible(all) {
					t.Errorf("seed %d: not possible: %v", seed, all)
				}
				if len(all) > longest {
					t.Errorf("seed %d: %d actions", seed, len(all))
				}
				s := scenario.Scenario{Target: scenario.Target{Nodes: nodes}, Phases: scenario.Phases{Duration: window}, Actions: all}
				for _, a := range s.Acts() {
					seen[a.Kind]++
					if a.At.After < window/10 || a.End() > window*3/4+shortest {
						t.Errorf("seed %d, window %v: %s is outside of its part", seed, window, a)
					}
				}
			}
			if !different {
				t.Error("8 seeds draw one timeline")
			}
			for _, k := range []scenario.ActionKind{scenario.ActionPause, scenario.ActionDisconnect, scenario.ActionStall, scenario.ActionKill, scenario.ActionNetwork} {
				if seen[k] == 0 {
					t.Errorf("window %v: no %s in 8 timelines", window, k)
				}
			}
		}
	}
}

// A node that is started again has time to answer before the next action on it, and all nodes have before connections
// are cut. Other actions may come meanwhile.
func TestDrawLeavesNodesTimeToStart(t *testing.T) {
	const starting = 4 * time.Second
	possible := func(all []scenario.Action) bool {
		s := scenario.Scenario{Target: scenario.Target{Nodes: 3}, Phases: scenario.Phases{Duration: time.Minute}, Actions: all}
		s.Normalise()
		return s.Validate() == nil
	}
	restarts, meanwhile := 0, 0
	bounds := Bounds{Window: time.Minute, Nodes: 3, Starting: starting, Possible: possible}
	for seed := uint64(1); seed <= 40; seed++ {
		s := scenario.Scenario{Actions: Draw(seed, bounds)}
		acts := s.Acts()
		for i, a := range acts {
			if a.Nodes() == "" {
				continue
			}
			for _, b := range acts[i+1:] {
				if b.Nodes() == a.Nodes() && b.At.After < a.End()+bounds.margin() {
					t.Errorf("seed %d: %s comes at the end of %s", seed, b, a)
				}
			}
			if a.Restart == nil {
				continue
			}
			restarts++
			for _, b := range acts[i+1:] {
				if b.At.After >= a.End()+starting {
					continue
				}
				meanwhile++
				same := b.Nodes() == a.Nodes() || a.Nodes() == scenario.EveryNode && b.Nodes() != "" || b.Nodes() == scenario.EveryNode
				if same || b.Kind == scenario.ActionDisconnect {
					t.Errorf("seed %d: %s comes within %v of the restart of %s", seed, b, starting, a)
				}
			}
		}
	}
	if restarts < 40 || meanwhile < 10 {
		t.Errorf("%d restarts, and %d actions on others meanwhile: they show nothing", restarts, meanwhile)
	}
}

// Without a kind that is possible there is no timeline.
func TestDrawNothing(t *testing.T) {
	if all := Draw(1, Bounds{Window: time.Minute, Nodes: 1, Possible: func([]scenario.Action) bool { return false }}); all != nil {
		t.Errorf("%v", all)
	}
}
