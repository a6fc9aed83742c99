package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"sixnines/internal/compare"
	"sixnines/result"
)

// slicedComparison is a comparison of three pairs made at the same time, the second with A on both sides. The last slice of the
// third pair has no figure of B.
func slicedComparison() *compare.Comparison {
	s := compare.Slices{Metric: result.DeliveryResponse, Percentile: result.P50, Length: 500 * time.Millisecond, Pairs: []compare.SlicedPair{
		{Pair: 1, A: []int64{1e6, 2e6}, B: []int64{11e5, 22e5}}, {Pair: 2, Control: true, A: []int64{1e6, 2e6}, B: []int64{1e6, 2e6}}, {Pair: 3, A: []int64{1e6, 2e6}, B: []int64{12e5, 0}}}}
	p90, p99 := s, s
	p90.Percentile, p99.Percentile = result.P90, result.P99
	row := compare.Row{Percentile: result.P50, Outcome: compare.Undecided, Spread: &compare.Spread{Pairs: 0.02, Slices: 0.05, Decides: 34}}
	return &compare.Comparison{Slices: []compare.Slices{s, p90, p99}, Pairs: make([]compare.Pair, 2),
		Metrics: []compare.Metric{{Metric: result.DeliveryResponse, Judged: true, Rows: []compare.Row{row}}}}
}

// Charts over time have a segment for each pair, with gaps between pairs on a page, too; pairs of the control are lines of their own.
func TestSlicesCharts(t *testing.T) {
	c := slicedComparison()
	all := slicesCharts(c, result.DeliveryResponse)
	if len(all) != 3 || !strings.Contains(all[0].Title, "p50") || !strings.Contains(all[1].Title, "p90") || len(all[2].Lines) != 8 {
		t.Fatalf("%d charts", len(all))
	}
	for _, x := range all {
		if !x.fit() || !strings.Contains(x.Caption, "slices of 500 ms") || !strings.Contains(x.Caption, "A on both") {
			t.Errorf("%s: %s", x.Key, x.Caption)
		}
		names := map[string]bool{}
		for _, l := range x.Lines {
			if names[l.Name] {
				t.Errorf("%s: two lines are named %s", x.Key, l.Name)
			}
			names[l.Name] = true
		}
	}
	for i, want := range [][]float64{{0.1, 0.1, math.NaN(), math.NaN(), math.NaN(), math.NaN(), 0.2, math.NaN(), math.NaN()},
		{math.NaN(), math.NaN(), math.NaN(), 0, 0, math.NaN(), math.NaN(), math.NaN(), math.NaN()}} {
		l := all[0].Lines[i]
		for k, y := range l.Y {
			if len(l.Y) != len(want) || math.IsNaN(y) != math.IsNaN(want[k]) || math.Abs(y-want[k]) > 1e-9 {
				t.Fatalf("%s: %v, want %v", l.Name, l.Y, want)
			}
		}
		if l.X[0] <= 1 || l.X[1] >= 2 || l.Labels[1] != "pair 1, from 500 ms" {
			t.Errorf("%s: %v %v", l.Name, l.X, l.Labels)
		}
	}
	for _, d := range chartData(all) {
		if d.Bridge {
			t.Errorf("%s: the page draws lines across gaps", d.Key)
		}
	}
	if slicesCharts(c, result.DeliveryService) != nil {
		t.Error("charts of a metric without slices")
	}
}

func TestSpreadIsTold(t *testing.T) {
	c := slicedComparison()
	if got := strings.Join(decidingWords(c), ""); got != "p50 about 34 pairs of ±2 %" {
		t.Error(got)
	}
	if x := spreadTable(c); x == nil || len(x.Rows) != 1 || x.Rows[0].Cells[3].Text != "about 34 pairs" {
		t.Errorf("%+v", x)
	}
	c.Metrics[0].Rows[0].Spread.Decides = 0
	if words := decidingWords(c); words != nil {
		t.Error(words)
	}
}
