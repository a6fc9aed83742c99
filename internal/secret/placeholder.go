package secret

import (
	"regexp"
	"slices"
	"strings"
)

// VariableOf returns the variable that stands for a secret of that name.
func VariableOf(name string) string {
	return "${SIXNINES_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name) + "}"
}

// placeholder is a variable that stands for a secret.
var placeholder = regexp.MustCompile(`\$\{(SIXNINES_[A-Z0-9_]+)\}`)

// Placeholders returns the variables that stand for secrets in the text of a scenario
// that was [Scenario.Redacted], each once.
func Placeholders(text string) []string {
	var all []string
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}
