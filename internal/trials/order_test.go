package trials

import (
	"slices"
	"testing"
)

// Each round has each cell once, and all orders of three cells come up.
func TestShuffled(t *testing.T) {
	orders := map[[3]int]bool{}
	for seed := range uint64(60) {
		all := Shuffled(3, 5, seed)
		if len(all) != 15 || !slices.Equal(all, Shuffled(3, 5, seed)) {
			t.Fatalf("seed %d: %v", seed, all)
		}
		for round := range 5 {
			var order [3]int
			seen := map[int]bool{}
			for i, at := range all[3*round : 3*round+3] {
				if at.Round != round+1 {
					t.Errorf("seed %d: %v in round %d", seed, at, round+1)
				}
				order[i], seen[at.Cell] = at.Cell, true
			}
			if len(seen) != 3 {
				t.Errorf("seed %d: round %d is %v", seed, round+1, order)
			}
			orders[order] = true
		}
	}
	if len(orders) != 6 {
		t.Errorf("%d orders of three cells; there are 6", len(orders))
	}
}

// The second cell goes first in half of the rounds, and not always in the same.
func TestBalanced(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(50) {
		order := Balanced(10, seed)
		if len(order) != 20 || !slices.Equal(order, Balanced(10, seed)) {
			t.Fatalf("seed %d: %v", seed, order)
		}
		swapped, text := 0, ""
		for i := 0; i < 20; i += 2 {
			first, second := order[i], order[i+1]
			if first.Cell+second.Cell != 1 || first.Round != i/2+1 || second.Round != i/2+1 {
				t.Errorf("seed %d: %v, %v", seed, first, second)
			}
			swapped += first.Cell
			text += string(rune('0' + first.Cell))
		}
		if swapped != 5 {
			t.Errorf("seed %d: the second goes first in %d of 10", seed, swapped)
		}
		orders[text] = true
	}
	if len(orders) < 30 {
		t.Errorf("%d orders from 50 seeds", len(orders))
	}
	n := 0
	for seed := range uint64(100) {
		for i, at := range Balanced(1, seed) {
			if i == 0 {
				n += at.Cell
			}
		}
	}
	if n < 20 || n > 80 {
		t.Errorf("of one pair the second goes first in %d of 100", n)
	}
}
