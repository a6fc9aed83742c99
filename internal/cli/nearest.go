package cli

import "strings"

// nearest returns the word that differs from s in the fewest letters, or "" if
// even that one differs in more than a third of them and one more.
func nearest(s string, words []string) string {
	best, least := "", 2+len(s)/3
	for _, w := range words {
		if len(s) > 2 && strings.HasPrefix(w, s) {
			return w
		}
		if d := distance(strings.ToLower(s), w); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements that turn a into
// b (Levenshtein), by the usual table of which one row is kept.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
