// Package spelltest checks what users read: that numbers are written as package
// spell writes them, and that no word is in it that says something only to those who
// made the tool.
package spelltest

import (
	"fmt"
	"regexp"
	"strings"
)

// instead are the words that users do not read, as regular expressions without
// regard to case, and what is said instead.
func instead() [][2]string {
	return [][2]string{
		{`witness(es|ed)?|testif(y|ies)`, "sampler, sample"},
		{`guilty|accused?|interrogate[sd]?`, "suspect reason, attributed to"},
		{`standstills?|(stood|stands?|standing) still`, "pause, was paused for"},
		{`(the )?numbers stand on`, "broker guarantees and settings"},
		{`the slowest met`, "likely causes of the slowest messages"},
		{`company`, "coincided, not shown to be a cause"},
		{`br(oke|eaks?|oken) (its|no|the|his) promises?|broken promises?|promises? (that )?the broker broke`, "never acknowledged: no guarantee violated"},
		{`by lot`, "in random order"},
		{`is unlike|nothing .* unlike|unlike (size|rate|load|things)`, "differ; no known differences"},
		{`too few runs for a statement`, "not enough runs to decide"},
		{`for people`, "per user and page"},
		{`audiences?|crowd(s|ed)?`, "subscribers; other processes on these processors"},
		{`weather|calm sea`, "noise, noise floor"},
		{`hand-?overs?`, "takeover"},
		{`tended|hush|farewell|dialogues?`, "last sweep, quiet period, close timeout, exchange"},
		{`inlets?|outlets?|intakes?|passages?`, "sender, receiver, read loop"},
		{`(and )?those beyond( it)?`, "the percentiles above it"},
		{`company|so alike|hang(s)? together|nobody knows what`, "a plain sentence"},
		{`(looks|stands?) (like )?in the way of`, "a plain sentence"},
	}
}

// Words lists the words of a text that users do not read, each with what is said
// instead.
func Words(text string) []string {
	var found []string
	for _, w := range instead() {
		for _, at := range regexp.MustCompile(`(?i)\b(?:`+w[0]+`)\b`).FindAllStringIndex(text, -1) {
			found = append(found, fmt.Sprintf("%q in %q: say %s", text[at[0]:at[1]], around(text, at), w[1]))
		}
	}
	return found
}

// Numbers lists the durations and counts of a text that are not written as package
// spell writes them. What is given as one writes it is left out: flags with their
// values, objectives, dates and identifiers.
func Numbers(text string) []string {
	for _, given := range []string{
		`--[a-z-]+[ =]\S+`,                           // a flag with its value
		`(<|>|<=|>=|==|&lt;|&gt;)=? ?\S+`,            // an objective
		`[±@=]\S+`,                                   // --until, bursts, settings
		`\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?`,    // dates
		`RFC \d+|mtu \d+|\S*://\S+|\b[0-9a-f]{16}\b`, // names
		`"[^"]*"`, // quoted as it was given
	} {
		text = regexp.MustCompile(given).ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
	}
	var found []string
	for _, wrong := range []struct{ what, pattern string }{
		{"a duration without a space", `(?:^|[^\w.:/-])(\d+(?:\.\d+)?(?:ns|µs|us|ms|s)|\d+h\d+m\S*|\d+m\d+(?:\.\d+)?s)(?:$|[^\w-])`},
		{"thousands without commas", `(?:^|[^\w.,:/#-])(\d{4,})(?:$|[^\w.:/-])`},
		{"a percentage without a space", `(?:^|[^\w.])(\d+(?:\.\d+)?%)`},
	} {
		for _, at := range regexp.MustCompile(wrong.pattern).FindAllStringSubmatchIndex(text, -1) {
			found = append(found, fmt.Sprintf("%s: %q in %q", wrong.what, text[at[2]:at[3]], around(text, at[2:4])))
		}
	}
	return found
}

// around is where in a text something was found.
func around(text string, at []int) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text[max(0, at[0]-40):min(len(text), at[1]+40)], "")), " ")
}
