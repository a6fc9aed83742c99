package resultfile

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"sixnines/result"
)

// fill sets everything in v: nothing is left out but what one in empty leaves
// out, 0: nothing.
func fill(rng *rand.Rand, v reflect.Value, empty int) {
	if empty > 0 && rng.IntN(empty) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(rng.Int64()>>rng.IntN(64) | 1)
		if v.Kind() == reflect.Int32 {
			v.SetInt(7)
		}
	case reflect.Uint64:
		v.SetUint(rng.Uint64() | 1)
	case reflect.Float64:
		v.SetFloat((rng.Float64() - 0.5) * math.Pow(10, float64(rng.IntN(60)-30)))
	case reflect.String:
		v.SetString([]string{"process.cpu", "a\"b\\c", "<&>", "tab\t", "µs", "lag.own", "", "\xff"}[rng.IntN(8)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rng, v.Elem(), empty)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i), empty)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i), empty)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+rng.IntN(3), 3))
		for i := range v.Len() {
			fill(rng, v.Index(i), empty)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + rng.IntN(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(rng, key, 0)
			fill(rng, value, empty)
			v.SetMapIndex(key, value)
		}
	default:
		panic(v.Kind().String())
	}
}

// The line of an interval is what encoding/json makes of it, whatever is in it: a
// field that is forgotten fails this.
func TestLineIsWhatJSONMakes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var l lines
	for i := range 3000 {
		var v result.Interval
		fill(rng, reflect.ValueOf(&v).Elem(), min(i, 5)) // the first one has everything
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.interval(&v)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%v\n%s, want\n%s", err, got, want)
		}
	}
}

func TestLineLeavesNoGarbage(t *testing.T) {
	v := result.Interval{Phase: result.PhaseMeasure, Vitals: map[result.Vital]float64{"a": 1.5, "b": 2e-9, "c": 3}, Metrics: map[result.Metric]*result.MetricInterval{
		result.LagOwn: {Hist: "abc"}, result.DeliveryResponse: {Hist: "def", Slots: [][2]int64{{1, 2}}, Own: []result.OwnBand{{Band: 4, Count: 1}}}}}
	var l lines
	if n := testing.AllocsPerRun(100, func() {
		if _, err := l.interval(&v); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
