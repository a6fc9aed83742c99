package credit

import (
	"math"
	"sync/atomic"
	"time"
)

// expiry counts messages in flight by when they were sent, so that a message that is never
// delivered loses its credit after a while, without a table of all of them. Senders and the client's
// goroutines count; sweep belongs to the collector.
type expiry struct {
	length int64 // of a bucket, ns
	// buckets count, by the instant of sending / length modulo 1024, messages in flight in the low half,
	// and in the high half how many of these are of the window.
	buckets [1024]atomic.Int64
	swept   atomic.Int64 // number of the next bucket to sweep; earlier ones have no credits. sweep stores, anyone reads
}

// newExpiry returns the counts for a time limit: 512 buckets of it, of a millisecond at least.
func newExpiry(timeout time.Duration) *expiry {
	return &expiry{length: max(int64(time.Millisecond), int64(timeout)/512)}
}

// inBucket is a message in the count of a bucket.
func inBucket(measured bool) int64 {
	if measured {
		return 1 | 1<<32
	}
	return 1
}

// opened counts a message that was sent at an instant.
func (e *expiry) opened(sent int64, measured bool) {
	e.buckets[sent/e.length%1024].Add(inBucket(measured))
}

// closed takes back the credit of a message and reports whether it still had one. A message whose
// bucket was swept has no credit: the bucket may count later messages by now.
func (e *expiry) closed(sent int64, measured bool) bool {
	n := sent / e.length
	if n < e.swept.Load() {
		return false
	}
	b, one := &e.buckets[n%1024], inBucket(measured)
	// A sweep may empty the bucket between the look at swept and here. Then the count falls below 0,
	// and is put back: the sweep has taken this credit.
	if b.Add(-one) < 0 {
		b.Add(one)
		return false
	}
	return true
}

// sweep empties the buckets that end before horizon, CLOCK_MONOTONIC, and returns how many messages were
// left in them, and how many of these belong to the window.
func (e *expiry) sweep(horizon int64) (n, measured int64) {
	last := horizon/e.length - 1
	// Buckets further back have been used again for messages under way, and are swept with those: from
	// horizon to now there are 514.
	for b := max(e.swept.Load(), last-500); b <= last; b++ {
		e.swept.Store(b + 1) // first: from then on closed leaves the bucket alone
		left := e.buckets[b%1024].Swap(0)
		n, measured = n+left&math.MaxUint32, measured+min(left>>32, left&math.MaxUint32)
	}
	return n, measured
}
