package strict

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Position is where a value was written.
type Position struct {
	File         string // the file, or the flag
	Line, Column int    // from 1, in characters; 0 for a flag
}

// Error is one thing wrong with a text.
type Error struct {
	Position
	Key   string // dotted; empty: no key is meant
	Cause string // what is wrong, one line
	Hint  string // what to do about it, one line
}

// Sort puts errors into the order of the text, those without a position first.
func Sort(all []Error) {
	slices.SortStableFunc(all, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Quote returns s for an error's one line: quoted, and cut if it is long.
func Quote(s string) string {
	const most = 60
	if len(s) > most {
		end := most
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		return fmt.Sprintf("%q…", s[:end])
	}
	return fmt.Sprintf("%q", s)
}
