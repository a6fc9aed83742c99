// Package observe notes what happens to single messages while they are sent and received: times
// in histograms, the stages of a sample, the slowest, and the rows of the raw file.
package observe

import (
	"sixnines/internal/engine/plan"
	"sixnines/internal/recorder"
	"sixnines/result"
)

// Recording is what is recorded of single messages while they are sent and
// received: times, the slowest of them, stages, rows of the raw file. A goroutine that
// adds to it has a part of its own, or adds atomically.
type Recording struct {
	*plan.Plan

	Rec      *recorder.Recorder
	Tails    []*tail
	Stages   stages
	raw      *result.RawWriter
	rawSinks []*RawSink
	rawAhead int64 // blocks of it that are made ready beforehand
}

// Metrics returns what is recorded of the load itself.
func (r *Recording) Metrics() []recorder.ID {
	m := r.Flow.Metrics(r.Layout.MaxFanOut())
	if r.mayHaveStages() {
		m = append(m, recorder.StageClient, recorder.StageBroker, recorder.StageReceive, recorder.StageCallback)
	}
	if r.Flow.Timed && !r.OwnsDialing {
		if r.Flow.Delivers && !r.Interrupted {
			m = append(m, recorder.LagReceive)
		}
		if r.Flow.Acked {
			m = append(m, recorder.LagReceiveAck)
		}
	}
	return m
}

// TailOf returns the tail of id, nil without a schedule: then there are no
// response times.
func (r *Recording) TailOf(id recorder.ID) *tail {
	if !r.Rec.Enabled(id) {
		return nil
	}
	for _, t := range r.Tails {
		if t.Metric == id {
			return t
		}
	}
	t := newTail(id)
	r.Tails = append(r.Tails, t)
	return t
}

// RefusedPublish records a refused message in the publish latencies.
func (r *Recording) RefusedPublish(intended int64) {
	if !r.Flow.Acked {
		return
	}
	due := intended - r.Start.Load()
	r.Rec.Refuse(r.Flow.AckService, due, 1)
	if r.Flow.Timed {
		r.Rec.Refuse(r.Flow.AckResponse, due, 1)
	}
}

// RefusedDelivery records a message that was refused, and due so long after the
// window's start, in the delivery latencies: once for each group that waits for
// it.
func (r *Recording) RefusedDelivery(fanOut int, due int64) {
	if len(r.Layout.Groups) == 0 {
		return
	}
	groups := int64(fanOut)
	r.RefusedBy(due, groups)
	if groups > 1 && r.Flow.Timed {
		r.Rec.Refuse(recorder.DeliveryLast, due, 1)
	}
}

// RefusedBy records a refused message in the delivery latencies of so many
// groups.
func (r *Recording) RefusedBy(due, groups int64) {
	r.Rec.Refuse(r.Flow.Service, due, groups)
	if r.Flow.Timed {
		r.Rec.Refuse(r.Flow.Response, due, groups)
	}
}
