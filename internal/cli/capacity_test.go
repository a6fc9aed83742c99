package cli

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sixnines/driver"
	"sixnines/internal/judge"
	"sixnines/internal/report"
	"sixnines/internal/sweep"
	"sixnines/result"
	"sixnines/scenario"
)

func TestMachines(t *testing.T) {
	for _, tt := range []struct {
		wanted, holds, headroom float64
		want                    int
	}{
		{2e6, 1e6, 0, 2}, {2e6, 1e6, 0.5, 4}, {2e6 + 1, 1e6, 0, 3}, {1, 1e6, 0, 1}, {0.3, 0.1, 0, 3}, {1e6, 1e6, 0.3, 2},
	} {
		if got := machines(tt.wanted, tt.holds, tt.headroom); got != tt.want {
			t.Errorf("%g by %g with %g free: %d, want %d", tt.wanted, tt.holds, tt.headroom, got, tt.want)
		}
	}
}

// A trial has the messages that its percentiles take, and is at least as long as
// was asked.
func TestTrialsAreLongEnough(t *testing.T) {
	s := &scenario.Scenario{}
	s.Normalise()
	for _, text := range []string{"lost == 0", "delivery.response p99 < 1ms", "delivery.response max < 1s"} {
		o, err := scenario.ParseObjective(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Objectives = append(s.Objectives, o)
	}
	c := &capacityRun{cell: cell{scenario: s}, load: s.Parts()[0]}
	for rate, want := range map[uint64]time.Duration{1000: 20 * time.Second, 100: 29400 * time.Millisecond} { // 4 × 368 messages, twice
		if got := c.window(sweep.Trial{Rate: scenario.PerSecond(rate), Times: 2}); got != want {
			t.Errorf("at %d/s: %s, want %s", rate, got, want)
		}
	}
}

// A trial has the messages that the percentiles of each workload take, at its own
// rate, and the rate of the one that is searched for.
func TestTrialsOfSeveralWorkloads(t *testing.T) {
	s, err := scenario.Parse("x.yaml", []byte(`
target: {driver: mem}
workloads:
  events: {rate: 50/s, objectives: [delivery.response p99 < 1s]}
  traffic: {rate: 100/s, background: true}
phases: {duration: 10s}
`))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	load, err := searched(s, "traffic")
	if err != nil {
		t.Fatal(err)
	}
	c := &capacityRun{cell: cell{scenario: s}, load: load}
	for _, rate := range []uint64{10, 1000} {
		if got := c.window(sweep.Trial{Rate: scenario.PerSecond(rate), Times: 1}); got != 29400*time.Millisecond { // 4 × 368 messages at 50/s
			t.Errorf("at %d/s: %s", rate, got)
		}
	}
	at := c.at(scenario.PerSecond(7))
	if at.Workloads[1].Rate != scenario.PerSecond(7) || at.Workloads[0].Rate != scenario.PerSecond(50) || s.Workloads[1].Rate != scenario.PerSecond(100) {
		t.Errorf("%+v, before %+v", at.Workloads, s.Workloads)
	}
}

// What the answer says, in each of its forms.
func TestCapacityText(t *testing.T) {
	s := &scenario.Scenario{}
	s.Normalise()
	o, err := scenario.ParseObjective("lost == 0")
	if err != nil {
		t.Fatal(err)
	}
	s.Objectives = []scenario.Objective{o}
	for _, tt := range []struct {
		name   string
		answer sweep.Answer
		want   []string
	}{
		{"an interval", sweep.Answer{Bracket: sweep.Bracket{Holds: 10_000, Fails: 10_300}, HoldsConfirmed: true, FailsConfirmed: true, Limit: sweep.Latency, Why: "slow.",
			Below: sweep.Bracket{Holds: 10_000, Fails: 10_300}, Above: sweep.Bracket{Holds: 10_000, Fails: 10_300}},
			[]string{"lies in [10,000/s, 10,300/s), with 95 % confidence, confirmed by new trials.", "Limited by latency: slow.", "no hysteresis was found",
				"20,000/s with 50 % headroom needs 4 such systems, if they share nothing"}},
		{"at least", sweep.Answer{Bracket: sweep.Bracket{Holds: 10_000}, HoldsConfirmed: true, Limit: sweep.Generator, Why: "busy"},
			[]string{"is at least 10,000/s, with 95 % confidence, confirmed", "Limited by generator: busy.", "needs at most 4 such systems"}},
		{"hysteresis", sweep.Answer{Bracket: sweep.Bracket{Holds: 8000, Fails: 10_300}, Hysteresis: sweep.Hysteresis{Rate: 9000, Fresh: sweep.Tally{Met: 5, Of: 5}, After: sweep.Tally{Met: 0, Of: 5}, P: 1.0 / 252, Shown: true}, Below: sweep.Bracket{Holds: 10_000, Fails: 10_300}, Above: sweep.Bracket{Holds: 8000, Fails: 9000}, Stopped: "stopped after 9 trials"},
			[]string{"[8,000/s, 10,300/s), not confirmed", "Approached from below, 10,000/s holds; from above, 8,000/s: hysteresis", "ended early: stopped after 9 trials; the same command with --resume dir continues"}},
		{"at least, unconfirmed", sweep.Answer{Bracket: sweep.Bracket{Holds: 10_000}}, []string{"needs 4 such systems, if 10,000/s holds, which new trials have not confirmed, and they share nothing"}},
		{"nothing holds", sweep.Answer{Bracket: sweep.Bracket{Fails: 500}, FailsConfirmed: true}, []string{"No tested rate holds: 500/s, the lowest, fails, with 95 % confidence, confirmed by new trials.",
			"How many such systems 20,000/s needs is not known: no rate was shown to hold."}},
		{"a lower one was not decided", sweep.Answer{Bracket: sweep.Bracket{Fails: 600}, FailsConfirmed: true}, []string{"No rate was confirmed to hold; 600/s fails, with 95 % confidence, confirmed by new trials."}},
		{"not after an overload", sweep.Answer{Bracket: sweep.Bracket{Fails: 10_300}, Below: sweep.Bracket{Holds: 10_000, Fails: 10_300}, Above: sweep.Bracket{Fails: 2}},
			[]string{"No rate was confirmed to hold; 10,300/s fails, not confirmed by new trials.", "Approached from below, 10,000/s holds; from above, no tested rate"}},
		{"nothing is known", sweep.Answer{}, []string{"No tested rate was shown to hold or to fail."}},
	} {
		tt.answer.Confidence = 0.95
		tt.answer.Trials = []sweep.Made{{Trial: sweep.Trial{Rate: scenario.PerSecond(500), Times: 2, Stage: sweep.FromBelow}, Observation: sweep.Observation{Outcome: judge.Missed, Limit: sweep.Backlog}},
			{Trial: sweep.Trial{Rate: scenario.PerSecond(500), Times: 2, Stage: sweep.Confirming}, Observation: sweep.Observation{Outcome: judge.Undecided, Attempts: []result.Attempt{{Ending: result.AttemptCut}}}}}
		c := &capacityRun{series: &series{app: &app{}, dir: "dir"}, cell: cell{scenario: s, entry: driver.Entry{Name: "null"}}, load: s.Parts()[0]}
		object := c.object(tt.answer, capacityOptions{wanted: scenario.PerSecond(20_000), headroom: percentFlag{share: 0.5}})
		for _, width := range []int{80, 1000} {
			var b strings.Builder
			if err := report.CapacityTerminal(&b, c.report(tt.answer, object), report.Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(b.String()), " ")
			for _, want := range append(tt.want, "Trial 2, confirming at 500/s, was made again: it was ended early before, and counts as undecided.", "null, deliver, 256B: lost == 0", "from below 500/s 20 s missed backlog") {
				if !strings.Contains(text, want) {
					t.Errorf("%s: no %q in\n%s", tt.name, want, b.String())
				}
			}
			for l := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(l) - 1; n > width {
					t.Errorf("%s: a line of %d columns: %s", tt.name, n, l)
				}
			}
		}
		if (object.For.Machines == nil) != (tt.answer.Holds == 0) || object.For.Confirmed != tt.answer.HoldsConfirmed || object.For.AtMost && !object.For.Confirmed || (object.Fails == nil) != tt.answer.AtLeast() {
			t.Errorf("%s: %+v", tt.name, object)
		}
	}
}

// What a trial shows has the earlier attempts at it.
func TestTrialMadeAgain(t *testing.T) {
	s := &scenario.Scenario{}
	s.Normalise()
	c := &capacityRun{cell: cell{scenario: s}, load: s.Parts()[0]}
	found, err := c.observe(&result.Run{Header: result.Header{Trial: &result.Trial{Attempts: []result.Attempt{{Ending: result.AttemptCut}}}}})
	if err != nil || len(found.Attempts) != 1 || found.Outcome != judge.Undecided {
		t.Errorf("%+v, %v", found, err)
	}
}
