package engine

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"sixnines/internal/recorder"
	"sixnines/result"
)

// tailKept is how many of the slowest messages of a metric are kept.
const tailKept = 100

// tailShards is in how many parts a metric's slowest are kept while the run
// goes on: where a backlog grows, every message is slower than all before, and
// consumers should not meet at one lock.
const tailShards = 8

// tail keeps the slowest messages of one metric. Those of all are among those
// of the parts.
type tail struct {
	metric recorder.ID
	shards [tailShards]tailShard
}

func newTail(id recorder.ID) *tail {
	t := &tail{metric: id}
	for i := range t.shards {
		s := &t.shards[i]
		s.kept = make([]exemplar, 0, tailKept)
		s.floor.Store(-1)
	}
	return t
}

// tailShard is one part. offer is safe for concurrent use and does not
// allocate.
type tailShard struct {
	// floor is the value that one must exceed to be kept. It is all that a
	// message of no interest costs.
	floor atomic.Int64
	mu    sync.Mutex
	kept  []exemplar // a heap, the least value first
	_     [64]byte
}

// exemplar is one slow message; instants are absolute.
type exemplar struct {
	value, intended, sent, done, own int64
	seq                              uint64
	stream                           *stream
	consumer, partition              int32
}

// offer keeps e if it is among the slowest.
func (s *tailShard) offer(e exemplar) {
	s.mu.Lock()
	switch {
	case len(s.kept) < tailKept:
		s.kept = append(s.kept, e)
		for i := len(s.kept) - 1; i > 0 && s.kept[(i-1)/2].value > s.kept[i].value; i = (i - 1) / 2 {
			s.kept[i], s.kept[(i-1)/2] = s.kept[(i-1)/2], s.kept[i]
		}
	case e.value > s.kept[0].value:
		s.kept[0] = e
		for i := 0; ; {
			least := i
			for c := 2*i + 1; c <= 2*i+2 && c < tailKept; c++ {
				if s.kept[c].value < s.kept[least].value {
					least = c
				}
			}
			if least == i {
				break
			}
			s.kept[i], s.kept[least] = s.kept[least], s.kept[i]
			i = least
		}
	}
	if len(s.kept) == tailKept {
		s.floor.Store(s.kept[0].value)
	}
	s.mu.Unlock()
}

// slowest returns the slowest of all parts, slowest first; of those as slow as
// each other the earlier first.
func (t *tail) slowest() []exemplar {
	var all []exemplar
	for i := range t.shards {
		all = append(all, t.shards[i].kept...)
	}
	slices.SortStableFunc(all, func(a, b exemplar) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.intended, b.intended),
			cmp.Compare(a.stream.id, b.stream.id), cmp.Compare(a.seq, b.seq))
	})
	return all[:min(len(all), tailKept)]
}

// unknownInstant is Exemplar.Sent of a message of which nothing is left but
// that it was due: it was never sent, or never resolved.
const unknownInstant = -1

// exemplars are the slowest messages as the result file has them. Nobody adds
// any more.
func (r *run) exemplars() (out []result.Exemplar) {
	start := r.start.Load()
	parts := false // does any consumer see more than one part of a topic?
	for _, c := range r.consumers {
		parts = parts || len(c.highest) > 1
	}
	for _, t := range r.tails {
		for _, e := range t.slowest() {
			x := result.Exemplar{Metric: t.metric.Metric(), Value: e.value, Producer: e.stream.plan.producer, Consumer: int(e.consumer),
				Topic: r.layout.topics[e.stream.plan.topic], Partition: e.partition, Sequence: e.seq,
				Intended: e.intended - start, Sent: unknownInstant, Done: e.done - start, Own: e.own}
			if e.sent != unknownInstant {
				x.Sent = e.sent - start
			}
			if !parts {
				x.Partition = -1
			}
			out = append(out, x)
		}
	}
	return out
}

// tailOf returns a part of the tail of id, for the i-th of those that add to
// it. Without a schedule there are no response times and no tail.
func (r *run) tailOf(id recorder.ID, i int) *tailShard {
	if !r.rec.Enabled(id) {
		return nil
	}
	for _, t := range r.tails {
		if t.metric == id {
			return &t.shards[i%tailShards]
		}
	}
	t := newTail(id)
	r.tails = append(r.tails, t)
	return &t.shards[i%tailShards]
}
