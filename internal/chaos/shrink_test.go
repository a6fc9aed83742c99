package chaos

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// contains reports whether part has all of need.
func contains(part, need []int) bool {
	return !slices.ContainsFunc(need, func(n int) bool { return !slices.Contains(part, n) })
}

// Exactly the items that are needed together remain, in their order.
func TestShrink(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		items := r.Perm(1 + r.IntN(40))
		var need []int
		for _, x := range items {
			if r.IntN(8) == 0 {
				need = append(need, x)
			}
		}
		asked := 0
		got, err := Shrink(items, func(part []int) (bool, error) {
			asked++
			return contains(part, need), nil
		})
		if err != nil || got == nil || !slices.Equal(got, need) {
			t.Fatalf("of %v, of which %v are needed: %v, %v", items, need, got, err)
		}
		if most := len(items)*len(items) + 3*len(items) + 1; asked > most { // the method's worst case
			t.Errorf("%d items: asked %d times", len(items), asked)
		}
	}
}

// Items that do not fail have no part, and what was found before an error is not lost.
func TestShrinkEnds(t *testing.T) {
	if got, err := Shrink([]int{1, 2, 3}, func([]int) (bool, error) { return false, nil }); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	stop := errors.New("stopped")
	asked := 0
	got, err := Shrink([]int{1, 2, 3, 4, 5, 6, 7, 8}, func(part []int) (bool, error) {
		if asked++; asked > 2 {
			return false, stop
		}
		return slices.Contains(part, 8), nil
	})
	if !errors.Is(err, stop) || !slices.Contains(got, 8) || len(got) == 8 {
		t.Errorf("%v, %v", got, err)
	}
}
