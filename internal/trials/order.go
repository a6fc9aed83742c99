package trials

import (
	"math/rand/v2"
	"slices"
)

// Place is one cell of one round in the order of a series.
type Place struct {
	Cell  int // from 0
	Round int // from 1
}

// Shuffled returns every cell once a round, in a new random order for each round, so that
// drift during the series does not favour any cell. The same seed gives the same order.
func Shuffled(cells, rounds int, seed uint64) []Place {
	return Grouped(make([]int, cells), slices.Repeat([]int{rounds}, cells), seed)
}

// Balanced returns the order of two cells: each goes first in half of the rounds, chosen at
// random, so that the after-effects of a run on the next one affect both equally.
func Balanced(rounds int, seed uint64) []Place {
	r := rand.New(rand.NewPCG(seed, 0xab))
	second := make([]bool, rounds) // the second cell goes first
	for i := range second {
		second[i] = i < rounds/2
	}
	if rounds%2 == 1 {
		second[rounds-1] = r.IntN(2) == 1
	}
	r.Shuffle(rounds, func(i, j int) { second[i], second[j] = second[j], second[i] })
	all := make([]Place, 0, 2*rounds)
	for i, swapped := range second {
		first := 0
		if swapped {
			first = 1
		}
		all = append(all, Place{first, i + 1}, Place{1 - first, i + 1})
	}
	return all
}

// Grouped returns every cell as often as it has rounds, in a new random order for each round:
// groups are shuffled, and cells within each group, so that the broker of a group is needed
// once a round. groups and rounds are by cell.
func Grouped(groups, rounds []int, seed uint64) []Place {
	r := rand.New(rand.NewPCG(seed, 0x6e0))
	var names []int
	most := 0
	for i, g := range groups {
		most = max(most, rounds[i])
		if !slices.Contains(names, g) {
			names = append(names, g)
		}
	}
	var all []Place
	for round := 1; round <= most; round++ {
		for _, k := range r.Perm(len(names)) {
			for _, cell := range r.Perm(len(groups)) {
				if groups[cell] == names[k] && rounds[cell] >= round {
					all = append(all, Place{cell, round})
				}
			}
		}
	}
	return all
}
