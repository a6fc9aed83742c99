package spell

import (
	"slices"
	"strings"
)

// Nearest returns the candidate that a word was most likely meant to be, or "" if
// none is near: the first that begins with it, of three letters or more, else the one
// from which it differs in the fewest insertions, deletions, replacements and swaps of
// neighbours, and in less than half of its letters. Capital and small letters are the
// same.
func Nearest(word string, candidates []string) string {
	if len(word) > 64 { // a text, and no mistyped word
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", max(1, (len(word)+2)/2)
	for _, c := range candidates {
		small := strings.ToLower(c)
		if len(word) > 2 && strings.HasPrefix(small, word) {
			return c
		}
		if d := distance([]rune(word), []rune(small)); d < least {
			best, least = c, d
		}
	}
	return best
}

// Meant is Nearest as a sentence at the end of a hint: "; did you mean rate?", or
// nothing.
func Meant(word string, candidates ...string) string {
	if near := Nearest(word, candidates); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// distance counts the insertions, deletions, replacements and swaps of neighbours
// that turn a into b, by the usual table, three rows at a time.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = slices.Min([]int{change, last[j+1] + 1, row[j] + 1})
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
