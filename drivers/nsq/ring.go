package nsq

import "sixnines/driver"

// entry is a message that waits for nsqd's answer.
type entry struct {
	acks  driver.Acks
	token uint64
	last  bool // of its command: the answer is for all up to it
}

// ring is a queue of entries that grows as it must.
type ring struct {
	buf  []entry
	head int
	n    int
}

func (r *ring) push(e entry) {
	if r.n == len(r.buf) {
		grown := make([]entry, max(64, 2*len(r.buf)))
		k := copy(grown, r.buf[r.head:])
		copy(grown[k:], r.buf[:r.head])
		r.buf, r.head = grown, 0
	}
	r.buf[(r.head+r.n)%len(r.buf)] = e
	r.n++
}

// pop takes the oldest entry.
func (r *ring) pop() (entry, bool) {
	if r.n == 0 {
		return entry{}, false
	}
	e := r.buf[r.head]
	r.buf[r.head] = entry{}
	r.head = (r.head + 1) % len(r.buf)
	r.n--
	return e, true
}

// withdraw takes the newest entry, if it is this one.
func (r *ring) withdraw(e entry) bool {
	if r.n == 0 {
		return false
	}
	at := (r.head + r.n - 1) % len(r.buf)
	if r.buf[at] != e {
		return false
	}
	r.buf[at] = entry{}
	r.n--
	return true
}
