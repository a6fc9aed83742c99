package engine

import (
	"runtime"
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/integrity"
	"sixnines/internal/schedule"
)

// pacer is a thread that sends the messages of some lanes when they are due.
type pacer struct {
	run   *run
	lanes []*lane
	busy  busyLog

	spare bool // the supervisor made it: GOMAXPROCS has no processor for it

	producers []int
	phase     schedule.Phase
	feed      *schedule.Merged // what is left of the phase
	caught    *caught          // the message of the window that the run's end caught; then come feed's
	// By producer; shared by all pacers, though each entry belongs to one.
	turn   []int    // which of its streams is next
	issued []uint64 // messages taken from the phase at hand

	margin int64 // how long before an instant to wake: this thread's median lateness
	budget int64 // the most of it that may be spun away

	current   *lane       // of the send in progress
	divisible atomic.Bool // it has more than one lane

	// sending is 0, or the instant at which the send in progress began, or
	// what the supervisor made of it: see supervise.
	sending atomic.Int64
	spun    atomic.Int64 // ns spent spinning
}

// caught is a message that was due but never sent.
type caught struct {
	intended int64
	producer int32
}

// pace runs the open loop from phase ph on: every message is due when the
// schedule says, and timed from then, whatever the system under test does. feed
// is what is left of ph, nil for all of it.
func (p *pacer) pace(ph schedule.Phase, feed *schedule.Merged) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = clock.SetTimerSlack(1) // without it wake-ups are later, which the lag shows
	raisePriority()
	r := p.run
	origin := r.start.Load()
	for ; ph <= schedule.After; ph++ {
		if p.phase = ph; feed == nil {
			feed = r.plan.Merge(p.producers, ph)
			for _, q := range p.producers {
				p.issued[q] = 0
			}
			if ph == schedule.Window {
				p.openWindow()
			}
		}
		p.feed, feed = feed, nil
		shift := int64(0)
		if ph == schedule.After {
			// An early end moves the load after the window forward to it.
			shift = r.end.Load() - origin - int64(r.window)
		}
		for {
			offset, producer, ok := p.feed.Next()
			if !ok {
				break
			}
			p.issued[producer]++
			intended := origin + offset + shift
			if ph == schedule.Window && intended >= r.end.Load() {
				break // interrupted: the rest is not part of the window any more
			}
			due := p.wait(intended)
			if ph == schedule.Window && intended >= r.end.Load() {
				break // likewise, while it waited
			}
			if !due || !p.send(intended, producer, ph == schedule.Window) {
				if ph == schedule.Window {
					p.caught = &caught{intended, producer}
					p.endWindow()
				}
				return
			}
		}
		if ph == schedule.Window {
			p.closeWindow()
		}
	}
}

func (p *pacer) openWindow() {
	for _, l := range p.lanes {
		for _, st := range l.streams {
			st.begin()
		}
	}
}

// endWindow notes where the measured window's numbers end.
func (p *pacer) endWindow() {
	for _, l := range p.lanes {
		for _, st := range l.streams {
			st.last = st.next
		}
	}
}

func (p *pacer) closeWindow() {
	p.endWindow()
	p.flush()
	p.run.closed.Add(int64(len(p.lanes)))
}

// wait returns when intended is due; false if the run is over before.
func (p *pacer) wait(intended int64) bool {
	r := p.run
	now := clock.Now()
	if now < intended {
		p.flush()
	}
	for {
		if r.stopped.Load() {
			return false
		}
		if now >= intended {
			return true
		}
		if now >= intended-p.margin {
			break
		}
		target := intended - p.margin
		if target-now > longSleep {
			// Far off: a slice at a time, so that the end of the run is
			// noticed. To give a processor up and take it back wakes the
			// runtime's monitor: only who has none of its own does.
			if until := min(target-shortSleep, now+stopSlice); p.spare {
				clock.SleepUntilBlocking(until)
			} else {
				clock.SleepUntil(until)
			}
			now = clock.Now()
			continue
		}
		clock.SleepUntil(target)
		now = clock.Now()
		p.learn(now - target)
	}
	from := now
	for now < intended {
		now = clock.Now()
	}
	p.spun.Store(p.spun.Load() + now - from)
	return true
}

const (
	longSleep  = 500_000    // ns; from here on the sleep is in two parts
	shortSleep = 200_000    // ns; the last stretch of a long sleep
	stopSlice  = 20_000_000 // ns
)

// learn follows the median lateness of wake-ups with steps of 1/16 of a
// microsecond, and keeps the margin within the spinning budget.
func (p *pacer) learn(late int64) {
	const step = 64
	if late > p.margin {
		p.margin = min(p.margin+step, p.budget)
	} else {
		p.margin = max(p.margin-step, 0)
	}
}

func (p *pacer) flush() {
	for _, l := range p.lanes {
		if l.dirty {
			l.dirty = false
			l.flush()
		}
	}
}

// send builds and sends one message that was due at intended. It returns false
// if the run ended while it waited for a place in flight.
func (p *pacer) send(intended int64, producer int32, measured bool) bool {
	r := p.run
	ids := r.layout.byProducer[producer]
	st := r.streams[ids[0]]
	if len(ids) > 1 {
		t := &p.turn[producer]
		st = r.streams[ids[*t]]
		if *t++; *t == len(ids) {
			*t = 0
		}
	}
	l := st.lane
	sl, index := l.slots.take()
	if sl == nil || l.limit > 0 && l.inFlight.Load() >= l.limit {
		if sl, index = p.waitForPlace(l, sl, index); sl == nil {
			return false
		}
	}
	sent := clock.Now()
	blocked := p.busy.blocked(intended, sent)
	own := sent - intended - blocked
	var sending *atomic.Int64
	if len(p.lanes) > 1 {
		sending, p.current = &p.sending, l
	}
	l.dirty = true
	err := l.transmit(st, sl, index, integrity.Data, intended, sent, own, measured, sending)
	if sending != nil && !sending.CompareAndSwap(sent, 0) {
		p.settle()
	}
	p.busy.add(sent, clock.Now())
	if measured && err == nil {
		l.shard.Lag(own, blocked)
	}
	return true
}

// waitForPlace waits until the lane has a slot and room in flight; sl is a slot
// already taken, or nil. It returns nil if the run ends first.
func (p *pacer) waitForPlace(l *lane, sl *slot, index uint32) (*slot, uint32) {
	from := clock.Now()
	p.flush()
	for {
		if sl == nil {
			sl, index = l.slots.take()
		}
		now := clock.Now()
		if sl != nil && (l.limit == 0 || l.inFlight.Load() < l.limit) {
			p.busy.add(from, now)
			return sl, index
		}
		if p.run.stopped.Load() {
			if sl != nil {
				l.slots.release(index)
			}
			return nil, 0
		}
		clock.SleepUntilBlocking(now + placePoll)
	}
}

// placePoll is how often a pacer without a place looks again, in ns. It is in
// a queue then, and counted as blocked; what matters is not to burn the
// processor that the broker may need.
const placePoll = 20_000
