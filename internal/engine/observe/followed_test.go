package observe

import "testing"

// One message of each sixteen is followed, and not always the same one.
func TestFollowedIsASample(t *testing.T) {
	var places [stageEvery]int
	for group := range uint64(1000) {
		n := 0
		for i := range uint64(stageEvery) {
			if _, ok := Followed(group*stageEvery + i); ok {
				n++
				places[i]++
			}
		}
		if n != 1 {
			t.Fatalf("of group %d %d are followed", group, n)
		}
	}
	for i, n := range places {
		if n < 40 || n > 85 {
			t.Errorf("place %d is followed %d times in 1,000", i, n)
		}
	}
}
