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

// of lists what a reason concerns, such as "p99 and p99.9 of nats/1KiB-3000 and redis/1KiB-3000 (rounds 2
// and 6)".
func (g gaps) of(why string) []string {
	type concern struct {
		figures, cells []string
		rounds         string
	}
	var all []*concern // of one cell each
	for _, x := range g {
		if x.why != why || x.cell == "" {
			continue
		}
		rounds := ""
		if len(x.rounds) > 0 {
			rounds = " (" + numbered(x.rounds) + ")"
		}
		i := slices.IndexFunc(all, func(c *concern) bool { return c.cells[0] == x.cell && c.rounds == rounds })
		if i < 0 {
			i, all = len(all), append(all, &concern{cells: []string{x.cell}, rounds: rounds})
		}
		if x.figure != "" {
			all[i].figures = append(all[i].figures, x.figure)
		}
	}
	var joined []*concern // of all cells alike
	for _, c := range all {
		i := slices.IndexFunc(joined, func(o *concern) bool { return o.rounds == c.rounds && slices.Equal(o.figures, c.figures) })
		if i < 0 {
			joined = append(joined, c)
			continue
		}
		joined[i].cells = append(joined[i].cells, c.cells...)
	}
	var out []string
	for _, c := range joined {
		text := spoken(c.cells) + c.rounds
		if len(c.figures) > 0 {
			text = spoken(c.figures) + " of " + text
		}
		out = append(out, text)
	}
	return out
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
