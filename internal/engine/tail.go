package engine

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"sixnines/internal/recorder"
)

// tailKept is how many of the slowest messages of a metric are kept.
const (
	tailKept   = 100
	tailPlaces = 128 // for as many, a power of two
)

// tailShards is in how many parts a metric's slowest are kept while the run
// goes on: where a backlog grows, every message is slower than all before, and
// consumers should not wait for one lock.
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
		t.shards[i].floor.Store(-1)
	}
	return t
}

// tailShard is one part. offer does not allocate, and is safe for concurrent use
// of a part that is shared.
type tailShard struct {
	// floor is the value that one must exceed to be kept. To compare with it is
	// all that any other message costs.
	floor atomic.Int64
	// shared: several goroutines offer at a time. One consumer alone does not.
	shared bool
	owned  bool // it has a user
	mu     sync.Mutex
	kept   [tailPlaces]exemplar // a ring in the order of values
	least  uint                 // where it begins
	n      int
	_      [64]byte
}

// exemplar is one slow message; instants are absolute.
type exemplar struct {
	value, intended, sent, done, own int64
	seq                              uint64
	stream                           uint32
	consumer, partition              int32
}

// offer keeps e if it is among the slowest. Where a backlog grows each message is
// the slowest yet, and finds its place at once.
func (s *tailShard) offer(e *exemplar) {
	if !s.shared {
		s.insert(e)
		return
	}
	s.mu.Lock()
	s.insert(e)
	s.mu.Unlock()
}

// giveUp offers a message that was never resolved and was given up at an instant.
func (s *tailShard) giveUp(stream uint32, seq uint64, intended, at int64) {
	if at-intended > s.floor.Load() {
		s.offer(&exemplar{value: at - intended, intended: intended, sent: unknownInstant, done: at,
			seq: seq, stream: stream, consumer: -1, partition: -1})
	}
}

func (s *tailShard) insert(e *exemplar) {
	switch {
	case s.n < tailKept:
		s.n++
	case e.value > s.at(0).value:
		s.least++
	default:
		return // another goroutine raised the floor meanwhile
	}
	i := s.n - 1
	for ; i > 0 && s.at(i-1).value > e.value; i-- {
		*s.at(i) = *s.at(i - 1)
	}
	*s.at(i) = *e
	if s.n == tailKept {
		s.floor.Store(s.at(0).value)
	}
}

// at returns the place of the i-th least.
func (s *tailShard) at(i int) *exemplar { return &s.kept[(s.least+uint(i))%tailPlaces] }

// slowest returns the slowest of all parts, slowest first; of those as slow as
// each other the earlier first.
func (t *tail) slowest() []exemplar {
	var all []exemplar
	for i := range t.shards {
		for k := range t.shards[i].n {
			all = append(all, *t.shards[i].at(k))
		}
	}
	slices.SortStableFunc(all, func(a, b exemplar) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.intended, b.intended),
			cmp.Compare(a.stream, b.stream), cmp.Compare(a.seq, b.seq))
	})
	return all[:min(len(all), tailKept)]
}

// unknownInstant is Exemplar.Sent of a message of which nothing is left but
// that it was due: it was never sent, or never resolved.
const unknownInstant = -1

// part returns the part for the i-th of those that add to the tail; alone says
// that it calls offer serially.
func (t *tail) part(i int, alone bool) *tailShard {
	if t == nil {
		return nil
	}
	s := &t.shards[i%tailShards]
	s.shared = s.shared || s.owned || !alone
	s.owned = true
	return s
}
