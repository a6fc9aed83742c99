package merge

import (
	"time"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// crossedMetrics collects lower bounds and refusals of deliveries to other agents.
type crossedMetrics struct {
	load                *load
	responses, services *result.Histogram
	unanswered, refused map[int64]int64 // by slot
	slot, highest       int64
}

// newCrossedMetrics returns metrics with the layout that the agents' histograms have; if no agent has any, with the
// layout of this many digits and this largest value.
func newCrossedMetrics(l *load, ends []*ending, of, digits int, most time.Duration) *crossedMetrics {
	lowest, highest := int64(1), int64(most)
	for _, e := range ends {
		for _, m := range e.runs[of].Metrics {
			if m.Hist != nil {
				lowest, highest, digits = m.Hist.Layout()
			}
		}
	}
	return &crossedMetrics{load: l, responses: result.NewHistogram(lowest, highest, digits), services: result.NewHistogram(lowest, highest, digits),
		unanswered: map[int64]int64{}, refused: map[int64]int64{}, slot: max(l.header.Slot.Nanoseconds(), 1), highest: highest}
}

// response adds n deliveries of a message that was due at an instant and has waited for so long.
func (x *crossedMetrics) response(at, waited, n int64) {
	_ = x.responses.Record(min(max(waited, 0), x.highest), n) // in range: cannot fail
	x.unanswered[at/x.slot] += n
}

// service adds a delivery of a message that was sent so long ago, at least.
func (x *crossedMetrics) service(waited int64) {
	_ = x.services.Record(min(max(waited, 0), x.highest), 1) // in range: cannot fail
}

// refuse adds n deliveries of a message that was due at an instant and refused.
func (x *crossedMetrics) refuse(at, n int64) { x.refused[at/x.slot] += n }

// add adds all of it to the load's sums.
func (x *crossedMetrics) add() error {
	v := &result.Interval{Metrics: map[result.Metric]*result.MetricInterval{}}
	for metric, h := range map[result.Metric]*result.Histogram{result.DeliveryResponse: x.responses, result.DeliveryService: x.services} {
		m := &result.MetricInterval{Refused: pairs(x.refused)}
		if h.Count() > 0 {
			text, err := histograms.Encode(histograms.Of(h))
			if err != nil {
				return err
			}
			m.Censored = text
		}
		if metric == result.DeliveryResponse {
			m.Unanswered = pairs(x.unanswered)
		}
		if m.Censored != "" || len(m.Refused) > 0 {
			v.Metrics[metric] = m
		}
	}
	return x.load.sums.add(v)
}
