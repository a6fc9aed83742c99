package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"sixnines/internal/selftest"
)

// printTrials prints the table of verdicts: a row a trial, and below it what
// was not as it should be.
func (env *Env) printTrials(r *selftest.Report) error {
	var b strings.Builder
	width := 0
	for _, t := range r.Trials {
		width = max(width, len(t.Name))
	}
	columns := env.columns(60)
	const verdictWidth = 12
	indent := verdictWidth + 2 + width + 2
	for _, t := range r.Trials {
		word := env.coloured(fmt.Sprint(t.Verdict), verdictWidth, colourOf(t.Verdict, selftest.Passed, selftest.NotAssessed, selftest.Failed))
		fmt.Fprintf(&b, "%s  %-*s  %-28s  %8s\n", word, width, t.Name, t.Tally(), selftest.Rounded(t.Took))
		var notes []string
		if why := t.Why(); why != "" {
			notes = append(notes, why)
		}
		if t.Verdict == selftest.Passed {
			notes = append(notes, t.Attempts...)
		}
		for _, note := range notes {
			b.WriteString(indented(oneLine(note), indent, columns-indent))
		}
	}
	fmt.Fprintf(&b, "\n%s, in %s.\n", r.Summary(), selftest.Rounded(r.Took))
	switch {
	case r.Count(selftest.Failed) > 0:
		fmt.Fprintln(&b, "A trial that failed shows that the tool is wrong on this machine: please report it with the page.")
	case r.Count(selftest.NotAssessed) > 0 && !r.Stopped:
		fmt.Fprintln(&b, "No trial shows that the tool is wrong. Make those that were not assessed again while nothing else runs.")
	}
	if r.Stopped {
		fmt.Fprintln(&b, "Stopped early: the remaining trials are not assessed.")
	}
	_, err := io.WriteString(env.Stdout, env.plainText(b.String()))
	return err
}

// listTrials prints the trials.
func (env *Env) listTrials(trials []selftest.Trial, o selftestOptions) error {
	takes := func(t selftest.Trial) time.Duration {
		if o.short {
			return t.TakesShort
		}
		return t.Takes
	}
	if o.json {
		type listed struct {
			Number   int           `json:"number"`
			Name     string        `json:"name"`
			Question string        `json:"question"`
			Takes    time.Duration `json:"takes"` // ns
			Timed    bool          `json:"timed"`
		}
		return env.writeJSON(each(trials, func(t selftest.Trial) listed { return listed{t.Number, t.Name, t.Question, takes(t), t.Timed} }))
	}
	var b strings.Builder
	width, sum := 0, time.Duration(0)
	for _, t := range trials {
		width = max(width, len(t.Name))
		sum += takes(t)
	}
	for _, t := range trials {
		fmt.Fprintf(&b, "%d  %-*s  %4s  %s\n", t.Number, width, t.Name, seconds(takes(t).Round(time.Second)), t.Question)
	}
	fmt.Fprintf(&b, "\nabout %s in all\n", seconds(sum.Round(time.Second)))
	_, err := io.WriteString(env.Stdout, env.plainText(b.String()))
	return err
}
