package report

import (
	"strconv"
	"time"

	"sixnines/internal/stats"
	"sixnines/result"
)

// steadyTable says how the run went on, stretch by stretch; nil where that was
// not looked at.
func steadyTable(s *subject) *table {
	st := s.sum.Steady
	if st == nil {
		return nil
	}
	x := &table{Name: "Steady state", Head: columnHeads("llrr", "of each stretch", "class", "steady from", "end ÷ beginning"),
		Caption: strconv.Itoa(st.Intervals) + " stretches of the window, by the " + metricName(st.Metric) + " of each. The figures of the run still cover the whole window.",
		After:   []string{plain(st.Text)}}
	for _, c := range []struct {
		name   string
		course result.Trend
	}{{"p50", st.P50}, {"p99", st.P99}} {
		class := plain(c.course.Class)
		if class == "" || class == string(stats.NotAssessed) {
			continue // the text says why
		}
		from := "nowhere"
		switch {
		case c.course.From == 0:
			from = "the start"
		case c.course.From > 0:
			from = duration(c.course.From)
		}
		change := ""
		if c.course.Change > 0 {
			change = strconv.FormatFloat(c.course.Change, 'f', 2, 64) + " ×"
		}
		x.add(c.name, class, from, change).styled(1, classStyle(class))
	}
	if len(x.Rows) == 0 {
		x.Caption = ""
	}
	return x
}

// classStyle is what a class of a series means for the figures.
func classStyle(class string) style {
	switch stats.Steadiness(class) {
	case stats.Flat:
		return good
	case stats.WarmUp, stats.LevelShift:
		return warning
	}
	return bad
}

// steadyMoments marks where the steady part of a run begins. Nothing is marked
// where it begins with the window, or never.
func steadyMoments(s *subject) []moment {
	st := s.sum.Steady
	if st == nil {
		return nil
	}
	at := func(from int64, name string) moment {
		from += int64(s.run.Header.From)
		t := time.Duration(from).Seconds()
		label := name + " steady from " + duration(from)
		if s.letter != "" {
			name = s.letter + " " + name
			label = s.letter + ": " + label
		}
		return moment{From: t, To: t, Mark: name + " steady", Label: label, Steady: true}
	}
	switch {
	case st.P50.From > 0 && st.P50.From == st.P99.From:
		return []moment{at(st.P50.From, "p50 and p99")}
	case st.P50.From > 0 && st.P99.From > 0:
		return []moment{at(st.P50.From, "p50"), at(st.P99.From, "p99")}
	case st.P50.From > 0:
		return []moment{at(st.P50.From, "p50")}
	case st.P99.From > 0:
		return []moment{at(st.P99.From, "p99")}
	}
	return nil
}
