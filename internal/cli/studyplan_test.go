package cli

import (
	"maps"
	"slices"
	"testing"
	"time"

	"sixnines/drivers/all"
	"sixnines/internal/stats"
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
		c := studyCell{Cell: study.Cell{Load: &study.Load{}}, cell: cell{Cell: trials.Cell{Takes: 6 * time.Second}, scenario: s}, managed: true, group: "one"}
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
				for i, x := range trials.Grouped(groups, rounds, pairs, nil, seed) {
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

// What the default lengths of the studies that follow an original leave undecided by their design is known, is
// little, and has the machine that decides it. Nothing is among it for a lack of messages: each round, one made in
// place of another included, has those that the compared percentiles take. The seeds of kafka-events draw fewer
// than the mean.
func TestDesignsDecide(t *testing.T) {
	const small, large = 2, 1024
	type undecided map[string]bool // by conclusion: whether other tests may refute it
	want := map[string]map[int]undecided{
		"commit-logs":           {},
		"kafka-events":          {small: {"keys-help": false, "recommended": false}},
		"latency-is-wrong":      {},
		"message-queue-latency": {},
		"rabbitmq-performance":  {small: {"alarm-paces": false, "two-producers": false}, large: {"alarm-paces": false}},
		"so-you-wanna-go-fast":  {small: {"ring-faster": true, "ring-contended": true, "padding": false, "lock-free-scales": false}},
	}
	env := &Env{Drivers: all.Set(), Environ: []string{"SIXNINES_HOME=" + t.TempDir()}}
	blocked := 0
	for name, by := range want {
		s, err := study.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for processors, length := range map[int]string{small: study.Default, large: study.Full} {
			p, err := env.planStudy(s, studyOptions{length: length})
			if err != nil {
				t.Fatal(err)
			}
			all, err := p.study.Foregone(length, processors, p.leastDue)
			if err != nil {
				t.Fatal(err)
			}
			got := undecided{}
			for _, x := range all {
				got[x.Conclusion] = x.Refutable
				if !by[processors][x.Conclusion] {
					t.Logf("%s, %s: %s: %s", name, length, x.Conclusion, x.Why)
				}
			}
			if !maps.Equal(got, by[processors]) {
				t.Errorf("%s, %s, with %d processors cannot decide %v, want %v", name, length, processors, got, by[processors])
			}
			for _, refutable := range got {
				if processors == small && !refutable {
					blocked++
				}
			}
		}
	}
	if blocked > 8 {
		t.Errorf("%d conclusions cannot be decided on a small machine", blocked)
	}
}

// Random arrivals are counted for each round, and the least counts.
func TestMessagesDue(t *testing.T) {
	s, err := study.Find("kafka-events")
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Drivers: all.Set(), Environ: []string{"SIXNINES_HOME=" + t.TempDir()}}
	p, err := env.planStudy(s, studyOptions{length: study.Default})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.cells {
		c := &p.cells[i]
		mean := int64(40 * c.scenario.Phases.Duration.Seconds())
		needs := stats.MinSamples(stats.Fraction(99), study.Confidence) // p99 is in the page's tables
		if n := p.leastDue(&c.Cell, "event"); n >= mean || n < needs || p.leastDue(&c.Cell, "") != n {
			t.Errorf("%s: at least %d events are due, of %d in the mean, and p99 takes %d", c.Name, n, mean, needs)
		}
	}
}
