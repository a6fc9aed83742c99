package judge

import (
	"strings"
	"testing"
	"time"

	"sixnines/result"
	"sixnines/scenario"
)

// Objectives over stretches are met, missed or undecided; what has no figure is undecided.
func TestObjectivesOfStretches(t *testing.T) {
	at := 4 * time.Second
	stall := done(acted(stalled(noise(5), at, time.Second, 1e6), 100*time.Millisecond, 0, at).run(t))
	stall.Summary = Summarise(stall, Inputs{})
	none := done(acted(noise(5), 100*time.Millisecond, 0, at).run(t))
	none.Summary = Summarise(none, Inputs{})
	early := done(acted(stalled(noise(5), 200*time.Millisecond, time.Second, 1e6), 100*time.Millisecond, 0, 200*time.Millisecond).run(t))
	early.Summary = Summarise(early, Inputs{})
	forever := done(acted(stalled(noise(5), at, 7*time.Second, 1e6), 100*time.Millisecond, 0, at).run(t))
	forever.Summary = Summarise(forever, Inputs{})
	absent := acted(noise(5), 100*time.Millisecond, 0, at).run(t)
	absent.Summary = Summarise(absent, Inputs{})
	absent.Summary.Verdict.Status = result.Valid // it is INVALID for that, which shows nothing either
	for _, c := range []struct {
		name string
		run  *result.Run
		text string
		want Outcome
		part string
	}{
		{"stall", stall, "unavailable < 1500ms", Met, "after disconnect at 4.00 s"},
		{"stall", stall, "unavailable < 900ms", Missed, ""},
		{"stall", stall, "recovered < 1500ms", Met, ""},
		{"stall", stall, "recovered < 500ms", Missed, ""},
		{"stall", stall, "recovered < 1s", Undecided, ""}, // within what is known
		{"stall", stall, "recovered > 500ms", Met, ""},
		{"stall", stall, "unavailable < 2s during disconnect", Met, ""},
		{"stall", stall, "unavailable < 2s during pause", Undecided, "no such action happened"},
		{"stall", stall, "delivery.response p90 < 30ms outside actions", Met, "outside the effects"},
		{"stall", stall, "delivery.response p90 < 30ms", Undecided, ""},
		{"stall", stall, "delivery.response p50 < 1s during disconnect", Met, "due while they had an effect"},
		{"stall", stall, "delivery.response p50 < 100ms during actions", Missed, ""},
		{"stall", stall, "delivery.response p99.99 < 2s during actions", Undecided, "needs"},
		{"stall", stall, "delivery.response max < 900ms during actions", Missed, ""},
		{"stall", stall, "rate >= 50% during disconnect", Met, "100 %"},
		{"none", none, "unavailable < 1ms", Met, "no effect of disconnect"},
		{"none", none, "recovered < 1ms", Met, ""},
		{"early", early, "unavailable < 5s", Undecided, "is not known"},
		{"early", early, "recovered < 5s", Undecided, "is not known"},
		{"forever", forever, "recovered < 5s", Missed, "did not recover before the run ended"},
		{"forever", forever, "recovered < 1m", Undecided, ""},
		{"absent", absent, "unavailable < 5s", Undecided, "did not happen"},
		{"absent", absent, "delivery.response p50 < 1s during disconnect", Undecided, "did not happen"},
	} {
		o, err := scenario.ParseObjective(c.text)
		if err != nil {
			t.Fatal(err)
		}
		d := Decide(c.run, o)
		if d.Outcome != c.want || !strings.Contains(d.Text, c.part) {
			t.Errorf("%s: %s is %s: %s; want %s %q", c.name, c.text, d.Outcome, d.Text, c.want, c.part)
		}
	}
}
