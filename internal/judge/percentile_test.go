package judge

import (
	"strconv"
	"testing"

	"sixnines/result"
)

// What summaries publish is what the function gives for the same percentile.
func TestPercentileOf(t *testing.T) {
	x := merged(upTo(2000), nil)
	d := Distribution(result.DeliveryService, x, 2000)
	for _, name := range result.Percentiles() {
		percent, err := strconv.ParseFloat(name, 64)
		if err != nil {
			t.Fatal(err)
		}
		p := PercentileOf(x, 2000, percent)
		if p.Value != d.Percentiles[name] || p.Bounded && d.Intervals[name] != [2]int64{p.Low, p.High} || p.Needs != d.Unsupported[name] {
			t.Errorf("p%s: %+v; the summary has %d, %v, needs %d", name, p, d.Percentiles[name], d.Intervals[name], d.Unsupported[name])
		}
	}
	if p := PercentileOf(x, 2000, 99.7); p.Value != 1994 || !p.Bounded {
		t.Errorf("p99.7 of 1 to 2000 is %+v", p)
	}
}
