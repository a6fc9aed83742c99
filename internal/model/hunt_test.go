package model

import (
	"flag"
	"fmt"
	"strconv"
	"testing"
	"time"

	"sixnines/internal/engine/enginetest"
	"sixnines/internal/hunttest"
	"sixnines/result"
	"sixnines/scenario"
)

// only is the seed of one scenario to be run, with what came out.
var only = flag.Uint64("seed", 0, "run the scenario of this seed only, and print it")

// seeds is how many scenarios are run unless SIXNINES_HUNT asks for more.
var seeds = flag.Int("seeds", 1000, "how many scenarios to run")

// What the engine measures in virtual time, and what the judge makes of it, is what the
// model says, whatever the scenario and the broker's faults.
func TestHunt(t *testing.T) {
	if *only != 0 {
		if d := hunt(t, *only); d != "" {
			t.Fatal(d)
		}
		text, interrupted := Draw(*only)
		t.Logf("no difference\n%sinterrupted: %v", text, interrupted)
		return
	}
	n := uint64(hunttest.Cases(t, *seeds, 0))
	const lanes = 4
	for lane := range uint64(lanes) {
		t.Run(strconv.FormatUint(lane, 10), func(t *testing.T) {
			t.Parallel()
			different := 0
			for seed := lane + 1; seed <= n && different < 5; seed += lanes {
				if d := hunt(t, seed); d != "" {
					t.Error(d)
					different++
				}
			}
		})
	}
}

// hunt runs the scenario of a seed and returns in what it differs.
func hunt(t *testing.T, seed uint64) string {
	text, interrupted := Draw(seed)
	report := func(format string, args ...any) string {
		return fmt.Sprintf("seed %d: %s\n%sinterrupted: %v\nagain: go test ./internal/model -run Hunt -seed %d", seed, fmt.Sprintf(format, args...), text, interrupted, seed)
	}
	s, err := scenario.Parse("drawn.yaml", []byte(text))
	if err != nil {
		return report("%v", err)
	}
	s.Normalise()
	run, err := enginetest.Run(t, enginetest.Load{Scenario: text, Interrupt: interrupted})
	if err != nil {
		return report("%v", err)
	}
	// Senders stop some milliseconds before clients are told to leave: nothing says whether
	// what was due meanwhile was sent.
	early, err := compared(s, run, interrupted, false)
	if err != nil {
		return report("%v", err)
	}
	if early == "" {
		return ""
	}
	if late, err := compared(s, run, interrupted, true); err != nil || late == "" {
		return ""
	}
	return report("%s", early)
}

// compared is in what a run differs from what the model says of the scenario: of load that
// goes on to the end, or to the limit of the drain.
func compared(s *scenario.Scenario, run *result.Run, interrupted time.Duration, toTheEnd bool) (string, error) {
	var moments []Moments
	for _, part := range run.Parts() {
		m := Moments{Interrupted: int64(interrupted), Closed: closing(part)}
		if toTheEnd {
			m.Stopped = m.Closed
		}
		moments = append(moments, m)
	}
	want, err := Predict(s, moments)
	if err != nil {
		return "", err
	}
	parts := run.Parts()
	if len(parts) != len(want) {
		return fmt.Sprintf("%d workloads, and must be %d", len(parts), len(want)), nil
	}
	for i, o := range want {
		if d := difference(parts[i], o); d != "" {
			return o.Workload + d, nil
		}
	}
	return "", nil
}
