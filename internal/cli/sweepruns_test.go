package cli

import (
	"bytes"
	"strings"
	"testing"

	"sixnines/internal/sweep"
	"sixnines/result"
	"sixnines/scenario"
)

// A sweep ends well if each cell was made in all of its rounds and meets its
// objectives in each; only of the first cells that do not it is said why.
func TestSweepJudged(t *testing.T) {
	axis, err := sweep.ParseAxis("producers=1..9:lin:9")
	if err != nil {
		t.Fatal(err)
	}
	o, err := scenario.ParseObjective("lost == 0")
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 2
	for _, c := range []struct {
		name           string
		asked          bool
		outcome        func(cell, round int) string // empty: not made
		want           error
		said, saidMore int
	}{
		{"nothing asked", false, func(int, int) string { return "nothing" }, nil, 0, 0},
		{"nothing asked and not all made", false, func(cell, _ int) string { return []string{"nothing", ""}[cell%2] }, nil, 0, 0},
		{"all met", true, func(int, int) string { return "met" }, nil, 0, 0},
		{"a round missed", true, func(cell, round int) string {
			if cell == 3 && round == 2 {
				return "missed"
			}
			return "met"
		}, status(exitThreshold), 1, 0},
		{"one undecided", true, func(cell, _ int) string { return []string{"undecided", "met"}[min(cell, 1)] }, status(exitThreshold), 1, 0},
		{"all missed", true, func(int, int) string { return "missed" }, status(exitThreshold), mostSaid, 9 - mostSaid},
		{"a cell not made", true, func(cell, _ int) string { return []string{"", "met"}[min(cell, 1)] }, status(exitThreshold), 0, 0},
	} {
		var said bytes.Buffer
		s := &sweepRuns{series: &series{app: &app{Env: Env{Stderr: &said}}}, planned: &sweepPlan{grid: sweep.Grid{Axes: []sweep.Axis{axis}}}}
		outcomes := map[int][]sweep.Outcome{}
		for i := range axis.Values {
			one := &scenario.Scenario{}
			if c.asked {
				one.Objectives = []scenario.Objective{o}
			}
			s.planned.cells = append(s.planned.cells, cell{scenario: one})
			for round := 1; round <= rounds; round++ {
				made := sweep.Outcome{Round: round, Status: result.Valid}
				switch outcome := c.outcome(i, round); {
				case outcome == "":
					continue
				case c.asked:
					made.Objectives = []result.Objective{{Text: o.String(), Outcome: outcome}}
				}
				outcomes[i] = append(outcomes[i], made)
			}
		}
		s.tables = []sweptWorkload{{Table: sweep.NewTable(s.planned.grid, rounds, outcomes)}}
		if got := s.judged(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if n := strings.Count(said.String(), "objective "); n != c.said {
			t.Errorf("%s: said of %d cells, want %d: %s", c.name, n, c.said, said.String())
		}
		if more := strings.Contains(said.String(), "and "+plural(c.saidMore, "cell")+" more"); more != (c.saidMore > 0) {
			t.Errorf("%s: %s", c.name, said.String())
		}
	}
}
