package report

import (
	"sixnines/result"
)

// attributionTables say what the slowest messages of each metric overlapped.
func attributionTables(s *subject) []*table {
	var out []*table
	for _, a := range s.sum.Attribution {
		x := &table{Name: "Likely causes of the slowest messages: " + metricName(a.Metric), Head: columnHeads("llrrr", "what", "verdict", "messages", "share", "by chance"),
			Caption: "The " + plural(int64(a.Messages), "slowest message") + ", from " + duration(a.From) + " up. By chance: the share that would overlap it at random times of the window. Only sources far above that share are named as causes; others coincided and are not shown to be causes. A message may count for several."}
		for _, c := range a.Causes {
			r := x.add(sourceName(c.Source), "coincided", count(int64(c.Messages)), share(c.Share), share(c.Expected)).styled(1, faint)
			if c.Named { // for other causes the figures are enough
				r.Cells[1] = cell{Text: "cause", Style: warning}
				r.noted(plain(c.Text))
			}
		}
		left := 0.0
		if a.Messages > 0 {
			left = float64(a.Unexplained) / float64(a.Messages)
		}
		x.add("none of these", "unexplained", count(int64(a.Unexplained)), share(left), "")
		out = append(out, x)
	}
	return out
}

// attributionLine is an attribution in one line, for reports of several runs.
func attributionLine(a result.Attribution) string {
	text := ""
	for _, c := range a.Causes {
		if c.Named {
			text = joinNonEmpty(", ", text, sourceName(c.Source)+" "+share(c.Share))
		}
	}
	if text == "" {
		text = "no cause named"
	}
	return "of the " + plural(int64(a.Messages), "slowest message") + " (" + metricName(a.Metric) + " from " + duration(a.From) + " up) overlapped: " + text +
		"; " + count(int64(a.Unexplained)) + " unexplained"
}
