package merge

import (
	"maps"
	"testing"

	"sixnines/result"
)

// What the samplers of two agents counted adds up; if one counted nothing, there is no check of the whole: the
// stamps would be of more messages than the counts.
func TestLittlesLawOfAllAgentsOrNone(t *testing.T) {
	a := map[result.Vital]float64{result.VitalLittleSampled: 3, result.VitalLittleSpan: 2e9, result.VitalLittleSamples: 1000, result.VitalLittleTolerance: 0.1, "cpu": 1}
	b := map[result.Vital]float64{result.VitalLittleSampled: 4, result.VitalLittleSpan: 2e9, result.VitalLittleSamples: 900, result.VitalLittleTolerance: 0.1}
	var both littles
	both.add(a)
	both.add(b)
	all := units{}.worst(maps.Clone(a), b)
	both.put(all)
	if all[result.VitalLittleSampled] != 7 || all[result.VitalLittleSamples] != 1900 {
		t.Errorf("both: %v", all)
	}
	var one littles
	one.add(a)
	one.add(map[result.Vital]float64{"cpu": 1})
	all = maps.Clone(a)
	one.put(all)
	if len(all) != 1 {
		t.Errorf("one of two: %v", all)
	}
}
