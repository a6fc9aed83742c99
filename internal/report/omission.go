package report

import (
	"fmt"
	"strings"

	"sixnines/result"
)

// omission compares runs of the same workload under an open and a closed loop, to show
// what the closed loop omits. It returns a sentence for each pair; nil if the runs have
// no such pair.
func omission(subjects []*subject) []string {
	var out []string
	for _, open := range subjects {
		if open.run.Header.Mode != result.ModeOpen {
			continue
		}
		for _, closed := range subjects {
			if closed.run.Header.Mode == result.ModeClosed && sameWorkload(&open.run.Header, &closed.run.Header) {
				if s := omissionSentence(open, closed); s != "" {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// sameWorkload reports whether two runs differ only in their pacing, by their headers.
// Two workloads of one run are never the same.
func sameWorkload(a, b *result.Header) bool {
	return (a.ID != b.ID || a.Workload == b.Workload) && a.Driver == b.Driver && a.Pattern == b.Pattern && a.Size == b.Size && a.Sizes == b.Sizes && a.Payload == b.Payload &&
		a.Keys == b.Keys && a.KeySize == b.KeySize && a.Headers == b.Headers
}

// omissionSentence states the highest percentile up to p99 that both runs
// support, and the maximum.
func omissionSentence(open, closed *subject) string {
	for _, m := range []result.Metric{result.DeliveryResponse, result.RoundTripResponse, result.PublishResponse} {
		a, b := open.column(m), closed.column(m)
		if b == nil && m.Service() != "" {
			b = closed.column(m.Service())
		}
		if a == nil || b == nil {
			continue
		}
		var parts []string
		for _, p := range []result.Percentile{result.P99, result.Maximum} {
			if x, y := a.at(p), b.at(p); x.ok() && y.ok() {
				part := fmt.Sprintf("%s is %s in the open loop (%s) and %s in the closed loop (%s)", rowName(p), x.text(), open.name(), y.text(), closed.name())
				if y.Value > 0 && x.Value >= 2*y.Value {
					part += fmt.Sprintf(", %s times less", times(float64(x.Value)/float64(y.Value)))
				}
				parts = append(parts, part)
			}
		}
		if len(parts) > 0 {
			return fmt.Sprintf("Coordinated omission: for the same driver, pattern and size the %s %s. A closed loop sends nothing while the broker is slow, so it omits the time that users would have waited; an open loop counts it.",
				metricName(m), strings.Join(parts, "; its "))
		}
	}
	return ""
}

// times writes a ratio with two significant digits: "2.4", "37", "14,000".
func times(ratio float64) string {
	if ratio < 9.95 {
		return fmt.Sprintf("%.1f", ratio)
	}
	unit := 1.0
	for ratio/unit >= 99.5 {
		unit *= 10
	}
	return count(int64(ratio/unit+0.5) * int64(unit))
}

// column returns the column of a metric, nil if the run lacks it.
func (s *subject) column(m result.Metric) *column {
	for i := range s.tables {
		if c := s.tables[i].find(m); c != nil {
			return c
		}
	}
	return nil
}

// name is how other text refers to the run.
func (s *subject) name() string {
	if s.letter != "" {
		return s.letter
	}
	return s.title
}
