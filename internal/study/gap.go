package study

import (
	"fmt"
	"slices"
	"strings"

	"sixnines/internal/spell"
)

// gap is a reason for which a figure of a cell decides nothing, with the rounds that it concerns.
type gap struct {
	why          string // in words, alike for all figures and rounds that it concerns
	figure, cell string
	rounds       []int // ascending; none: the cell as a whole
}

// gaps are what is not known, in the order in which it was found.
type gaps []gap

// add adds a gap; rounds of the same reason, figure and cell are one gap.
func (g *gaps) add(x gap) {
	for i := range *g {
		if old := &(*g)[i]; old.why == x.why && old.figure == x.figure && old.cell == x.cell {
			for _, round := range x.rounds {
				if !slices.Contains(old.rounds, round) {
					old.rounds = append(slices.Clone(old.rounds), round)
				}
			}
			slices.Sort(old.rounds)
			return
		}
	}
	*g = append(*g, x)
}

// texts says each reason once, with the figures, cells and rounds that it concerns: figures that lack
// the same rounds of the same cell stand together.
func (g gaps) texts() []string {
	var out []string
	for i, x := range g {
		if slices.ContainsFunc(g[:i], func(y gap) bool { return y.why == x.why }) {
			continue
		}
		text := x.why
		if places := g.of(x.why); len(places) > 0 {
			text += ": " + strings.Join(places, "; ")
		}
		out = append(out, text)
	}
	return out
}

// of lists what a reason concerns, such as "p99 and p99.9 of redis/1KiB-3000 (rounds 2 and 6)".
func (g gaps) of(why string) []string {
	var places []string
	figures := map[string][]string{}
	for _, x := range g {
		if x.why != why || x.cell == "" {
			continue
		}
		place := x.cell
		if n := len(x.rounds); n > 0 {
			place += fmt.Sprintf(" (%s)", numbered(x.rounds))
		}
		if !slices.Contains(places, place) {
			places = append(places, place)
		}
		if x.figure != "" && !slices.Contains(figures[place], x.figure) {
			figures[place] = append(figures[place], x.figure)
		}
	}
	for i, place := range places {
		if of := figures[place]; len(of) > 0 {
			places[i] = spoken(of) + " of " + place
		}
	}
	return places
}

// numbered writes "round 2", "rounds 2, 6 and 8", or "rounds 1 to 6".
func numbered(rounds []int) string {
	n := len(rounds)
	switch {
	case n == 1:
		return fmt.Sprintf("round %d", rounds[0])
	case n > 2 && rounds[n-1]-rounds[0] == n-1:
		return fmt.Sprintf("rounds %d to %d", rounds[0], rounds[n-1])
	}
	var all []string
	for _, round := range rounds {
		all = append(all, spell.Count(round))
	}
	return "rounds " + spoken(all)
}

// spoken joins words as "a", "a and b", "a, b and c".
func spoken(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}
