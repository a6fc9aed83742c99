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
		all := Grouped(groups, rounds, seed)
		if len(all) != 14 || !slices.Equal(all, Grouped(groups, rounds, seed)) {
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
