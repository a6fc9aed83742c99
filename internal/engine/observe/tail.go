package observe

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"sixnines/internal/recorder"
)

// TailKept is how many of the slowest messages of a metric are kept.
const (
	TailKept   = 100
	tailPlaces = 128 // for as many, a power of two
)

// tailShards is in how many parts a metric's slowest are kept while the run
// goes on: where a backlog grows, every message is slower than all before, and
// consumers should not wait for one lock.
const tailShards = 8

// tail keeps the slowest messages of one metric, in parts. The slowest of all are among the slowest of
// the parts.
type tail struct {
	Metric recorder.ID
	shards [tailShards]TailShard
}

func newTail(id recorder.ID) *tail {
	t := &tail{Metric: id}
	for i := range t.shards {
		t.shards[i].Floor.Store(-1)
	}
	return t
}

// TailShard is one part. Offer does not allocate. It is safe for concurrent use in a part that is
// shared; one that is not belongs to its one consumer, which takes no lock.
type TailShard struct {
	// Floor is the value, ns, that a message must exceed to be kept; −1 before TailKept are. To compare
	// with it is all that any other message costs. Offer stores it, anyone reads.
	Floor atomic.Int64
	// shared: several goroutines offer at a time. It is fixed before the load begins, as owned is.
	shared bool
	owned  bool                 // it has a user
	mu     sync.Mutex           // guards what follows, if shared
	kept   [tailPlaces]Exemplar // a ring in the order of values
	least  uint                 // where it begins; modulo tailPlaces
	n      int                  // how many are kept
	_      [64]byte             // other parts are on other cache lines
}

// Exemplar is one slow message. Value is its response time and Own the generator's own lag in it, in ns;
// Intended, Sent and Done are instants of CLOCK_MONOTONIC, and Sent may be UnknownInstant. Seq is its
// sequence number in Stream. Consumer and Partition are −1 where no consumer received it, or that is not
// known.
type Exemplar struct {
	Value, Intended, Sent, Done, Own int64
	Seq                              uint64
	Stream                           uint32
	Consumer, Partition              int32
}

// Offer keeps a copy of e if it is among the slowest. Where a backlog grows each message is
// the slowest yet, and goes to the end at once.
func (s *TailShard) Offer(e *Exemplar) {
	if !s.shared {
		s.insert(e)
		return
	}
	s.mu.Lock()
	s.insert(e)
	s.mu.Unlock()
}

// GiveUp offers a message that was never resolved and was given up at an instant, CLOCK_MONOTONIC. Like
// Offer, it is safe for concurrent use in a shared part.
func (s *TailShard) GiveUp(stream uint32, seq uint64, intended, at int64) {
	if at-intended > s.Floor.Load() {
		s.Offer(&Exemplar{Value: at - intended, Intended: intended, Sent: UnknownInstant, Done: at,
			Seq: seq, Stream: stream, Consumer: -1, Partition: -1})
	}
}

func (s *TailShard) insert(e *Exemplar) {
	switch {
	case s.n < TailKept:
		s.n++
	case e.Value > s.at(0).Value:
		s.least++
	default:
		return // another goroutine raised the floor meanwhile
	}
	i := s.n - 1
	for ; i > 0 && s.at(i-1).Value > e.Value; i-- {
		*s.at(i) = *s.at(i - 1)
	}
	*s.at(i) = *e
	if s.n == TailKept {
		s.Floor.Store(s.at(0).Value)
	}
}

// at returns the memory of the i-th least.
func (s *TailShard) at(i int) *Exemplar { return &s.kept[(s.least+uint(i))%tailPlaces] }

// Slowest returns the slowest of all parts, TailKept at most, slowest first; of equally slow ones the
// earlier first. It takes no lock: it is called when no more are offered.
func (t *tail) Slowest() []Exemplar {
	var all []Exemplar
	for i := range t.shards {
		for k := range t.shards[i].n {
			all = append(all, *t.shards[i].at(k))
		}
	}
	slices.SortStableFunc(all, func(a, b Exemplar) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Intended, b.Intended),
			cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Seq, b.Seq))
	})
	return all[:min(len(all), TailKept)]
}

// UnknownInstant is Exemplar.Sent of a message that was never sent, or never resolved: only when it was
// due is known.
const UnknownInstant = -1

// Part returns the part for the i-th user of the tail; alone says that the user calls Offer serially. A
// part with two users, or one that is not alone, is shared. It is called before the load begins, or
// after it; a nil tail has no parts.
func (t *tail) Part(i int, alone bool) *TailShard {
	if t == nil {
		return nil
	}
	s := &t.shards[i%tailShards]
	s.shared = s.shared || s.owned || !alone
	s.owned = true
	return s
}
