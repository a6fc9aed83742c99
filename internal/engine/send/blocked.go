package send

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
// Instants are CLOCK_MONOTONIC and ascending. The log needs no memory while nothing blocks, and its
// memory does not grow with a backlog: where a client makes every message wait, neighbouring waits
// become one span that knows how much of it was blocked. The log belongs to the goroutine that sends
// on the lane.
type blockedLog struct {
	spans []blockedSpan // a ring, made when first needed
	head  int           // oldest
	n     int           // spans in use
	sum   int64         // ns blocked in them
}

// blockedSpan is a wait, or several waits with the gaps between them; blocked is in ns.
type blockedSpan struct{ start, end, blocked int64 }

// after returns for how many ns of a span after an instant the client was blocked. In a span of
// several waits they are taken to be spread evenly.
func (s *blockedSpan) after(at int64) int64 {
	if at <= s.start {
		return s.blocked
	}
	left := s.end - at
	if s.blocked == s.end-s.start {
		return left
	}
	return int64(float64(s.blocked) * float64(left) / float64(s.end-s.start))
}

// blockedSpans is how many spans are kept apart. They matter as long as messages due before
// their end are unsent.
const blockedSpans = 1024

// mergeGap is how near two spans must be to be taken as one: between two sends
// of a backlog lies well under a microsecond of our own work.
const mergeGap = 1000

// add notes that the client waited from start to end. A part that was noted before is left out.
func (b *blockedLog) add(start, end int64) {
	if end <= start {
		return
	}
	if b.spans == nil {
		b.spans = make([]blockedSpan, blockedSpans)
	}
	if b.n > 0 {
		last := b.at(b.n - 1)
		if start = max(start, last.end); end <= start {
			return
		}
		if start-last.end <= mergeGap {
			b.sum += end - last.end
			last.blocked += end - last.end
			last.end = end
			return
		}
	}
	if b.n == blockedSpans {
		b.halve()
	}
	b.n++
	*b.at(b.n - 1) = blockedSpan{start, end, end - start}
	b.sum += end - start
}

// at returns a span by its age, 0 for the oldest.
func (b *blockedLog) at(i int) *blockedSpan { return &b.spans[(b.head+i)%blockedSpans] }

// halve makes one span of each two neighbours.
func (b *blockedLog) halve() {
	for i := range b.n / 2 {
		x, y := *b.at(2 * i), *b.at(2*i + 1)
		*b.at(i) = blockedSpan{x.start, y.end, x.blocked + y.blocked}
	}
	b.n /= 2
}

// drop forgets the oldest span.
func (b *blockedLog) drop() {
	b.sum -= b.at(0).blocked
	b.head = (b.head + 1) % blockedSpans
	b.n--
}

// within returns for how many ns of [intended, sent] the client was blocked. It drops what ended
// before intended: calls come with ascending intended, and no span ends after sent.
func (b *blockedLog) within(intended, sent int64) int64 {
	for b.n > 0 && b.at(0).end <= intended {
		b.drop()
	}
	if b.n == 0 {
		return 0
	}
	oldest := b.at(0)
	return max(0, min(b.sum-oldest.blocked+oldest.after(intended), sent-intended))
}

// freezeLeast is how long a wait must be, in ns, to be searched for freezes of the process: about
// the shortest gap that the hiccup meter takes for one.
const freezeLeast = 5_000_000

// block notes that the lane's client waited from start to end. Time in which the whole process was
// frozen is left out: that is the generator's own lag.
func (l *lane) block(start, end int64) {
	if end-start >= freezeLeast && l.plan.Control.Frozen != nil {
		start = l.blockBetweenFreezes(start, end)
	}
	l.blocked.add(start, end)
}

// blockBetweenFreezes notes the wait up to the last freeze in it, without the freezes, and returns
// when the last one was over; start if there was no freeze.
func (l *lane) blockBetweenFreezes(start, end int64) int64 {
	l.plan.Control.Frozen(start, end, func(from, to int64) {
		l.blocked.add(start, from)
		start = to
	})
	return start
}
