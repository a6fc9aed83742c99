package window

import "sync/atomic"

// Quota is the number of messages that a window of fixed size still has. The zero value
// has no end. Its methods are safe for concurrent use.
type Quota struct {
	Limited bool         // fixed before anything is sent
	left    atomic.Int64 // below 0 where more were asked for than there were
}

// Limit sets the number, before anything is sent.
func (q *Quota) Limit(n int64) {
	q.Limited = true
	q.left.Store(n)
}

// Take reports whether one more message belongs to the window.
func (q *Quota) Take() bool { return !q.Limited || q.left.Add(-1) >= 0 }

// Claim takes up to n messages at once, and returns how many it got; 0: the quota is used up.
func (q *Quota) Claim(n int64) int64 {
	if !q.Limited {
		return n
	}
	left := q.left.Add(-n)
	return max(0, min(n, left+n))
}
