package engine

// blockedLog remembers when a connection's client waited for something outside the
// generator, so that the lag of a message splits into what the system under test imposed
// (blocked) and what the generator did by itself (own): of the time between
// intended and sent, blocked is the part that this connection spent in such
// waits, on this or on earlier messages, and own is the rest. The rest includes
// a thread that had no processor and the sends of other connections on the same
// thread.
//
// (Taking the return of the previous send as the end of blocking would call it
// blocked when the generator itself had been frozen: the first message after a
// freeze is late by itself, and each following one "waits" for a send.)
//
// Instants are ascending. The log needs no memory while nothing blocks.
type blockedLog struct {
	spans []blockedSpan // a ring, made when first needed
	head  int           // oldest
	n     int           // spans in use
	sum   int64         // of their lengths
}

type blockedSpan struct{ start, end int64 }

// blockedSpans is how many separate waits are remembered. They matter as long as
// messages due before their end are unsent.
const blockedSpans = 1024

// mergeGap is how near two spans must be to be taken as one: between two sends
// of a backlog lies well under a microsecond of our own work.
const mergeGap = 1000

// add notes that the client waited from start to end.
func (b *blockedLog) add(start, end int64) {
	if end <= start {
		return
	}
	if b.spans == nil {
		b.spans = make([]blockedSpan, blockedSpans)
	}
	if b.n > 0 {
		last := &b.spans[(b.head+b.n-1)%blockedSpans]
		if start = max(start, last.end); end <= start {
			return
		}
		if start-last.end <= mergeGap {
			b.sum += end - last.end
			last.end = end
			return
		}
	}
	if b.n == blockedSpans { // what is forgotten counts as own
		b.drop()
	}
	b.spans[(b.head+b.n)%blockedSpans] = blockedSpan{start, end}
	b.n++
	b.sum += end - start
}

func (b *blockedLog) drop() {
	s := b.spans[b.head]
	b.sum -= s.end - s.start
	b.head = (b.head + 1) % blockedSpans
	b.n--
}

// within returns how much of [intended, sent] was blocked. Calls come with
// ascending intended, and nothing blocked ends after sent.
func (b *blockedLog) within(intended, sent int64) int64 {
	for b.n > 0 && b.spans[b.head].end <= intended {
		b.drop()
	}
	if b.n == 0 {
		return 0
	}
	return max(0, min(b.sum-max(0, intended-b.spans[b.head].start), sent-intended))
}
