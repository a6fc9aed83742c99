package model

// queue is a queue of mem's that one taker empties: of a consumer, or of a producer's
// acknowledgements. So many wait in it, apart from the one that was taken out and is
// waited for or worked on.
type queue struct {
	places int
	taken  []int64 // when each was taken out, in order
	begun  []int64 // when each was handed on
	done   []int64 // when the taker was free again
	free   int64   // when the taker is free again
	shut   bool    // nothing comes through at the very instant at which the broker pauses
	edge   bool    // something would come then
}

// visit is how one message went through a queue.
type visit struct {
	entered int64 // when it had a place
	begun   int64 // when it was handed on
}

// pass sends a message through the queue: it comes at an instant, can be handed on from
// another one on, not while the broker is frozen, nor before there is anybody who takes it,
// from open on, and holds the taker for some time, which hold tells.
func (q *queue) pass(at, ready int64, f frost, open int64, hold func(begun int64) int64) visit {
	v := visit{entered: at}
	if n := len(q.taken); n >= q.places {
		v.entered = max(at, q.taken[n-q.places])
	}
	taken := max(v.entered, q.free)
	q.taken = append(q.taken, taken)
	v.begun = max(q.thawed(f, max(taken, ready), at), open)
	q.free = v.begun
	if hold != nil {
		q.free = max(v.begun, hold(v.begun))
	}
	q.begun, q.done = append(q.begun, v.begun), append(q.done, q.free)
	return v
}

// frost is a stretch in which the broker hands nothing on; none where both are 0.
type frost struct{ from, to int64 }

// thawed is when what was sent at one instant and is ready at t is handed on. Of what is on
// its way at the very instant at which the frost begins, nothing says whether it comes before.
func (q *queue) thawed(f frost, t, sent int64) int64 {
	if t < f.from || t >= f.to {
		return t
	}
	if t == f.from && sent < f.from {
		if q.edge = true; !q.shut {
			return t
		}
	}
	return f.to
}
