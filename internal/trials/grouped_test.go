package trials

import (
	"slices"
	"testing"
)

// Each round has each cell that has this round once, with the cells of a group together, and
// groups and cells in changing orders.
func TestGrouped(t *testing.T) {
	groups, rounds := []int{0, 1, 0, 2, 1}, []int{3, 3, 3, 2, 3}
	firsts := map[int]bool{}
	for seed := range uint64(30) {
		all := Grouped(groups, rounds, nil, nil, seed)
		if len(all) != 14 || !slices.Equal(all, Grouped(groups, rounds, nil, nil, seed)) {
			t.Fatalf("seed %d: %v", seed, all)
		}
		seen, changes := map[Place]bool{}, 0
		for i, at := range all {
			if seen[at] || at.Round > rounds[at.Cell] || i > 0 && at.Round < all[i-1].Round {
				t.Errorf("seed %d: %v at %d of %v", seed, at, i, all)
			}
			seen[at] = true
			if i > 0 && at.Round == all[i-1].Round && groups[at.Cell] != groups[all[i-1].Cell] {
				changes++
			}
		}
		if changes != 2+2+1 {
			t.Errorf("seed %d: %d changes of the group in %v", seed, changes, all)
		}
		firsts[all[0].Cell] = true
	}
	if len(firsts) != len(groups) {
		t.Errorf("only %v come first", firsts)
	}
}

// Compared cells are next to each other, each first in half of the rounds: A B, B A. Those of two
// groups are as near as the cells of their groups allow.
func TestPairsAreAdjacent(t *testing.T) {
	// Two cells of each of three groups; group 3 is compared with nothing, and comes in between of none.
	groups := []int{0, 0, 1, 1, 2, 2, 3, 3}
	rounds := slices.Repeat([]int{6}, len(groups))
	within, across := [][2]int{{0, 1}}, [][2]int{{2, 4}, {3, 5}}
	starts := map[bool]int{}
	for seed := range uint64(40) {
		at := map[Place]int{}
		all := Grouped(groups, rounds, slices.Concat(within, across), nil, seed)
		for i, p := range all {
			at[p] = i
		}
		if len(at) != len(groups)*6 {
			t.Fatalf("seed %d: %v", seed, all)
		}
		for round := 1; round <= 6; round++ {
			apart := func(p [2]int) int { return at[Place{p[1], round}] - at[Place{p[0], round}] }
			for _, p := range slices.Concat(within, across) {
				if round%2 == 0 && apart(p) != -(at[Place{p[1], round - 1}]-at[Place{p[0], round - 1}]) {
					t.Errorf("seed %d, round %d: %v is not reversed: %v", seed, round, p, all)
				}
			}
			if d := apart(within[0]); d*d != 1 {
				t.Errorf("seed %d, round %d: %d apart", seed, round, d)
			}
			if near, far := apart(across[0]), apart(across[1]); near*near+far*far != 1+9 {
				t.Errorf("seed %d, round %d: %d and %d apart", seed, round, near, far)
			}
			if round%2 == 1 {
				starts[apart(within[0]) > 0]++
			}
		}
	}
	if starts[true] < 30 || starts[false] < 30 {
		t.Errorf("who comes first is not drawn: %v", starts)
	}
}

// Cells that are made at the same time follow each other in each round, whatever their groups are, and each is
// first in half of the rounds; the others stay near to what they are compared with.
func TestCellsBesideEachOther(t *testing.T) {
	groups, rounds := []int{0, 0, 0, 1, 1, 1}, slices.Repeat([]int{6}, 6)
	beside, compared := [][2]int{{0, 3}, {4, 1}}, [][2]int{{0, 3}, {1, 4}, {2, 5}}
	first := map[int]int{}
	for seed := range uint64(40) {
		at := map[Place]int{}
		for i, p := range Grouped(groups, rounds, compared, beside, seed) {
			at[p] = i
		}
		if len(at) != 6*6 {
			t.Fatalf("seed %d: %v", seed, at)
		}
		for round := 1; round <= 6; round++ {
			for _, p := range beside {
				d := at[Place{p[1], round}] - at[Place{p[0], round}]
				if d*d != 1 {
					t.Errorf("seed %d, round %d: %v are %d apart", seed, round, p, d)
				}
				if round%2 == 0 && d != at[Place{p[0], round - 1}]-at[Place{p[1], round - 1}] {
					t.Errorf("seed %d, round %d: %v are not reversed", seed, round, p)
				}
				if d > 0 && round%2 == 1 {
					first[p[0]]++
				}
			}
			// The pairs come first or last, so that the second broker is started once, and the two that are made alone meet.
			if d := at[Place{2, round}] - at[Place{5, round}]; d*d != 1 {
				t.Errorf("seed %d, round %d: those made alone are %d apart", seed, round, d)
			}
		}
	}
	for cell, n := range first {
		if n < 30 || n > 90 { // of 120
			t.Errorf("%d is first in %d of 120 drawn rounds", cell, n)
		}
	}
}

// Trials that are not wanted now stay planned and do not count.
func TestWanted(t *testing.T) {
	s, err := New(t.TempDir(), planOf(3, 2))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var made []string
	var last Progress
	err = s.Run(Options{Wanted: func(x Trial) bool { return x.Cell == 1 }, Make: write(&made), Progress: func(p Progress) { last = p }})
	if err != nil || len(made) != 2 || s.Count(Made) != 2 || s.Count(Planned) != 4 {
		t.Errorf("%v: %v", err, made)
	}
	if last != (Progress{Done: 2, Of: 2}) {
		t.Errorf("%+v", last)
	}
	if err := s.Run(Options{Make: write(&made), Progress: func(p Progress) { last = p }}); err != nil || !s.Complete() || last.Done != 6 {
		t.Errorf("%v: %v, %+v", err, made, last)
	}
}
