package readback

import (
	"math"

	"sixnines/internal/engine/stream"
)

// head is what tells messages that a limit has dropped as the oldest of a place from lost ones. A place has the
// messages of a stream in the order of their numbers, as is seen by those that it has.
type head struct {
	oldest, newest []uint64 // by stream of the load: the lowest number that was read, and the last one
	disordered     bool     // a number came after a higher one
	// decided says that the broker counts what it has dropped, and that as many acknowledged messages, or fewer, are gone
	// before the oldest ones. exact says that more are gone than it has dropped: those after the oldest are lost.
	decided, exact bool
}

func newHead(streams int) head {
	h := head{oldest: make([]uint64, streams), newest: make([]uint64, streams)}
	for i := range h.oldest {
		h.oldest[i] = math.MaxUint64
	}
	return h
}

// came notes a message that was read, in the order of the place.
func (h *head) came(stream uint32, seq uint64) {
	h.disordered = h.disordered || h.oldest[stream] != math.MaxUint64 && seq <= h.newest[stream]
	h.oldest[stream], h.newest[stream] = min(h.oldest[stream], seq), seq
}

// decideHead compares what the broker says that it has dropped from p with what is gone. A place that was there before
// the run may have dropped others' messages.
func (b *Back) decideHead(p *place) {
	if p.reading.Dropped == 0 || b.Session.Topology().Existing {
		return
	}
	var before, after int64 // acknowledged ones that are gone, before and after the oldest of their streams
	for _, st := range b.streams {
		if st.Plan.Topic != p.topic || st.Acked == nil {
			continue
		}
		newest, any := st.Acked.Highest()
		for seq := uint64(0); any && seq <= newest; seq++ {
			switch {
			case !st.Acked.Has(seq):
			case seq < p.head.oldest[st.ID]:
				before++
			case seq >= st.First && seq < st.Last && !has(p.ledgers, st, seq):
				after++
			}
		}
	}
	p.head.decided = before <= p.reading.Dropped
	p.head.exact = p.head.decided && !p.head.disordered && before+after > p.reading.Dropped
}

// fate returns what became of a message that is gone from a place where a limit has removed some.
func (h *head) fate(st *stream.Stream, seq uint64) Fate {
	switch {
	case h.decided && seq < h.oldest[st.ID]:
		return Dropped
	case h.exact:
		return Gone
	}
	return Removed
}
