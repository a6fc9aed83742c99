package kit

import "sync"

// Backlog hands messages, of whatever kind a driver makes of them, to a slow
// consumer on a goroutine of its own, so that the one that reads the connection
// goes on. Its methods are safe for concurrent use.
type Backlog[M any] struct {
	hand  func(M)
	limit int // of messages that wait; 0: none, what the broker may send ahead is the broker's to say

	mu      sync.Mutex
	more    sync.Cond
	waiting []M
	stopped bool
}

// NewBacklog begins to hand messages over.
func NewBacklog[M any](hand func(M)) *Backlog[M] {
	b := &Backlog[M]{hand: hand}
	b.more.L = &b.mu
	go b.run()
	return b
}

// Limit has Add wait while that many messages wait; 0: never. It is called before Add.
func (b *Backlog[M]) Limit(limit int) { b.limit = limit }

// Add adds a message, which must be a copy; false: the backlog was stopped.
func (b *Backlog[M]) Add(m M) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.limit > 0 && len(b.waiting) >= b.limit && !b.stopped {
		b.more.Wait()
	}
	if !b.stopped {
		b.waiting = append(b.waiting, m)
		b.more.Broadcast()
	}
	return !b.stopped
}

func (b *Backlog[M]) run() {
	var batch []M
	for {
		b.mu.Lock()
		for len(b.waiting) == 0 && !b.stopped {
			b.more.Wait()
		}
		if b.stopped {
			b.mu.Unlock()
			return
		}
		batch, b.waiting = b.waiting, batch[:0]
		b.more.Broadcast()
		b.mu.Unlock()
		for i, m := range batch {
			b.hand(m)
			var none M
			batch[i] = none // it may be large
		}
	}
}

// Stop forgets what was not handed over. What has been taken up, hand still
// gets. It does not wait.
func (b *Backlog[M]) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.more.Broadcast()
}
