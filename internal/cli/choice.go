package cli

import (
	"strings"

	"sixnines/internal/spell"
)

// each returns the results of a function for each element.
func each[T, U any](all []T, of func(T) U) []U {
	out := make([]U, len(all))
	for i, x := range all {
		out[i] = of(x)
	}
	return out
}

// orMeant returns a hint that first suggests the name that a word was probably meant to be.
func orMeant(word string, names []string, hint string) string {
	if near := spell.Nearest(word, names); near != "" {
		return "did you mean " + near + "? " + hint
	}
	return hint
}

// chooseOne refuses a value that is not in a fixed set.
func chooseOne[S ~string](flag, value string, choices []S) error {
	allowed := each(choices, func(s S) string { return string(s) })
	return wrongUsage(orMeant(value, allowed, flag+" takes "+strings.Join(allowed, ", ")), "%s cannot be %q", flag, value)
}
