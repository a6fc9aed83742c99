package exact

import (
	"slices"
	"testing"
)

func TestNearestRank(t *testing.T) {
	values := make([]int64, 1000)
	for i := range values {
		values[i] = int64(1000 - i)
	}
	h := Summarise(values)
	want := map[string]int64{"50": 500, "90": 900, "99": 990, "99.9": 999, "99.99": 1000}
	for label, v := range want {
		if h.Percentiles[label] != v {
			t.Errorf("p%s = %d, want %d", label, h.Percentiles[label], v)
		}
	}
	if h.Min != 1 || h.Max != 1000 || h.Count != 1000 || !slices.IsSorted(values) {
		t.Errorf("%+v", h)
	}
	if one := Summarise([]int64{3}); one.Percentiles["99.99"] != 3 {
		t.Errorf("one value: %+v", one)
	}
}
