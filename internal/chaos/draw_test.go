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

// Without a kind that is possible there is no timeline.
func TestDrawNothing(t *testing.T) {
	if all := Draw(1, Bounds{Window: time.Minute, Nodes: 1, Possible: func([]scenario.Action) bool { return false }}); all != nil {
		t.Errorf("%v", all)
	}
}
