package report

// objectivesSection says how the run stands to what it must show; nil where
// nothing was asked.
func objectivesSection(s *subject) *section {
	if len(s.sum.Objectives) == 0 {
		return nil
	}
	x := &section{Name: "Objectives", Heads: []string{"objective", "outcome"}, Align: "ll",
		Caption: "Decided by the bound of the 95 % interval, not by the figure. Undecided: the limit lies within the interval. Meaningless: the run cannot tell."}
	for _, o := range s.sum.Objectives {
		r := sectionRow{Cells: []string{plain(o.Text), plain(o.Outcome)}, Note: plain(o.Found)}
		switch o.Outcome {
		case "met":
			r.Style = good
		case "missed":
			r.Style = bad
		default:
			r.Style = warning
		}
		x.Rows = append(x.Rows, r)
	}
	return x
}
