package judge

import (
	"testing"

	"sixnines/result"
)

func TestRate(t *testing.T) {
	second := func(ms int64, due, sent int64) result.Point {
		return result.Point{Phase: result.PhaseMeasure, End: ms * 1e6, Counters: result.Counters{Scheduled: due, Sent: sent}}
	}
	tests := []struct {
		name   string
		series []result.Point
		worst  float64
		at     int
	}{
		{"nothing", nil, 1, -1},
		{"all sent", []result.Point{second(1000, 100, 100), second(1000, 100, 100)}, 1, -1},
		{"one across the end", []result.Point{second(1000, 1, 0), second(1000, 1, 2)}, 1, -1},
		{"half in the second one", []result.Point{second(1000, 100, 100), second(1000, 100, 49), second(1000, 100, 151)}, 0.5, 1},
		{"a remainder belongs to the last second", []result.Point{second(500, 50, 50), second(500, 50, 50), second(400, 40, 0)}, 101.0 / 140, 0},
		{"the last second overlaps the one before", []result.Point{second(600, 60, 60), second(400, 40, 40), second(600, 60, 0)}, 0.41, 1},
		{"a window that is shorter than a second", []result.Point{second(200, 100, 9)}, 0.1, 0},
		{"two short intervals", []result.Point{second(200, 50, 50), second(200, 50, 9)}, 0.6, 0},
		{"one message in a short window", []result.Point{second(200, 1, 0)}, 1, -1},
		{"a second that ended a little early", []result.Point{second(993, 100, 9)}, 0.1, 0},
		{"short intervals make up a second", []result.Point{second(500, 50, 0), second(500, 50, 99), second(500, 50, 29), second(500, 50, 50)}, 0.8, 2},
		{"the drain is no part", []result.Point{{Phase: result.PhaseDrain, End: 1e9, Counters: result.Counters{Scheduled: 100}}}, 1, -1},
		{"a refused message had its turn", []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Counters: result.Counters{Scheduled: 10, Sent: 5, Rejected: 5}}}, 1, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := &result.Run{Series: tt.series}
			if w := worst(run); w.share != tt.worst || w.at != tt.at {
				t.Errorf("worst %+v, want %v at %d", w, tt.worst, tt.at)
			}
		})
	}
	run := &result.Run{Header: result.Header{Rate: 100}, Series: tests[3].series}
	if r := Summarise(run, Inputs{End: 3e9}).Rate; r != (result.Rate{Asked: 100, Due: 100, Sent: 100, WorstSecond: 0.5}) {
		t.Errorf("%+v", r)
	}
}

func TestInputsComeFromTheSummary(t *testing.T) {
	through := &result.Throughput{Messages: 5}
	run := &result.Run{Summary: &result.Summary{End: 3, Resolved: 4, Interrupted: true, Aborted: true, Throughput: through}}
	if in := InputsOf(run); in != (Inputs{End: 3, Resolved: 4, Interrupted: true, Aborted: true, Throughput: through}) {
		t.Errorf("%+v", in)
	}
	run = &result.Run{Series: []result.Point{{Phase: result.PhaseMeasure, End: 7}, {Phase: result.PhaseDrain, End: 9}}}
	if in := InputsOf(run); in != (Inputs{End: 7, Resolved: 9, CutShort: true}) {
		t.Errorf("cut short: %+v", in)
	}
	run.Header.Window = 8
	if in := (Inputs{}).complete(run); in.End != 8 || in.Resolved != 9 {
		t.Errorf("defaults: %+v", in)
	}
	if in := (Inputs{Interrupted: true}).complete(run); in.End != 0 {
		t.Errorf("a window ended at once: %+v", in)
	}
}
