package relay

import (
	"math/rand/v2"
	"sync"
	"time"

	"sixnines/internal/clock"
)

// Conditions are what one direction of all connections is like. The zero value passes everything at once.
type Conditions struct {
	Delay  time.Duration `json:"delay,omitempty"`
	Jitter time.Duration `json:"jitter,omitempty"` // the delay of a piece is drawn evenly from delay − jitter to delay + jitter
	// Rate is in bits a second of IP packets: headers are counted as if pieces went in full segments over Ethernet.
	Rate int64 `json:"rate,omitempty"`
}

// Counts is what one direction carried.
type Counts struct {
	Pieces int64 `json:"pieces"` // as they were read: a write of a client, or a part of one
	Bytes  int64 `json:"bytes"`  // of packets, carried while the rate was the limit
	// Busy is how long the rate was the limit.
	Busy time.Duration `json:"busy"`
	// Late is the sum over those that waited of how much later than due they were written, and Waited their number. Below 0 says before.
	Late     time.Duration `json:"late"`
	LateMost time.Duration `json:"late_most"`
	Waited   int64         `json:"waited"`
}

const (
	segment = 1448 // bytes of payload in a full packet of 1,500 bytes
	headers = 52   // of each packet: IP and TCP with time stamps
	// backlogTime and backlogBytes bound what waits for the rate: the larger of the two. Then nothing more is read.
	backlogTime  = 100 * time.Millisecond
	backlogBytes = 256 << 10
	// mostPiece is the largest number of bytes that are read at once.
	mostPiece = 64 << 10
	// mostEarly bounds by how much a piece may be written before it is due.
	mostEarly = int64(100 * time.Microsecond)
)

// way is one direction of all connections.
type way struct {
	mu         sync.Mutex // guards the rest
	conditions Conditions
	held       bool
	changed    chan struct{} // closed, and made anew, with each change
	generation int           // grows when pieces that wait are to go at once
	released   int64         // when it was last not held any more, CLOCK_MONOTONIC; 0: never
	random     *rand.Rand
	free       int64 // when the line of the rate has sent what it has, CLOCK_MONOTONIC
	last       int64 // when the last piece was written that waited for the rate
	early      int64 // how long before a piece is due its writer wakes, see await
	counts     Counts
}

func newWay(seed uint64) *way {
	return &way{changed: make(chan struct{}), random: rand.New(rand.NewPCG(seed, 37))}
}

// set changes the conditions, or whether the way is held. What waits by former conditions goes at once. It returns what was counted
// since the conditions began: holding a way does not count anew.
func (w *way) set(c Conditions, held bool) (before Counts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before = w.counts
	if c != w.conditions {
		w.generation++
		w.free, w.last, w.counts = 0, 0, Counts{}
	}
	if w.held && !held {
		w.released = clock.Now()
	}
	w.conditions, w.held = c, held
	close(w.changed)
	w.changed = make(chan struct{})
	return before
}

// pass waits as long as a packet takes for the way, and as long as it is held; false: quit was closed.
func (w *way) pass(quit <-chan struct{}) bool {
	var p piece
	w.enter(&p, clock.Now(), piece{})
	return w.await(&p, quit)
}

// piece is what was read at once.
type piece struct {
	data       []byte
	due        int64 // CLOCK_MONOTONIC
	generation int
	limited    bool  // it waits for the rate
	err        error // of the read, when nothing more comes; io.EOF where the other end has closed
}

// enter decides when a piece is due that came now after another on its connection. It is not due before that one, unless
// that one waited by former conditions: then it goes at once, and so may this one. at once reports that nothing holds it back.
func (w *way) enter(p *piece, now int64, before piece) (atOnce bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.conditions
	w.counts.Pieces++
	p.due, p.generation = now, w.generation
	if c.Rate > 0 && len(p.data) > 0 {
		p.limited = w.free > now
		w.free = max(w.free, now) + onWire(len(p.data))*8*int64(time.Second)/c.Rate
		p.due = w.free
	}
	delay := int64(c.Delay)
	if c.Jitter > 0 {
		delay += w.random.Int64N(2*int64(c.Jitter)+1) - int64(c.Jitter)
	}
	p.due += delay
	if before.generation == w.generation {
		p.due = max(p.due, before.due)
	}
	return p.due <= now && !w.held
}

// onWire returns how many bytes of IP packets a piece is.
func onWire(n int) int64 { return int64(n + headers*((n+segment-1)/segment)) }

// room waits until the line of the rate takes more, and returns how much to read at once; false: quit was closed.
func (w *way) room(quit <-chan struct{}) (most int, ok bool) {
	for {
		w.mu.Lock()
		rate, wait, changed := w.conditions.Rate, w.free-clock.Now(), w.changed
		w.mu.Unlock()
		if rate == 0 {
			return mostPiece, true
		}
		most = min(mostPiece, max(segment, int(rate/8/1000))) // a millisecond of it
		if wait -= max(int64(backlogTime), backlogBytes*8*int64(time.Second)/rate); wait <= 0 {
			return most, true
		}
		if !rest(wait, changed, quit) {
			return 0, false
		}
	}
}

// fine is how long before an instant a writer begins to sleep precisely, which nothing ends early.
const fine = int64(1500 * time.Microsecond)

// await waits until a piece is due and nothing holds it back; false: quit was closed.
//
// What a wake-up takes is known from those before: a writer wakes earlier by that, and pieces are written on time on average.
func (w *way) await(p *piece, quit <-chan struct{}) bool {
	for {
		w.mu.Lock()
		held, generation, changed, early := w.held, w.generation, w.changed, w.early
		w.mu.Unlock()
		left := p.due - early - clock.Now()
		switch {
		case held:
			select {
			case <-changed:
			case <-quit:
				return false
			}
		case p.generation != generation || left <= 0:
			return true
		case left > 2*fine:
			if !rest(left-fine, changed, quit) {
				return false
			}
		default:
			clock.SleepUntilPrecisely(p.due - early)
			woke := clock.Now()
			w.mu.Lock()
			w.early = max(0, min(mostEarly, w.early+(woke-(p.due-early)-w.early)/8))
			if p.generation == w.generation {
				w.counts.Waited++
				w.counts.Late += time.Duration(woke - p.due)
				w.counts.LateMost = max(w.counts.LateMost, time.Duration(woke-p.due))
			}
			w.mu.Unlock()
		}
	}
}

// left notes that a piece was written. What waited for the end of former conditions, or of a hold, went at once and says nothing
// of the rate.
func (w *way) left(p *piece) {
	if !p.limited {
		return
	}
	now := clock.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.generation != w.generation {
		return
	}
	if p.due < w.released {
		w.last = 0
		return
	}
	if w.last > 0 {
		w.counts.Bytes += onWire(len(p.data))
		w.counts.Busy += time.Duration(now - w.last)
	}
	w.last = now
}

// rest sleeps; false: quit was closed. It ends early with a change.
func rest(ns int64, changed, quit <-chan struct{}) bool {
	t := time.NewTimer(time.Duration(ns))
	defer t.Stop()
	select {
	case <-t.C:
	case <-changed:
	case <-quit:
		return false
	}
	return true
}
