package study

import (
	"fmt"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
)

// Foregone is a test that a run cannot decide, whatever it finds.
type Foregone struct {
	Conclusion string // its name
	Why        string
	Needs      string // what would decide it
	Refutable  bool   // other tests of the conclusion can be decided, and may refute it
}

// Foregone returns the tests that a length cannot decide by its design or on a machine with so many
// processors. due returns the number of messages that a cell's workload is to send in its window, of
// random arrivals the least of any round; 0 if that is not known. A length of single rounds decides hardly anything, and has no list.
func (s *Study) Foregone(length string, processors int, due func(c *Cell, workload string) int64) ([]Foregone, error) {
	cells, err := s.Cells(length)
	if err != nil || length == Quick {
		return nil, err
	}
	longer := s.Run(Full)
	if length == Full {
		longer = "a study with longer or more rounds"
	}
	var all []Foregone
	for _, c := range s.Conclusions {
		first, open := len(all), false
		for i := range c.Tests {
			t := &c.Tests[i]
			none := true
			add := func(needs, format string, args ...any) {
				none = false
				x := Foregone{Conclusion: c.Name, Why: fmt.Sprintf(format, args...), Needs: needs}
				if !slices.Contains(all, x) {
					all = append(all, x)
				}
			}
			index := func(name string) int { return slices.IndexFunc(cells, func(x Cell) bool { return x.Name == name }) }
			names := t.cellsOf(s)
			switch {
			case t.Kind == KindUndecidable:
				add(t.Needs, "%s", t.Why)
			case processors < t.Processors:
				needs := t.machine()
				if slices.ContainsFunc(names, func(name string) bool { return index(name) < 0 }) {
					needs += ", and " + longer
				}
				add(needs, "it takes %d processors, and there are %d", t.Processors, processors)
				continue
			}
			for _, name := range names {
				k := index(name)
				if k < 0 {
					add(longer, "%s is not in the length %s", name, length)
					continue
				}
				if least := t.rounds(); cells[k].Rounds < least {
					add(longer, "%s of %s, and it takes %d", spell.Plural(cells[k].Rounds, "round"), name, least)
				}
				for _, figure := range t.Figures {
					if n, needs := due(&cells[k], t.Workload), messagesFor(figure); n > 0 && n < needs {
						add(longer, "%s of %s takes %s messages, and %s are due", figure, name, spell.Count(needs), spell.Count(n))
					}
				}
			}
			open = open || none
		}
		for i := range all[first:] {
			all[first+i].Refutable = open && c.Share == 0
		}
	}
	return all, nil
}

// cellsOf returns the names of the cells that the test compares, in any length.
func (t *Test) cellsOf(s *Study) []string {
	var all []string
	for _, name := range []string{t.A, t.B} {
		if name != "" {
			all = append(all, name)
		}
	}
	return append(all, s.cellNames(t.Cells)...)
}

// rounds returns the least number of rounds of a cell with which the test can be decided.
func (t *Test) rounds() int {
	own := !slices.ContainsFunc(t.Figures, func(name string) bool {
		_, _, is := percentile(strings.TrimPrefix(name, outsidePrefix))
		return !is && name != "sender.pause"
	})
	switch t.Kind {
	case KindUndecidable, KindArithmetic:
		return 0
	case KindSome:
		return 1
	case KindNone:
		return leastRuns
	case KindBelow, KindAbove:
		if own {
			return leastRuns
		}
	}
	return LeastRounds
}

// messagesFor returns the least number of messages for an interval of a figure, 0 if it takes none.
func messagesFor(name string) int64 {
	over, under, _ := strings.Cut(name, "/")
	var most int64
	for _, x := range []string{over, under} {
		if _, percent, ok := percentile(x); ok {
			most = max(most, stats.MinSamples(stats.Fraction(percent), Confidence))
		}
	}
	return most
}
