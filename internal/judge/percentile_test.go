package judge

import (
	"reflect"
	"strconv"
	"testing"

	"sixnines/result"
)

// What summaries publish is what the function gives for the same percentile.
func TestPercentileOf(t *testing.T) {
	x := merged(upTo(2000), nil)
	d := Distribution(result.DeliveryService, x, 2000)
	for _, name := range result.Percentiles() {
		percent, err := strconv.ParseFloat(string(name), 64)
		if err != nil {
			t.Fatal(err)
		}
		p := PercentileOf(x, 2000, percent)
		if f := d.Figures[name]; !reflect.DeepEqual(p, f) {
			t.Errorf("p%s: %+v; the summary has %+v", name, p, f)
		}
	}
	if p := PercentileOf(x, 2000, 99.7); p.Value != 1994 || p.Interval == nil {
		t.Errorf("p99.7 of 1 to 2000 is %+v", p)
	}
}
