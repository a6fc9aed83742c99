package report

import (
	"testing"

	"sixnines/result"
)

// TestMomentsOfCountersLeaveRoom fills a run with stretches of a counter, each
// longer than any pause: the pauses must be drawn all the same.
func TestMomentsOfCountersLeaveRoom(t *testing.T) {
	run := &result.Run{}
	const pauses = 20
	for i := range int64(500) {
		at := i * 250e6
		run.Pauses = append(run.Pauses, result.Pause{Start: at, End: at + 100e6, Source: result.PauseCrowded},
			result.Pause{Start: at + 100e6, End: at + 200e6, Source: result.PauseCrowded})
		if i < pauses {
			run.Pauses = append(run.Pauses, result.Pause{Start: at, End: at + 2e6, Source: result.PauseProcess})
		}
	}
	seen, stretches, covered := 0, 0, 0.0
	for _, m := range momentsOf([]*subject{{run: run}}) {
		switch {
		case m.Strip:
			stretches++
			covered += m.To - m.From
		case m.Pause:
			seen++
		}
	}
	if covered < 500*0.2-1e-6 || covered > 125 {
		t.Errorf("the stretches cover %v s, want all 100 s of them and no more than there are", covered)
	}
	if seen != pauses || stretches == 0 || stretches > momentLimit {
		t.Errorf("%d pauses and %d stretches are drawn, want %d and up to %d", seen, stretches, pauses, momentLimit)
	}
}
