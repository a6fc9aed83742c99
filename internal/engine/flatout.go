package engine

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/integrity"
	"sixnines/result"
)

// quota is the number of messages that a window of fixed size still has. The
// zero value has no end.
type quota struct {
	limited bool
	left    atomic.Int64
}

// take reports whether one more message belongs to the window.
func (q *quota) take() bool { return !q.limited || q.left.Add(-1) >= 0 }

// claim takes up to n messages at once.
func (q *quota) claim(n int64) int64 {
	if !q.limited {
		return n
	}
	left := q.left.Add(-n)
	return max(0, min(n, left+n))
}

// claimAtOnce is how many messages of a quota a flat-out loop takes at a time.
const claimAtOnce = 256

// flood sends on one lane as fast as the client takes it: intended is sent,
// there is no schedule, and so no response time. It ends at end, when the
// quota is used up, or when the run is stopped.
func (l *lane) flood(limit *quota, measured bool) {
	r := l.run
	if measured {
		for _, st := range l.streams {
			st.begin()
		}
	}
	turn := 0
	var left int64
	for {
		if left == 0 {
			if left = limit.claim(claimAtOnce); left == 0 || r.stopped.Load() {
				break
			}
		}
		sl, index := l.slots.take()
		if sl == nil || l.limit > 0 && l.inFlight.Load() >= l.limit {
			if sl, index = l.waitForRoom(sl, index); sl == nil {
				return
			}
		}
		now := clock.Now()
		if now >= r.end.Load() {
			l.slots.release(index)
			break
		}
		left--
		st := l.streams[turn]
		if turn++; turn == len(l.streams) {
			turn = 0
		}
		if err := l.transmit(st, sl, index, integrity.Data, now, now, 0, measured, nil); err != nil {
			runtime.Gosched() // refused: let the client come to itself
		}
	}
	l.flush()
}

// roomSpins is how often waitForRoom looks again at once: about as long as an
// answer of a fast broker takes. After that it sleeps: the processor that it
// would burn is the one that the client or the broker needs to make room.
const roomSpins = 64

// waitForRoom waits until the lane has a slot and room in flight; sl is a slot
// already taken, or nil. What the client holds back goes out first: nothing else
// would make room. It returns nil if the run ends before.
func (l *lane) waitForRoom(sl *slot, index uint32) (*slot, uint32) {
	l.flush()
	for n := 0; ; n++ {
		if sl == nil {
			sl, index = l.slots.take()
		}
		if sl != nil && (l.limit == 0 || l.inFlight.Load() < l.limit) {
			return sl, index
		}
		if l.run.stopped.Load() {
			return nil, 0
		}
		if n < roomSpins {
			runtime.Gosched()
		} else {
			clock.SleepUntilBlocking(clock.Now() + placePoll)
		}
	}
}

// flush pushes out what the clients of the lane's streams hold back.
func (l *lane) flush() {
	for _, st := range l.streams {
		if st.flusher != nil {
			if err := st.flusher.Flush(); err != nil {
				l.fail(err)
			}
		}
	}
}

// runFlatOut floods the broker: a warm-up, a pause until all of it is through,
// then the window, whose clock stops when everything measured is through.
func (r *run) runFlatOut(ctx context.Context) (aborted bool, err error) {
	if r.warmup > 0 {
		r.end.Store(clock.Now() + int64(r.warmup))
		r.flood(&quota{}, false)
		if aborted := r.wait(ctx, func() { r.end.Store(min(r.end.Load(), clock.Now())) }); aborted {
			return true, fmt.Errorf("%w in the warm-up", ErrAborted)
		}
		if ctx.Err() != nil {
			return true, fmt.Errorf("%w in the warm-up", ErrAborted)
		}
		if err := r.quiet(); err != nil {
			return false, err
		}
	}
	runtime.GC()
	r.startStages()
	start := clock.Now() + int64(lead)
	if err := r.writeHeader(start); err != nil {
		return false, err
	}
	r.end.Store(start + int64(r.window))
	r.start.Store(start)
	col := r.startCollector()
	clock.SleepUntilBlocking(start)
	r.flood(&r.left, true)
	aborted = r.wait(ctx, r.interrupt)
	if now := clock.Now(); now < r.end.Load() {
		r.end.Store(now)
	}
	r.closed.Store(int64(len(r.lanes)))
	// What stops the clock: a round trip, unless acknowledgements do.
	if !aborted && r.ack == driver.AckKindNone {
		if err := r.sync(); err != nil {
			r.out.event(result.Event{At: clock.Now(), Kind: "error", Detail: "no round trip after the last message: " + err.Error()})
		}
	}
	aborted = r.drain(aborted)
	r.halt()
	return aborted, col.finish()
}

func (r *run) flood(limit *quota, measured bool) {
	for _, l := range r.lanes {
		r.senders.Go(func() { l.flood(limit, measured) })
	}
}

// wait waits for the senders; the context's end calls interrupt, Abort stops
// them.
func (r *run) wait(ctx context.Context, interrupt func()) (aborted bool) {
	all := make(chan struct{})
	go func() { r.senders.Wait(); close(all) }()
	done := ctx.Done()
	for {
		select {
		case <-all:
			return aborted
		case <-done:
			interrupt()
			done = nil
		case <-r.config.Abort:
			r.halt()
			return true
		}
	}
}

// sync waits for a round trip on every producer that can do one.
func (r *run) sync() error {
	ctx, cancel := context.WithTimeout(context.Background(), r.scenario.Phases.Drain)
	defer cancel()
	for _, st := range r.streams {
		if s, ok := st.producer.(driver.Syncer); ok {
			if err := s.Sync(ctx); err != nil {
				return err
			}
			r.collected.synced = clock.Now()
		}
	}
	return nil
}

// quiet waits until the warm-up's messages are through: a round trip, and no
// more deliveries.
func (r *run) quiet() error {
	if err := r.sync(); err != nil {
		return fmt.Errorf("after the warm-up: %w", err)
	}
	var before int64 = -1
	for deadline := time.Now().Add(r.scenario.Phases.Drain); time.Now().Before(deadline); {
		var marked int64
		for _, c := range r.consumers {
			marked += c.warm.Load()
		}
		if marked == before && r.idle() {
			return nil
		}
		before = marked
		time.Sleep(20 * time.Millisecond)
	}
	return nil // a backlog longer than the drain limit: the window begins with it, and shows it
}

func (r *run) idle() bool {
	for _, l := range r.lanes {
		if l.inFlight.Load() > 0 {
			return false
		}
	}
	return true
}
