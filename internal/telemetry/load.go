package telemetry

import (
	"strings"

	"sixnines/result"
)

// load is what is exported of a run, or of one of its workloads.
type load struct {
	header            result.Header
	phase             string // empty: the run is over
	counters          result.Counters
	inFlight, backlog int64
	vitals            map[result.Vital]float64
	metrics           map[result.Metric]*histogram
	summary           *result.Summary // nil until the run has ended
}

func newLoad(h result.Header, phase string) *load {
	return &load{header: h, phase: phase, vitals: map[result.Vital]float64{}, metrics: map[result.Metric]*histogram{}}
}

// finished is the load of a run that is over, or was cut short.
func finished(run *result.Run, s *result.Summary) *load {
	l := newLoad(run.Header, "")
	l.counters, l.summary = run.Counters, s
	for m, x := range run.Metrics {
		if x.Hist != nil {
			l.metrics[m] = merged(x)
		}
	}
	return l
}

// broker is what the server says that it is: product and version.
func broker(h *result.Header) string {
	return strings.TrimSpace(h.Broker["product"] + " " + h.Broker["version"])
}
