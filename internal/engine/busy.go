package engine

// busyLog remembers when a pacer was inside the client's send call or waiting
// for a place in flight, so that the lag of a message splits into what the
// system under test imposed (blocked) and what the generator did by itself
// (own): of the time between intended and sent, blocked is the part that the
// pacer spent there, on this or on earlier messages, and own is the rest.
//
// (Taking the return of the previous send as the end of blocking would call it
// blocked when the generator itself had been frozen: the first message after a
// freeze is late by itself, and each following one "waits" for a send.)
//
// Instants are ascending. The log needs no memory while the pacer is in time.
type busyLog struct {
	spans [busySpans]busySpan
	head  int   // oldest
	n     int   // spans in use
	sum   int64 // of their lengths
}

type busySpan struct{ start, end int64 }

const busySpans = 4096

// mergeGap is how near two spans must be to be taken as one: between two sends
// of a backlog lies well under a microsecond of our own work.
const mergeGap = 1000

// add notes that the pacer was busy from start to end.
func (b *busyLog) add(start, end int64) {
	if b.n > 0 {
		last := &b.spans[(b.head+b.n-1)%busySpans]
		if start-last.end <= mergeGap || b.n == busySpans {
			b.sum += end - last.end
			last.end = end
			return
		}
	}
	b.spans[(b.head+b.n)%busySpans] = busySpan{start, end}
	b.n++
	b.sum += end - start
}

// blocked returns how much of [intended, sent] was busy. Calls come with
// ascending intended, and nothing busy ends after sent.
func (b *busyLog) blocked(intended, sent int64) int64 {
	for b.n > 0 && b.spans[b.head].end <= intended {
		s := b.spans[b.head]
		b.sum -= s.end - s.start
		b.head = (b.head + 1) % busySpans
		b.n--
	}
	if b.n == 0 {
		return 0
	}
	return max(0, min(b.sum-max(0, intended-b.spans[b.head].start), sent-intended))
}
