package engine

import (
	"sixnines/internal/engine/plan"
	"sixnines/internal/recorder"
	"sixnines/result"
)

// recording is what is recorded of single messages while they are sent and
// received: times, the slowest of them, stages, rows of the raw file. A goroutine that
// adds to it has a part of its own, or adds atomically.
type recording struct {
	*plan.Plan
	session *session

	rec      *recorder.Recorder
	tails    []*tail
	stages   stages
	raw      *result.RawWriter
	rawSinks []*rawSink
	rawAhead int64 // blocks of it that are made ready beforehand
}

// metrics returns what is recorded of the load itself.
func (r *recording) metrics() []recorder.ID {
	m := r.Flow.Metrics(r.Layout.MaxFanOut())
	if r.mayHaveStages() {
		m = append(m, recorder.StageClient, recorder.StageBroker, recorder.StageReceive, recorder.StageCallback)
	}
	if r.Flow.Timed && !r.session.ownsDialing {
		if r.Flow.Delivers && !r.Workload.Consumer.Interrupted() {
			m = append(m, recorder.LagReceive)
		}
		if r.Flow.Acked {
			m = append(m, recorder.LagReceiveAck)
		}
	}
	return m
}

// tailOf returns the tail of id, nil without a schedule: then there are no
// response times.
func (r *recording) tailOf(id recorder.ID) *tail {
	if !r.rec.Enabled(id) {
		return nil
	}
	for _, t := range r.tails {
		if t.metric == id {
			return t
		}
	}
	t := newTail(id)
	r.tails = append(r.tails, t)
	return t
}

// refusedPublish records a refused message in the publish latencies.
func (r *recording) refusedPublish(intended int64) {
	if !r.Flow.Acked {
		return
	}
	due := intended - r.Start.Load()
	r.rec.Refuse(r.Flow.AckService, due, 1)
	if r.Flow.Timed {
		r.rec.Refuse(r.Flow.AckResponse, due, 1)
	}
}

// refusedDelivery records a message that was refused, and due so long after the
// window's start, in the delivery latencies: once for each group that waits for
// it.
func (r *recording) refusedDelivery(fanOut int, due int64) {
	if len(r.Layout.Groups) == 0 {
		return
	}
	groups := int64(fanOut)
	r.refusedBy(due, groups)
	if groups > 1 && r.Flow.Timed {
		r.rec.Refuse(recorder.DeliveryLast, due, 1)
	}
}

// refusedBy records a refused message in the delivery latencies of so many
// groups.
func (r *recording) refusedBy(due, groups int64) {
	r.rec.Refuse(r.Flow.Service, due, groups)
	if r.Flow.Timed {
		r.rec.Refuse(r.Flow.Response, due, groups)
	}
}
