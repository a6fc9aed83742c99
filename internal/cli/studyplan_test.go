package cli

import (
	"testing"
	"time"

	"sixnines/internal/trials"
	"sixnines/scenario"
)

// What a trial takes includes waiting for messages that an action loses, nodes that start again after
// the window, and reading back; and a broker that an action has changed serves no other trial.
func TestStudyEstimate(t *testing.T) {
	const load = "target: {driver: nats}\nphases: {warmup: 1s, duration: 5s, drain: 7s}\n"
	for _, tt := range []struct {
		name, text string
		lasts      time.Duration
		starts     int // of three trials
	}{
		{"nothing happens", load, 6 * time.Second, 1},
		{"what is kept is read", "target: {driver: jetstream}\nphases: {warmup: 1s, duration: 5s, drain: 7s, read_back: 1m}\n", 6*time.Second + readTakes, 1},
		{"consumers pause", load + "actions: [{at: 1s, pause: consumers, for: 1s}]\n", 6 * time.Second, 1},
		{"a node stalls", load + "actions: [{at: 1s, stall: {node: 0}, for: 1s}]\n", 13*time.Second + readTakes, 3},
		{"a node starts again in the window", load + "actions: [{at: 1s, kill: {node: 0}, restart: 1s}]\n", 13*time.Second + readTakes, 3},
		{"and after it", load + "actions: [{at: 4s, kill: {node: 0}, restart: 500ms}]\n", 13*time.Second + readTakes + startTakes - 500*time.Millisecond, 3},
	} {
		s, err := scenario.Parse("x.yaml", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		s.Normalise()
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		c := studyCell{cell: cell{Cell: trials.Cell{Takes: 6 * time.Second}, scenario: s}, managed: true, group: "one"}
		if got := c.lasts(); got != tt.lasts {
			t.Errorf("%s: a trial lasts %v, want %v", tt.name, got, tt.lasts)
		}
		p := &studyPlan{cells: []studyCell{c}}
		all, starts := p.foreseen([]trials.Place{{Round: 1}, {Round: 2}, {Round: 3}})
		if want := 3*(tt.lasts+trialBeside) + time.Duration(tt.starts)*startTakes; starts != tt.starts || all != want {
			t.Errorf("%s: three trials take %v with %d starts, want %v with %d", tt.name, all, starts, want, tt.starts)
		}
	}
}
