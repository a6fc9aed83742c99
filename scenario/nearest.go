package scenario

import "slices"

// nearest returns the candidate that s was most likely meant to be, by edit
// distance, or "" if none is near: more than about a third of the letters would
// have to change.
func nearest(s string, candidates ...string) string {
	best, distance := "", 1+(len(s)+1)/3
	if len(s) > 64 {
		return ""
	}
	for _, c := range candidates {
		if d := editDistance(s, c); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// nearestHint returns nearest as the end of a hint.
func nearestHint(s string, candidates ...string) string {
	if n := nearest(s, candidates...); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// editDistance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			change := last[j]
			if x[i] != y[j] {
				change++
			}
			row[j+1] = slices.Min([]int{change, last[j+1] + 1, row[j] + 1})
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
