package report

import (
	"maps"
	"slices"
	"strings"
)

// objectivesOfAll shows the outcomes of several runs' objectives; nil if no run has
// objectives.
func objectivesOfAll(prepared []*subject) *table {
	x := &table{Name: "Objectives", Head: columnHeads("ll", "objective", "met by")}
	var asked []string
	runs := map[string]map[string][]string{} // by objective and outcome, letters
	for _, s := range prepared {
		for _, o := range s.sum.Objectives {
			text, outcome := plain(o.Text), plain(o.Outcome)
			if runs[text] == nil {
				asked = append(asked, text)
				runs[text] = map[string][]string{}
			}
			runs[text][outcome] = append(runs[text][outcome], s.letter)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	for _, text := range asked {
		met, all := len(runs[text]["met"]), 0
		var others []string
		for _, outcome := range slices.Sorted(maps.Keys(runs[text])) {
			all += len(runs[text][outcome])
			if outcome != "met" {
				others = append(others, outcome+": "+strings.Join(runs[text][outcome], " "))
			}
		}
		st := good
		switch {
		case len(runs[text]["missed"]) > 0:
			st = bad
		case met < all:
			st = warning
		}
		x.add(text, count(int64(met))+" of "+count(int64(all))).styled(1, st).noted(strings.Join(others, "; "))
	}
	return x
}

// objectivesTable shows the outcomes of the run's objectives; nil if it has none.
func objectivesTable(s *subject) *table {
	if len(s.sum.Objectives) == 0 {
		return nil
	}
	x := &table{Name: "Objectives", Head: columnHeads("ll", "objective", "outcome"),
		Caption: "Decided by the bound of the 95 % interval, not by the figure. Undecided: the interval contains the limit. Meaningless: the run cannot decide it."}
	for _, o := range s.sum.Objectives {
		x.add(plain(o.Text), plain(o.Outcome)).styled(1, objectiveStyle(o.Outcome)).noted(plain(o.Found))
	}
	return x
}

// objectiveStyle is how the outcome of an objective is shown.
func objectiveStyle(outcome string) style {
	switch outcome {
	case "met":
		return good
	case "missed":
		return bad
	}
	return warning
}
