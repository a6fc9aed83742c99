package trials

import "math/rand/v2"

// Place is the turn of a cell in a round.
type Place struct {
	Cell  int // from 0
	Round int // from 1
}

// Shuffled returns every cell once a round, in an order that is drawn anew for
// each round, so that what drifts meanwhile favours none.
func Shuffled(cells, rounds int, seed uint64) []Place {
	r := rand.New(rand.NewPCG(seed, 0x5e7))
	all := make([]Place, 0, cells*rounds)
	for round := 1; round <= rounds; round++ {
		for _, cell := range r.Perm(cells) {
			all = append(all, Place{cell, round})
		}
	}
	return all
}

// Balanced returns the order of two cells: each goes first in half of the rounds,
// of which the lot draws which ones, so that what a run leaves behind for the
// next falls on both alike.
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
