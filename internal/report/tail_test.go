package report

import (
	"slices"
	"testing"

	"sixnines/result"
)

func TestMetBy(t *testing.T) {
	run := &result.Run{
		Events: []result.Event{{At: 50, Kind: "stall"}, {At: 99, Kind: "stall"}, {At: 100, Kind: "late"}, {At: 9, Kind: "early"}},
		Pauses: []result.Pause{
			{Start: 0, End: 30, Source: result.PauseProcess},    // 20 of it within
			{Start: 20, End: 40, Source: result.PauseProcess},   // overlaps the first: 10 more
			{Start: 22, End: 25, Source: result.PauseProcess},   // adds nothing
			{Start: 10, End: 90, Source: result.PauseIdle},      // more than the process
			{Start: 0, End: 100, Source: result.PauseSteal},     // a counter's stretch: no length
			{Start: 90, End: 200, Source: result.PauseSwap},     // begins when all is over
			{Start: 0, End: 10, Source: result.PauseRetransmit}, // ends before it begins
		},
	}
	got := metBy(run, result.Exemplar{Intended: 10, Done: 90})
	if want := []string{"stall", "idle 80 ns", "process 30 ns", "steal"}; !slices.Equal(got, want) {
		t.Errorf("met %q, want %q", got, want)
	}
	if got := foremost([]string{"a", "b", "c", "d"}); got != "a, b +2" {
		t.Errorf("foremost is %q", got)
	}
	if got := foremost(nil); got != "" {
		t.Errorf("foremost of nothing is %q", got)
	}
}
