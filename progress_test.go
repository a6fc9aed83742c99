package sixnines

import (
	"encoding/json"
	"reflect"
	"testing"

	"sixnines/internal/engine"
)

// What the engine tells reaches users whole: a field that is forgotten is one of the two
// that differ.
func TestProgressIsWhole(t *testing.T) {
	var p engine.Progress
	fill := func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.String:
				f.SetString(v.Type().Field(i).Name)
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Int64:
				f.SetInt(int64(i + 1))
			case reflect.Float64:
				f.SetFloat(float64(i + 1))
			case reflect.Struct:
				f.Field(0).SetInt(7)
			}
		}
	}
	fill(reflect.ValueOf(&p).Elem())
	p.Workloads = []engine.Progress{p}
	told, err := json.Marshal(progressOf(p))
	if err != nil {
		t.Fatal(err)
	}
	var got, want map[string]any
	engines, _ := json.Marshal(p)
	if json.Unmarshal(told, &got) != nil || json.Unmarshal(engines, &want) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("users are told %s, and the engine tells %s", told, engines)
	}
}
