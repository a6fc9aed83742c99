package engine

import (
	"reflect"
	"slices"
	"testing"

	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
)

// Data of a load goes one way: no part has a later one, nor the load or the run.
func TestPartsHoldThoseBeforeThemOnly(t *testing.T) {
	order := []reflect.Type{reflect.TypeFor[plan.Plan](), reflect.TypeFor[session](), reflect.TypeFor[observe.Recording](), reflect.TypeFor[sending](),
		reflect.TypeFor[receiving](), reflect.TypeFor[accounts](), reflect.TypeFor[load](), reflect.TypeFor[run]()}
	last := func(part any) int { return slices.Index(order, reflect.TypeOf(part)) }
	for _, tt := range []struct {
		of   any
		most int // the latest part that it may have
	}{
		{plan.Plan{}, -1}, {session{}, last(plan.Plan{})}, {observe.Recording{}, last(session{})}, {sending{}, last(observe.Recording{})},
		{receiving{}, last(sending{})}, {accounts{}, last(receiving{})},
		{observe.RawSink{}, last(plan.Plan{})}, {lane{}, last(sending{})}, {pacer{}, last(sending{})}, {paced{}, last(sending{})}, {closed{}, last(sending{})},
		{flatOut{}, last(receiving{})}, {consumer{}, last(receiving{})}, {sideProbe{}, last(observe.Recording{})}, {load{}, last(accounts{})},
	} {
		typ := reflect.TypeOf(tt.of)
		for i := range typ.NumField() {
			f := typ.Field(i)
			for f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.Slice {
				f.Type = f.Type.Elem()
			}
			if held := slices.Index(order, f.Type); held > tt.most {
				t.Errorf("%v holds %v", typ, f.Type)
			}
		}
	}
}
