package stats

import (
	"math"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
		{nil, math.NaN()}, {[]float64{1, math.NaN(), 2}, math.NaN()},
	} {
		before := slices.Clone(tt.x)
		got := Median(tt.x)
		if got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("median of %v is %v, want %v", tt.x, got, tt.want)
		}
		if len(before) > 1 && before[0] != tt.x[0] {
			t.Errorf("%v was sorted in place", tt.x)
		}
	}
}

func TestMedianInterval(t *testing.T) {
	lo, hi, ok := MedianInterval([]float64{9, 1, 8, 2, 7, 3, 6, 4, 5, 10}, 0.95)
	if !ok || lo != 2 || hi != 9 {
		t.Errorf("median of 1 to 10: %v to %v, %v, want 2 to 9", lo, hi, ok)
	}
	if _, _, ok := MedianInterval([]float64{1, 2, 3, 4, 5}, 0.95); ok {
		t.Error("five values bound a median at 95 %")
	}
}

func TestMedianRatio(t *testing.T) {
	a := []float64{10, 22, 33, 44, 55, 66, 84}
	b := []float64{10, 20, 30, 40, 50, 60, 70}
	r, err := MedianRatio(a, b, 0.95)
	if err != nil || math.Abs(r.Median-1.1) > 1e-15 || r.Lo != 1 || r.Hi != 1.2 || !r.Bounded || r.Pairs != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = MedianRatio(a[:5], b[:5], 0.95)
	if err != nil || r.Bounded || math.Abs(r.Median-1.1) > 1e-15 {
		t.Errorf("five pairs: %+v, %v", r, err)
	}
	for name, tt := range map[string][2][]float64{
		"lengths differ": {{1, 2}, {1}},
		"none":           {nil, nil},
		"zero":           {{1}, {0}},
		"negative":       {{-1}, {1}},
		"not a number":   {{1}, {math.NaN()}},
		"infinite":       {{math.Inf(1)}, {1}},
	} {
		if r, err := MedianRatio(tt[0], tt[1], 0.95); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
