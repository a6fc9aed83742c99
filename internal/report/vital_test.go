package report

import (
	"testing"

	"sixnines/result"
)

func TestVitalRows(t *testing.T) {
	run := &result.Run{}
	for _, x := range []float64{3, 1, 2, 4} {
		run.Series = append(run.Series, result.Point{Phase: result.PhaseMeasure, Vitals: map[result.Vital]float64{
			"go.gc.pause.max": x * 1e6, "process.cpu": x / 10, "process.rss": x * 1024, "a.new.one": x / 3}})
	}
	run.Series = append(run.Series, result.Point{Phase: result.PhaseDrain, Vitals: map[result.Vital]float64{"process.cpu": 99}})
	want := [][4]string{
		{"process.cpu", "10 %", "20 %", "40 %"},
		{"go.gc.pause.max", "1.00 ms", "2.00 ms", "4.00 ms"},
		{"process.rss", "1 KiB", "2 KiB", "4 KiB"},
		{"a.new.one", "0.3333", "0.6667", "1.333"},
	}
	got := vitalRows(run)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d: %v", len(got), len(want), got)
	}
	for i, w := range want {
		if g := [4]string(textsOf(got[i].Cells)[:4]); g != w {
			t.Errorf("row %d is %v, want %v", i, g, w)
		}
	}
}
