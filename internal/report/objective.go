package report

import "strings"

// objectivesOfAll says of several runs how each stands to its objectives; nil
// where nothing was asked.
func objectivesOfAll(prepared []*subject) *section {
	x := &section{Name: "Objectives", Heads: []string{"objective", "met by"}, Align: "ll"}
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
		for _, outcome := range sortedKeys(runs[text]) {
			all += len(runs[text][outcome])
			if outcome != "met" {
				others = append(others, outcome+": "+strings.Join(runs[text][outcome], " "))
			}
		}
		r := sectionRow{Cells: []string{text, count(int64(met)) + " of " + count(int64(all))}, Note: strings.Join(others, "; "), Style: good}
		switch {
		case len(runs[text]["missed"]) > 0:
			r.Style = bad
		case met < all:
			r.Style = warning
		}
		x.Rows = append(x.Rows, r)
	}
	return x
}

// objectivesSection says how the run stands to what it must show; nil where
// nothing was asked.
func objectivesSection(s *subject) *section {
	if len(s.sum.Objectives) == 0 {
		return nil
	}
	x := &section{Name: "Objectives", Heads: []string{"objective", "outcome"}, Align: "ll",
		Caption: "Decided by the bound of the 95 % interval, not by the figure. Undecided: the interval contains the limit. Meaningless: the run cannot decide it."}
	for _, o := range s.sum.Objectives {
		x.Rows = append(x.Rows, sectionRow{Cells: []string{plain(o.Text), plain(o.Outcome)}, Note: plain(o.Found), Style: objectiveStyle(o.Outcome)})
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
