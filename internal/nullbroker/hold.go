package nullbroker

import (
	"container/heap"
	"runtime"
	"sync"

	"sixnines/internal/clock"
)

// holdMost is how many bytes may be held back at a time. Who has more waits.
const holdMost = 256 << 20

// slice is the longest sleep, in ns, while anything is held: a message that
// comes meanwhile may be due before those that are there. It bounds how late
// such a one is, and how long the sleeping thread keeps its processor.
const slice = 100_000

// hold keeps messages until they are due. It has a thread of its own: Go's
// timers are late by up to a millisecond.
type hold struct {
	forward func(m *message, touched *senders)

	mu     sync.Mutex
	more   sync.Cond // something is held, or closed
	room   sync.Cond
	queue  queue
	free   []*heldMessage
	bytes  int
	closed bool
}

// heldMessage is a message with its own copy of the bytes.
type heldMessage struct {
	message
	due int64
	nth uint64 // in the order of coming, for those due at once
}

func newHold(forward func(m *message, touched *senders)) *hold {
	h := &hold{forward: forward}
	h.more.L, h.room.L = &h.mu, &h.mu
	return h
}

// add takes a copy of m, to be forwarded at due. It reports false, and takes
// nothing, if there is no room.
func (h *hold) add(m *message, due int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bytes > 0 && h.bytes+len(m.tail) > holdMost {
		return false
	}
	h.put(m, due)
	return true
}

// addLater is add that waits for room.
func (h *hold) addLater(m *message, due int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.bytes > 0 && h.bytes+len(m.tail) > holdMost && !h.closed {
		h.room.Wait()
	}
	h.put(m, due)
}

func (h *hold) put(m *message, due int64) {
	if h.closed {
		return
	}
	var k *heldMessage
	if n := len(h.free); n > 0 {
		k, h.free = h.free[n-1], h.free[:n-1]
	} else {
		k = &heldMessage{}
	}
	bytes := append(k.tail[:0], m.tail...)
	k.message, k.due, k.nth = *m, due, h.queue.next
	k.tail = bytes
	h.queue.next++
	h.bytes += len(bytes)
	heap.Push(&h.queue, k)
	if len(h.queue.held) == 1 {
		h.more.Signal()
	}
}

// freeMost is how many messages, and how large ones, are kept for reuse.
const (
	freeMost      = 1 << 14
	freeBytesMost = 64 << 10
)

// run forwards what is due until close.
func (h *hold) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = clock.SetTimerSlack(1) // without it: late by some 50 µs, which the log shows
	var due []*heldMessage
	var touched senders
	for {
		h.mu.Lock()
		for len(h.queue.held) == 0 && !h.closed {
			h.more.Wait()
		}
		if h.closed {
			h.mu.Unlock()
			return
		}
		now := clock.Now()
		first := h.queue.held[0].due
		if first > now {
			h.mu.Unlock()
			clock.SleepUntil(min(first, now+slice))
			continue
		}
		for len(h.queue.held) > 0 && h.queue.held[0].due <= now {
			due = append(due, heap.Pop(&h.queue).(*heldMessage))
		}
		h.mu.Unlock()
		bytes := 0
		for _, k := range due {
			bytes += len(k.tail)
			h.forward(&k.message, &touched)
		}
		touched.flush()
		h.mu.Lock()
		h.bytes -= bytes
		for i, k := range due {
			if cap(k.tail) <= freeBytesMost && len(h.free) < freeMost {
				k.message = message{tail: k.tail}
				h.free = append(h.free, k)
			}
			due[i] = nil
		}
		h.room.Broadcast()
		h.mu.Unlock()
		due = due[:0]
	}
}

// close ends run; what is held is forgotten.
func (h *hold) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.more.Broadcast()
	h.room.Broadcast()
}

// queue is a heap by due instant.
type queue struct {
	held []*heldMessage
	next uint64
}

func (q *queue) Len() int { return len(q.held) }
func (q *queue) Less(i, j int) bool {
	a, b := q.held[i], q.held[j]
	return a.due < b.due || a.due == b.due && a.nth < b.nth
}
func (q *queue) Swap(i, j int) { q.held[i], q.held[j] = q.held[j], q.held[i] }
func (q *queue) Push(x any)    { q.held = append(q.held, x.(*heldMessage)) }
func (q *queue) Pop() any {
	n := len(q.held) - 1
	x := q.held[n]
	q.held[n], q.held = nil, q.held[:n]
	return x
}
