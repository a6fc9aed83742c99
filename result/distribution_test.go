package result

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestDistributionKeepsItsForm: every property that the JSON has, read and written again, is the
// same, and those of a figure are in one place.
func TestDistributionKeepsItsForm(t *testing.T) {
	const text = `{"count":9,"censored":1,"refusals":2,"min":1,"max":9,"mean":4.5,"stddev":2,` +
		`"percentiles":{"50":5,"90":9,"99":0},"intervals":{"50":[4,6],"90":[0,0]},"sequential":{"50":true},"unsupported":{"99.9":3688},` +
		`"at_least":{"90":true,"max":true},"open":{"90":true},"refused":{"90":true,"max":true},"open_refused":{"90":true},` +
		`"succeeded":{"count":0,"max":0,"percentiles":{},"intervals":{},"samples":0},"few":{"90":true},"episodes":{"99":1},` +
		`"blocks":{"50":[0,0]},"blocks_na":{"90":"why"},"floor_ratio":{"50":0},"own_share":{"50":0},"receive_share":{"50":0.5},"samples":12}`
	var d Distribution
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	want := map[Percentile]Figure{
		"50": {Value: 5, Interval: &Bounds{Low: 4, High: 6, Sequential: true}, Blocks: &Bounds{},
			FloorRatio: new(0.0), OwnShare: new(0.0), ReceiveShare: new(0.5)},
		"90":   {Value: 9, AtLeast: true, Refused: true, Few: true, BlocksNA: "why", Interval: &Bounds{Open: true, OpenRefused: true}},
		"99":   {Episodes: 1},
		"99.9": {Needs: 3688},
	}
	if !reflect.DeepEqual(d.Figures, want) || !d.MaxAtLeast || !d.MaxRefused || d.Min != 1 || d.Mean != 4.5 || d.Samples != 12 {
		t.Errorf("%+v", d)
	}
	if again, err := json.Marshal(&d); err != nil || string(again) != text {
		t.Errorf("%v\n%s\nwas\n%s", err, again, text)
	}
}

func TestDistributionAt(t *testing.T) {
	d := &Distribution{Count: 9, Max: 7, MaxAtLeast: true, Figures: map[Percentile]Figure{"50": {Value: 5}, "75": {}, "99": {Needs: 368}}}
	for name, want := range map[string]bool{"50": true, "75": true, "99": false, "99.9": false, "max": true} {
		if f, ok := d.At(Percentile(name)); ok != want || name == "max" && (f.Value != 7 || !f.AtLeast) {
			t.Errorf("%s: %+v, %v", name, f, ok)
		}
	}
	var names []string
	for name := range d.All() {
		names = append(names, string(name))
	}
	if !reflect.DeepEqual(names, []string{"50", "75"}) || !d.Published() {
		t.Errorf("%v", names)
	}
	var none *Distribution
	if _, ok := none.At("50"); ok || none.Published() {
		t.Error("no distribution has figures")
	}
}
