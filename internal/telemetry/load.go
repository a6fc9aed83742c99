package telemetry

import (
	"strings"

	"sixnines/result"
)

// load is what is exported of a run, or of one of its workloads. It has no lock: Live.mu
// guards a load of the current run, and a finished or cloned one does not change.
type load struct {
	header            result.Header
	phase             string // empty: the run is over
	counters          result.Counters
	inFlight, backlog int64
	vitals            map[result.Vital]float64
	metrics           map[result.Metric]*histogram
	summary           *result.Summary // nil until the run has ended
	cut               bool            // the run was killed: its accounts are not closed
}

func newLoad(h result.Header, phase string) *load {
	return &load{header: h, phase: phase, vitals: map[result.Vital]float64{}, metrics: map[result.Metric]*histogram{}}
}

// finished returns the load of a run that has ended or was cut short; s may be nil.
func finished(run *result.Run, s *result.Summary) *load {
	l := newLoad(run.Header, "")
	l.counters, l.summary, l.cut = run.Counters, s, run.Summary == nil
	for m, x := range run.Metrics {
		if x.Hist != nil {
			l.metrics[m] = merged(x)
		}
	}
	return l
}

// broker returns the product and version that the server reports, empty if it reports none.
func broker(h *result.Header) string {
	return strings.TrimSpace(h.Broker["product"] + " " + h.Broker["version"])
}
