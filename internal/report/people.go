package report

import (
	"sixnines/internal/stats"
	"sixnines/result"
)

// peopleTable shows what the measured percentiles mean for the usual users; nil if the
// run has no response times.
func peopleTable(s *subject) *table {
	m := s.measuredMetric()
	if m == "" || s.run.Header.Mode != result.ModeOpen {
		return nil // without a schedule, what users would have waited is not known
	}
	a := UsualUserModel()
	x := &table{Name: "Per user and page", Head: columnHeads("lrrr", "worse than", metricName(m), "users, clustered", "users, independent"), Page: true, Folded: s.letter != "",
		Caption: a.sessionText() + " (an assumption; sixnines nines takes other numbers). The share of users who get at least one slower response."}
	for _, p := range []result.Percentile{result.P99, result.P999, result.P9999, result.P99999} {
		f := s.figureAt(m, p)
		if !f.ok() {
			continue
		}
		e := stats.Meet(worseThan(p), a.responses())
		x.add(rowName(p), f.text(), userShare(e.Clustered), userShare(e.Independent))
	}
	if len(x.Rows) == 0 {
		return nil
	}
	x.After = []string{a.neededText(s, m), assumption}
	return x
}

// peopleLine is the same in one line; empty where there is nothing to say.
func peopleLine(s *subject) string {
	m := s.measuredMetric()
	if m == "" || s.run.Header.Mode != result.ModeOpen {
		return ""
	}
	f := s.figureAt(m, result.P99)
	if !f.ok() {
		return ""
	}
	a := UsualUserModel()
	e := stats.Meet(worseThan(result.P99), a.responses())
	return "per user and page: with " + a.sessionText() + ", " + userShare(e.Clustered) + " (slow ones clustered) to " + userShare(e.Independent) +
		" (independent) of users get one slower than p99, " + f.text() + ". For " + userShare(a.Users) + " to get none, " + rowName(a.needed()) + " must be fast enough, here " +
		s.figureAt(m, a.needed()).text() + ". Other numbers: sixnines nines"
}
