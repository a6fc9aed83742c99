// Package observe notes what happens to single messages while they are sent and received: times
// in histograms, the stages of a sample, the slowest, and the rows of the raw file.
package observe

import (
	"sixnines/internal/engine/plan"
	"sixnines/internal/rawfile"
	"sixnines/internal/recorder"
)

// Recording is what is recorded of single messages while they are sent and received: times, the
// slowest of them, stages, rows of the raw file. The run's goroutine makes its parts before the load
// begins, and reads or closes them after it. In between a goroutine that adds has a part of its own
// (a shard, a tail's part, a sink), or adds atomically.
type Recording struct {
	*plan.Plan

	Rec      *recorder.Recorder // made while the load connects; safe for concurrent use where its methods say so
	Tails    []*tail            // one for each metric that has one; made while the load connects
	Stages   stages
	raw      *rawfile.Writer // nil: there is no raw file, or it is closed
	rawSinks []*RawSink      // of lanes and consumers; made while the load connects
	rawAhead int64           // blocks of the raw file whose memory is touched before their first use
}

// Metrics returns what is recorded of the load itself. What it returns depends on PlanStages.
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

// TailOf returns the tail of id, and makes it where it is the first to ask; nil: id is not recorded. It
// belongs to the run's goroutine, while the load connects and after it.
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

// RefusedPublish records a refused message in the publish latencies. intended is CLOCK_MONOTONIC. It is
// safe for concurrent use, as the next two are.
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

// RefusedDelivery records a refused message in the delivery latencies: once for each of the fanOut
// groups that wait for it. due is when it was due, ns from the window's start.
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

// RefusedBy records a refused message in the delivery latencies of a number of groups. due is ns from
// the window's start, or recorder.UnknownDue.
func (r *Recording) RefusedBy(due, groups int64) {
	r.Rec.Refuse(r.Flow.Service, due, groups)
	if r.Flow.Timed {
		r.Rec.Refuse(r.Flow.Response, due, groups)
	}
}
