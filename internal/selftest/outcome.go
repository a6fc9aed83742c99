package selftest

import (
	"fmt"
	"time"

	"sixnines/internal/report"
	"sixnines/internal/spell"
)

// Verdict is the result of a trial or of one of its figures.
type Verdict string

// The verdicts, from best to worst.
const (
	Information Verdict = "information" // nothing was required
	Passed      Verdict = "passed"
	NotAssessed Verdict = "not assessed" // no statement is possible; the outcome's Reason says why
	Failed      Verdict = "failed"
)

// Outcome is the result of a trial.
type Outcome struct {
	Verdict Verdict `json:"verdict"`
	// Reason says why a trial was not assessed, and what to do about it. For a failed
	// trial it may be empty: the figures say why.
	Reason  string           `json:"reason,omitempty"`
	Text    string           `json:"text"` // what was done and found, for users, one line
	Figures []Figure         `json:"figures,omitempty"`
	Charts  []report.Picture `json:"charts,omitempty"`
	// Attempts are the results of the attempts before this one; the suite sets it.
	Attempts []string `json:"attempts,omitempty"`
}

// Figure is one thing that was measured.
type Figure struct {
	What      string  `json:"what"`
	Expected  string  `json:"expected,omitempty"` // empty: for information only
	Found     string  `json:"found"`
	Tolerance string  `json:"tolerance,omitempty"` // empty: exact, or for information only
	Verdict   Verdict `json:"verdict"`
	// Reason says why the figure is not assessed; else empty.
	Reason string `json:"reason,omitempty"`
}

// Conclude returns an outcome whose verdict follows from its figures: Failed if
// one failed, else Passed if one passed, else NotAssessed if one was not assessed,
// else Information. So one percentile that a short run does not support does not
// invalidate the others.
func Conclude(text string, figures ...Figure) *Outcome {
	o := &Outcome{Text: text, Figures: figures, Verdict: Information}
	n := map[Verdict]int{}
	for _, f := range figures {
		n[f.Verdict]++
		if f.Verdict == NotAssessed && o.Reason == "" {
			o.Reason = f.Reason
		}
	}
	switch {
	case n[Failed] > 0:
		o.Verdict = Failed
	case n[Passed] > 0:
		o.Verdict = Passed
	case n[NotAssessed] > 0:
		o.Verdict = NotAssessed
	}
	if o.Verdict != NotAssessed {
		o.Reason = ""
	}
	return o
}

// Skip returns the outcome of a trial that could not be made on this system; reason
// says why, and what to do about it.
func Skip(reason string) *Outcome {
	return &Outcome{Verdict: NotAssessed, Reason: reason, Text: "nothing was measured"}
}

// Exactly returns a figure that passes only if found equals expected.
func Exactly[T comparable](what string, expected, found T) Figure {
	f := Figure{What: what, Expected: words(expected), Found: words(found), Verdict: Passed}
	if expected != found {
		f.Verdict = Failed
	}
	return f
}

// words writes a value for users.
func words(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return Time(v)
	case int:
		return grouped(int64(v))
	case int64:
		return grouped(v)
	}
	return fmt.Sprint(v)
}

// Time writes a duration for users.
func Time(d time.Duration) string { return spell.Duration(d) }

// trimmed writes a number to four digits.
func trimmed(v float64) string { return fmt.Sprintf("%.4g", v) }

// grouped writes a whole number with its thousands apart.
func grouped(n int64) string { return spell.Count(n) }
