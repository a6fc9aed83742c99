package report

import (
	"sixnines/internal/judge"
	"sixnines/result"
)

// correctedSuffix ends the name of a service time with HdrHistogram's correction.
const correctedSuffix = ".corrected"

// corrected returns the column of a service time with HdrHistogram's correction.
func corrected(m result.Metric) column {
	return column{Metric: m + correctedSuffix, Of: m, Head: "corrected", Corrected: true}
}

// correctedName returns the mark of a corrected service time, where it has room.
func correctedName(h *result.Header) string {
	y := h.Synchronous
	if y == nil {
		return "corrected" // only a file that was edited gets here
	}
	mean := ""
	if y.Mean {
		mean = ", the mean"
	}
	return "corrected (as others do: expected interval " + duration(y.Interval) + mean + ")"
}

// correctedNote says what a corrected service time is.
func correctedNote(h *result.Header) string {
	return correctedName(h) + ": the service time with HdrHistogram's correction for coordinated omission. " +
		"It allows comparison with tools that publish such figures; it is not measured and not judged. Users wait for the response time."
}

// notes returns the notes of the family's columns in a run, each once.
func (f family) notes(s *subject) []string {
	var out []string
	for _, k := range f.Columns {
		if c := s.column(k.Metric); c != nil && c.Note != "" {
			text := c.Note
			if s.letter != "" {
				text = s.letter + ": " + text
			}
			out = append(out, text)
		}
	}
	return out
}

// merged returns the distribution that a column of a run is drawn from.
func (s *subject) merged(c column) *result.Merged {
	if y := s.run.Header.Synchronous; c.Corrected && y != nil {
		return judge.Corrected(s.run.Metrics[c.Of], y.Interval)
	}
	return s.run.Metrics[c.Metric]
}
