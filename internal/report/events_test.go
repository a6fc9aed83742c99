package report

import (
	"strings"
	"testing"

	"sixnines/internal/judge"
	"sixnines/result"
)

// What a broker said is on the first screen, its kinds with their counts and first words, and
// all of it where everything is shown.
func TestEventsAreShown(t *testing.T) {
	run := openRun().make()
	const words = "Permissions Violation for Publish to \"bench.a\""
	run.Events = []result.Event{
		{At: 1e9, Kind: "disconnected", Detail: "read: connection reset by peer; the client reconnects"},
		{At: 2e9, Kind: "disconnected", Detail: "read: connection reset by peer; the client reconnects", Times: 4, Last: 5e9},
		{At: 3e9, Kind: "error", Detail: words},
		{At: 4e9, Kind: "refused", Detail: "too many\x1b[31m", Count: 12},
		{At: 5e9, Kind: "error", Detail: "of another workload", Workload: "other"},
	}
	run.Summary = judge.Summarise(run, judge.InputsOf(run))
	screen := strings.Join(strings.Fields(screenText(t, Options{Width: 120}, run)), " ")
	for _, want := range []string{"disconnected (5): read: connection reset by peer; the client reconnects", words} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen has no %q:\n%s", want, screen)
		}
	}
	full := strings.Join(strings.Fields(terminal(t, Options{Full: true, Width: 200}, run)), " ")
	for _, want := range []string{"EVENTS", "read: connection reset by peer; the client reconnects, the last time at 5.00 s", words, "too many [31m (12 messages)"} {
		if !strings.Contains(full, want) {
			t.Errorf("everything has no %q:\n%s", want, full)
		}
	}
	if strings.Contains(full, "of another workload ") {
		t.Error("an event of another workload is shown")
	}
	run.Events = nil
	if eventsTable(subjectOf(run)) != nil {
		t.Error("a table of no events")
	}
}
