package model

// queue is a queue of mem that one taker empties: that of a consumer, or of a producer's
// acknowledgements. places is its capacity, without the message that was taken out and is
// waited for or processed.
type queue struct {
	places int
	taken  []int64 // when each was taken out, in order
	begun  []int64 // when each was handed on
	done   []int64 // when the taker was free again after each
	free   int64   // when the taker is free again
	shut   bool    // no message passes at the very instant at which the broker pauses
	edge   bool    // a message would have passed at that instant
}

// visit is how one message went through a queue.
type visit struct {
	entered int64 // when it had a place
	begun   int64 // when it was handed on
}

// pass simulates the way of a message through the queue. It comes at at and can be handed on
// from ready on, but not while the broker is paused (f), and not before the taker exists
// (open). hold returns until when it keeps the taker busy; nil: no time.
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

// frost is a period in which the broker hands nothing on; both 0: it does not pause.
type frost struct{ from, to int64 }

// thawed returns when a message that was sent at sent and is ready at t is handed on. For one
// that is ready at the very instant at which the pause begins this is undefined; shut decides.
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
