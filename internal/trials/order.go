package trials

import (
	"cmp"
	"math"
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
	r := rand.New(rand.NewPCG(seed, 0x6e0))
	all := make([]Place, 0, cells*rounds)
	for round := 1; round <= rounds; round++ {
		for _, cell := range r.Perm(cells) {
			all = append(all, Place{cell, round})
		}
	}
	return all
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

// Grouped returns every cell as often as it has rounds. In each round the cells of a group, which
// one broker can serve, come together, so that it is needed once a round. groups and rounds are by
// cell; pairs are cells that are compared. Those of beside are made at the same time: they have as
// many rounds, and come next to each other in the place of the first, with the group of that.
//
// The order is drawn anew for every other round, and the round after it has the reverse: A B, B A.
// What drifts, or is left by the cell before, then affects both cells of a pair alike. Compared
// cells come as close together as that allows: next to each other within a group, and in groups
// that follow each other with the nearest pair first.
func Grouped(groups, rounds []int, pairs, beside [][2]int, seed uint64) []Place {
	o := newOrdering(groups, pairs, beside, seed)
	most := 0
	for _, n := range rounds {
		most = max(most, n)
	}
	var all []Place
	var order []int
	for round := 1; round <= most; round++ {
		if slices.Reverse(order); round%2 == 1 {
			order = o.cells(o.round())
		}
		for _, cell := range order {
			if rounds[cell] >= round {
				all = append(all, Place{cell, round})
			}
		}
	}
	return all
}

// ordering draws the order of a round. Its units are cells, and pairs of cells that are made at the same time.
type ordering struct {
	units  [][]int // the cells of each
	groups []int   // by unit
	pairs  [][2]int
	draw   *rand.Rand
}

func newOrdering(groups []int, pairs, beside [][2]int, seed uint64) *ordering {
	o := &ordering{draw: rand.New(rand.NewPCG(seed, 0x6e0))}
	unit := make([]int, len(groups)) // by cell
	for cell, group := range groups {
		in := slices.IndexFunc(beside, func(p [2]int) bool { return p[0] == cell || p[1] == cell })
		if in >= 0 && max(beside[in][0], beside[in][1]) == cell {
			unit[cell] = unit[min(beside[in][0], beside[in][1])]
			o.units[unit[cell]] = append(o.units[unit[cell]], cell)
			continue
		}
		unit[cell] = len(o.units)
		o.units, o.groups = append(o.units, []int{cell}), append(o.groups, group)
	}
	for _, p := range pairs {
		if a, b := unit[p[0]], unit[p[1]]; a != b {
			o.pairs = append(o.pairs, [2]int{a, b})
		}
	}
	return o
}

// cells returns the cells of units, in their order: of two that are made at the same time, who is first is drawn.
func (o *ordering) cells(units []int) (all []int) {
	for _, u := range units {
		cells := slices.Clone(o.units[u])
		if len(cells) == 2 && o.draw.IntN(2) == 1 {
			slices.Reverse(cells)
		}
		all = append(all, cells...)
	}
	return all
}

// round returns all units in a new order: of several that are drawn, the one in which compared ones
// are nearest to each other. Its reverse is as near, and drawn as often.
func (o *ordering) round() (best []int) {
	const drawn = 64
	if len(o.pairs) == 0 {
		return o.candidate()
	}
	least := math.MaxInt
	for range drawn {
		at := make([]int, len(o.groups))
		order := o.candidate()
		for i, unit := range order {
			at[unit] = i
		}
		sum := 0
		for _, p := range o.pairs {
			sum += max(at[p[0]]-at[p[1]], at[p[1]]-at[p[0]])
		}
		if sum < least {
			least, best = sum, order
		}
	}
	return best
}

// candidate returns all units in an order in which compared ones follow each other where they can.
func (o *ordering) candidate() []int {
	var names []int
	for _, g := range o.groups {
		if !slices.Contains(names, g) {
			names = append(names, g)
		}
	}
	var order []int
	for _, g := range o.chained(names, func(g, h int) bool {
		return slices.ContainsFunc(o.pairs, func(p [2]int) bool {
			a, b := o.groups[p[0]], o.groups[p[1]]
			return a == g && b == h || a == h && b == g
		})
	}) {
		var units []int
		for unit := range o.groups {
			if o.groups[unit] == g {
				units = append(units, unit)
			}
		}
		units = o.chained(units, o.compared)
		// Those whose partners came last come first. Then those of two cells, so that the second broker is started once.
		slices.SortStableFunc(units, func(a, b int) int {
			return cmp.Or(o.latest(order, b)-o.latest(order, a), len(o.units[b])-len(o.units[a]))
		})
		order = append(order, units...)
	}
	return order
}

// compared reports whether two units are compared.
func (o *ordering) compared(a, b int) bool {
	return slices.ContainsFunc(o.pairs, func(p [2]int) bool { return p == [2]int{a, b} || p == [2]int{b, a} })
}

// latest returns the last place in an order of a unit that is compared with this one, -1 if none is.
func (o *ordering) latest(order []int, unit int) int {
	for i := len(order) - 1; i >= 0; i-- {
		if o.compared(order[i], unit) {
			return i
		}
	}
	return -1
}

// chained returns values in random order in which one that belongs to the last comes next.
func (o *ordering) chained(all []int, belong func(a, b int) bool) []int {
	var left, out []int
	for _, i := range o.draw.Perm(len(all)) {
		left = append(left, all[i])
	}
	for len(left) > 0 {
		next := 0
		if len(out) > 0 {
			next = max(0, slices.IndexFunc(left, func(x int) bool { return belong(out[len(out)-1], x) }))
		}
		out = append(out, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return out
}
