package cli

import (
	"slices"
	"testing"
	"time"

	"sixnines/internal/study"
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

// The cells that the built-in studies compare are made a few trials from each other: the average over
// all pairs is below what any order of their systems gives that does not look at them.
func TestComparedCellsAreNear(t *testing.T) {
	for _, name := range []string{"message-queue-latency", "kafka-events"} {
		s, err := study.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		cells, err := s.Cells(study.Default)
		if err != nil {
			t.Fatal(err)
		}
		p := &studyPlan{study: s}
		var groups, rounds []int
		for _, c := range cells {
			p.cells = append(p.cells, studyCell{Cell: c})
			rounds = append(rounds, c.Rounds)
			at := 0 // kafka-events has one broker
			if name != "kafka-events" {
				at = slices.IndexFunc(s.Systems, func(x study.System) bool { return x.Name == c.System.Name })
			}
			groups = append(groups, at)
		}
		apart := func(pairs [][2]int) float64 {
			sum, n := 0, 0
			for seed := range uint64(20) {
				at := map[trials.Place]int{}
				for i, x := range trials.Grouped(groups, rounds, pairs, seed) {
					at[x] = i
				}
				for _, x := range p.pairs() {
					d := at[trials.Place{Cell: x[0], Round: 1}] - at[trials.Place{Cell: x[1], Round: 1}]
					sum, n = sum+max(d, -d), n+1
				}
			}
			return float64(sum) / float64(n)
		}
		if near, random := apart(p.pairs()), apart(nil); near > 0.75*random {
			t.Errorf("%s: compared cells are %.1f trials apart, and in a random order %.1f", name, near, random)
		} else {
			t.Logf("%s: %.1f trials apart, %.1f in a random order", name, near, random)
		}
	}
}
