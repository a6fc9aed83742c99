package secret

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden is what stands for a value that must not be shown.
const hidden = "xxxxx"

// Conceal returns a text without the secrets in it, each as a word of its own, or
// anywhere where it has six letters or more.
func Conceal(text string, secrets []string) string {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be a part of another
	for _, s := range secrets {
		var b strings.Builder
		for rest, before := text, rune(0); ; {
			i := strings.Index(rest, s)
			if i < 0 || s == "" {
				b.WriteString(rest)
				break
			}
			if i > 0 {
				before, _ = utf8.DecodeLastRuneInString(rest[:i])
			}
			after, _ := utf8.DecodeRuneInString(rest[i+len(s):])
			b.WriteString(rest[:i])
			if len(s) >= 6 || !isWord(before) && !isWord(after) {
				b.WriteString(hidden)
			} else {
				b.WriteString(s)
			}
			before, _ = utf8.DecodeLastRuneInString(s)
			rest = rest[i+len(s):]
		}
		text = b.String()
	}
	return text
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
