package sweep

import (
	"strings"

	"sixnines/internal/actioncost"
	"sixnines/result"
)

// Percentiles returns the percentiles of an [Outcome].
func Percentiles() []result.Percentile {
	return []result.Percentile{result.P50, result.P99, result.P999}
}

// Outcome is the result of one trial of a sweep: the part of its run that a table of many
// runs needs.
type Outcome struct {
	Round  int           `json:"round"` // from 1
	ID     string        `json:"id"`    // of the run
	Status result.Status `json:"status"`
	// Semantics is what the run's figures mean: guarantees, the kind of acknowledgement,
	// mode, and the broker that was started. Runs that differ in it are never combined.
	Semantics string  `json:"semantics"`
	Asked     float64 `json:"asked_per_s"`    // messages a second; 0: unpaced or a closed loop
	Achieved  float64 `json:"achieved_per_s"` // messages a second: sent, or the throughput of an unpaced run
	Bytes     float64 `json:"bytes_per_s"`    // of payload, sent
	// Few says that the messages were too few for a rate: Achieved and Bytes are 0.
	Few bool `json:"few,omitempty"`
	// GeneratorCPU and BrokerCPU are seconds of processor time for each message sent
	// in the window; 0: unknown.
	GeneratorCPU float64 `json:"generator_cpu_s,omitempty"`
	BrokerCPU    float64 `json:"broker_cpu_s,omitempty"`
	// Metric is the latency that the figures are of: the first response time, or
	// else the first service time.
	Metric  result.Metric                `json:"metric,omitempty"`
	Figures map[result.Percentile]Figure `json:"percentiles"` // by percentile
	// Objectives are the outcomes of the run's objectives; empty: it has none.
	Objectives []result.Objective `json:"objectives,omitempty"`
	// Attempts are the earlier ones at the run, see [result.Trial].
	Attempts []result.Attempt `json:"attempts,omitempty"`
	// Trial is what the actions of the run cost.
	Trial actioncost.Trial `json:"-"`
}

// Figure is a percentile of one run, ns.
type Figure struct {
	Value int64 `json:"value_ns"`
	Low   int64 `json:"low_ns,omitempty"` // its 95 % interval; both 0 if it has none
	High  int64 `json:"high_ns,omitempty"`
	// AtLeast says that Value is a lower bound, and Open that High is: unresolved or refused
	// messages reach it.
	AtLeast bool `json:"at_least,omitempty"`
	Open    bool `json:"open,omitempty"`
	// Suspect says that the figure is suspect by the run's verdict, by itself or with the
	// whole run.
	Suspect bool `json:"suspect,omitempty"`
	// Missing says why Value is missing: one of the Missing constants.
	Missing string `json:"missing,omitempty"`
}

// The values of Figure.Missing.
const (
	MissingUnstable    = "unstable"    // a response time of an overloaded run
	MissingRefused     = "refused"     // refused messages reach the figure
	MissingUnsupported = "unsupported" // too few messages
	MissingInvalid     = "invalid"     // the figure is INVALID by the run's verdict
	MissingNone        = "none"        // it was not measured
)

// OutcomeOf reduces a run that has a summary.
func OutcomeOf(run *result.Run, round int) Outcome {
	s, h := run.Summary, &run.Header
	o := Outcome{Round: round, ID: h.ID, Status: s.Verdict.Status, Semantics: semanticsOf(h), Asked: s.Rate.Asked, Achieved: s.Rate.Sent,
		Figures: map[result.Percentile]Figure{}, Objectives: s.Objectives, Trial: actioncost.Of(run)}
	if h.Trial != nil {
		o.Attempts = h.Trial.Attempts
	}
	if t := s.Throughput; t != nil && t.Needs > 0 {
		o.Achieved, o.Few = 0, true
	} else if t != nil && h.Mode == result.ModeConsume {
		o.Achieved = t.ReceivedPerSecond // nothing is sent
	} else if t != nil {
		o.Achieved = t.PerSecond
	}
	o.Bytes = o.Achieved * float64(h.Size)
	o.GeneratorCPU, o.BrokerCPU = processorTime(run)
	for _, m := range result.Metrics() {
		if d := s.Histograms[m]; m.IsLatency() && d != nil && d.Total() > 0 && (o.Metric == "" || m.IsResponse() && !o.Metric.IsResponse()) {
			o.Metric = m
		}
	}
	for _, p := range Percentiles() {
		o.Figures[p] = figureOf(run, o.Metric, p)
	}
	return o
}

func figureOf(run *result.Run, m result.Metric, p result.Percentile) Figure {
	s := run.Summary
	d := s.Histograms[m]
	f, ok := d.At(p)
	switch {
	case d == nil:
		return Figure{Missing: MissingNone}
	case s.Verdict.Status == result.Unstable && m.IsResponse():
		return Figure{Missing: MissingUnstable}
	case f.Refused:
		return Figure{Missing: MissingRefused}
	case s.Verdict.Of(m, p) == result.Invalid:
		return Figure{Missing: MissingInvalid}
	}
	if !ok {
		return Figure{Missing: MissingUnsupported}
	}
	out := Figure{Value: f.Value, AtLeast: f.AtLeast, Suspect: s.Verdict.Of(m, p) != result.Valid}
	if i := f.Interval; i != nil {
		out.Low, out.High, out.Open = i.Low, i.High, i.Open
	}
	return out
}

// semanticsOf writes the properties that make runs of the same load incomparable.
func semanticsOf(h *result.Header) string {
	s := &h.Semantics
	words := []string{s.Durability, s.Replication, s.Acknowledgment, s.Ordering, s.Delivery, h.Ack, h.Mode}
	if d := h.Deployment; d != nil {
		words = append(words, d.Product+" "+d.Version)
	}
	return strings.Join(words, "; ")
}

// processorTime returns the seconds of processor time for each message sent in the
// window, of the generator and of the broker's processes. With several workloads both are
// 0, because the time cannot be attributed to one of them.
func processorTime(run *result.Run) (generator, broker float64) {
	if run.Header.Workload != "" {
		return 0, 0
	}
	var sent int64
	for _, p := range run.Series {
		if p.Phase == result.PhaseMeasure {
			sent += p.Counters.Sent
			generator += p.Vitals[result.VitalProcessCPU] * float64(p.End-p.Start) / 1e9
			broker += p.Vitals[result.VitalBrokerCPU]
		}
	}
	if sent == 0 {
		return 0, 0
	}
	return generator / float64(sent), broker / float64(sent)
}
