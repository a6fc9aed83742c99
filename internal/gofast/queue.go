package gofast

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"sixnines/internal/ring"
)

// many is how many goroutines contend, at each end.
const many = 100

// queues are the benchmarks of handing numbers from goroutine to goroutine. An
// operation is one number handed over by each sender.
func queues() []Benchmark {
	channel := func() queue { return make(channelQueue, queueLength) }
	long := func() queue { return newBounded[packedCell, *packedCell](queueLength) }
	packed := func() queue { return newBounded[packedCell, *packedCell](paddedLength) }
	padded := func() queue { return newBounded[paddedCell, *paddedCell](paddedLength) }
	return []Benchmark{
		{"channel", hand(channel, 1, 1)},
		{"ring", hand(long, 1, 1)},
		{"ring-packed", hand(packed, 1, 1)},
		{"ring-padded", hand(padded, 1, 1)},
		{"engine-ring", engineRing},
		{"channel-readers", hand(channel, 1, many)},
		{"ring-readers", hand(long, 1, many)},
		{"channel-both", hand(channel, many, many)},
		{"ring-both", hand(long, many, many)},
		{"ring-both-packed", hand(packed, many, many)},
		{"ring-both-padded", hand(padded, many, many)},
	}
}

// Lengths are powers of two. That of the queues on which padding is compared is shorter: of a cache line each, 1,024
// places fill 64 KiB, twice a usual first-level cache, and what padding saves is lost to what does not fit. At that
// length a padded ring between two took 5.5 times as long as a packed one.
const (
	queueLength  = 1024
	paddedLength = 256
)

// queue is a bounded queue that waits.
type queue interface {
	put(v uint64)
	take() uint64
}

type channelQueue chan uint64

func (q channelQueue) put(v uint64) { q <- v }
func (q channelQueue) take() uint64 { return <-q }

// bounded is Vyukov's bounded queue of many senders and many receivers, which yields
// while it waits. See [ring.Ring] for the source.
type bounded[C any, P interface {
	*C
	at() (*atomic.Uint64, *uint64)
}] struct {
	cells []C
	_     [56]byte
	head  atomic.Uint64
	_     [56]byte
	tail  atomic.Uint64
}

type packedCell struct {
	turn  atomic.Uint64
	value uint64
}

func (c *packedCell) at() (*atomic.Uint64, *uint64) { return &c.turn, &c.value }

// paddedCell has a cache line of its own.
type paddedCell struct {
	packedCell
	_ [48]byte
}

func newBounded[C any, P interface {
	*C
	at() (*atomic.Uint64, *uint64)
}](n int) *bounded[C, P] {
	q := &bounded[C, P]{cells: make([]C, n)}
	for i := range q.cells {
		turn, _ := P(&q.cells[i]).at()
		turn.Store(uint64(i))
	}
	return q
}

func (q *bounded[C, P]) put(v uint64) {
	at := q.tail.Add(1) - 1
	turn, value := P(&q.cells[at&uint64(len(q.cells)-1)]).at()
	for turn.Load() != at {
		runtime.Gosched()
	}
	*value = v
	turn.Store(at + 1)
}

func (q *bounded[C, P]) take() uint64 {
	at := q.head.Add(1) - 1
	turn, value := P(&q.cells[at&uint64(len(q.cells)-1)]).at()
	for turn.Load() != at+1 {
		runtime.Gosched()
	}
	v := *value
	turn.Store(at + uint64(len(q.cells)))
	return v
}

// hand has senders hand b.N numbers each to receivers.
func hand(made func() queue, senders, receivers int) func(*testing.B) {
	return func(b *testing.B) {
		q := made()
		var all sync.WaitGroup
		for range senders {
			all.Go(func() {
				for i := range b.N {
					q.put(uint64(i))
				}
			})
		}
		total := b.N * senders
		for r := range receivers {
			all.Go(func() {
				for range (total + receivers - 1 - r) / receivers {
					q.take()
				}
			})
		}
		all.Wait()
	}
}

// engineRing hands indices over as the engine does: by one sender that takes back what
// it has outstanding, within its window.
func engineRing(b *testing.B) {
	const window = 64
	back, out := ring.New(window), ring.New(window)
	for i := range uint32(window) {
		back.Put(i)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for range b.N {
			back.Put(waitFor(out))
		}
	})
	for range b.N {
		out.Put(waitFor(back))
	}
	done.Wait()
}

func waitFor(r *ring.Ring) uint32 {
	for {
		if i, ok := r.Take(); ok {
			return i
		}
		runtime.Gosched()
	}
}
