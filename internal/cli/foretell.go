package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sixnines/internal/spell"
)

// The course of a search, from those that were made: how many trials an answer takes, and how
// many times as long as the shortest a trial is that does not decide at once.
const (
	searchTrials = 30
	searchLonger = 4
)

// foretold is what a series would do, without the runs.
type foretold struct {
	Trials int            `json:"trials"`          // planned; of a search about
	AtMost int            `json:"at_most"`         // trials
	Least  float64        `json:"least_seconds"`   // that it takes, without starting brokers
	Most   float64        `json:"most_seconds"`    // the same as Least where the trials are known
	Cells  []foretoldCell `json:"cells,omitempty"` // of a sweep
}

// foretoldCell is one load of a sweep.
type foretoldCell struct {
	Cell    string  `json:"cell"`
	Rounds  int     `json:"rounds"`
	Seconds float64 `json:"seconds"` // of each round
}

// foretell checks a series as before it is made, and prints what of says that it would do.
func (a *app) foretell(ctx context.Context, x experiment, resume string, asJSON bool, of func() (foretold, string)) error {
	if resume != "" {
		return wrongUsage("leave one of them out", "--dry-run and --resume exclude each other")
	}
	if err := x.check(ctx, a); err != nil {
		return err
	}
	f, text := of()
	if asJSON {
		return a.writeJSON(f)
	}
	_, err := fmt.Fprint(a.Stdout, a.plainText(text))
	return err
}

// foretold says how many trials the sweep has, and how long they take.
func (s *sweepRuns) foretold() (foretold, string) {
	f := foretold{Trials: len(s.planned.cells) * s.rounds}
	f.AtMost = f.Trials
	var b strings.Builder
	for i := range s.planned.cells {
		c := &s.planned.cells[i]
		takes := c.lasts() + s.pause
		f.Cells = append(f.Cells, foretoldCell{c.label, s.rounds, takes.Seconds()})
		f.Least += float64(s.rounds) * takes.Seconds()
		fmt.Fprintf(&b, "  %s  %d × %s\n", c.label, s.rounds, longTime(float64(takes)))
	}
	f.Most = f.Least
	return f, fmt.Sprintf("%s: %s in %s\n%s%s in random order take %s, plus the time to start brokers\n", s.planned.title, plural(len(s.planned.cells), "cell"),
		plural(s.rounds, "round"), b.String(), plural(f.Trials, "trial"), longTime(f.Least*float64(time.Second)))
}

// foretold says how long a search takes: its trials are chosen as it goes.
func (c *capacityRun) foretold() (foretold, string) {
	trial := c.lasts()
	f := foretold{Trials: min(searchTrials, c.maxTrials), AtMost: c.maxTrials}
	f.Least = float64(f.Trials) * trial.Seconds()
	f.Most = searchLonger * f.Least
	return f, fmt.Sprintf("%s: the search begins at %s and tries no rate above %s\nabout %s of %s or more take %s to %s, plus the time to start brokers; it ends after %s at the latest\n",
		"capacity of "+c.scenario.Target.Driver, spell.Rate(c.load.Workload.Rate.Float()), spell.Rate(c.most.Float()), plural(f.Trials, "trial"), longTime(float64(trial)),
		longTime(f.Least*float64(time.Second)), longTime(f.Most*float64(time.Second)), plural(f.AtMost, "trial"))
}
