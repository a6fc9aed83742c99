package send

import (
	"runtime"
	"sync"
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/window"
	"sixnines/internal/integrity"
	"sixnines/internal/schedule"
)

// Pacer is a thread that sends the messages of some lanes when they are due. What is not atomic is
// the thread's own, with one exception: while began says that the thread is inside a client, the
// supervisor may swap it for takingOver, and then owns queue and reads the rest until it stores
// takenOver.
type Pacer struct {
	sending *Sending
	control *plan.Control // tells, for each message, whether the run is over
	queue   laneQueue     // its lanes; one at least

	spare bool // the supervisor made it: GOMAXPROCS has no processor for it

	margin int64 // how long before an instant to wake, ns: this thread's median lateness
	budget int64 // the largest margin, ns: what is left of it after waking is spun away

	// handOn says that a client was given a message and has not written it by
	// itself: the goroutine that it started instead needs the processor that this
	// thread keeps.
	handOn bool

	sleeper  window.Sleeper // woken, by any goroutine, when a lane that waits for a credit may have one
	wakeable bool           // a lane has waited for one: from then on sleeps can be ended by a wake-up

	current   *lane       // the lane being served
	divisible atomic.Bool // it has more than one lane; the thread or the supervisor stores, the supervisor reads

	// began is 0 while the thread is outside the client, and else when it went in, CLOCK_MONOTONIC, or
	// takingOver or takenOver. The thread and the supervisor change it: see supervise.
	began atomic.Int64
	spun  atomic.Int64 // ns spent spinning; the thread adds, the collector reads

	// What the kernel says of this thread, to tell waiting for others from
	// running and from waiting for a processor.
	threadID  atomic.Int64 // 0 before and after it runs; the collector reads it
	thread    threadTime
	asOf      int64 // when thread was last read, CLOCK_MONOTONIC
	awake     int64 // ns that it had run or waited for a processor by then
	sleptThen int64 // slept, then

	slept   int64 // ns that this pacer has slept between messages
	blocked int64 // ns that its clients waited in long sends for something other than a processor
	late    int64 // own lag, ns, summed over its sends
	sends   int64 // messages handed to clients, refused ones included

	division division
}

// pace runs the open loop: every message is due when the schedule says, and timed
// from then, whatever the system under test does.
func (p *Pacer) pace() {
	p.control.TakeThread()
	if p.control.Virtual == nil {
		id := threadID()
		p.thread = openThread(id)
		defer p.thread.close()
		p.threadID.Store(id)
		defer p.threadID.Store(0)
	}
	p.look(clock.Now())
	for _, l := range p.queue {
		if l.cursor.messages == nil {
			l.begin()
			l.key = l.cursor.intended
		}
	}
	p.queue.order()
	for p.wait() {
		p.serve(p.queue.first())
		p.queue.sink(0)
	}
}

// wait returns when the first lane needs attention; false if the run is over before.
func (p *Pacer) wait() bool {
	c := p.control
	until := p.queue.first().key
	now := clock.Now()
	if now >= p.division.next {
		p.mayDivide(now)
		until, now = p.queue.first().key, clock.Now()
	}
	for {
		if c.Stopped.Load() {
			return false
		}
		if p.sleeper.Woken() {
			p.creditsFreed()
			until = p.queue.first().key
		}
		if age := now - p.asOf; age > lookEvery && (now < until-p.margin || now-until > lookLate) || age > lookAtMost {
			p.look(now)
			now = clock.Now()
		}
		if now >= until-p.margin {
			break
		}
		target := until - p.margin
		if target-now > window.Slice {
			// Far off: in slices, so that the end of the run is noticed.
			now = p.sleep(now, now+window.Slice)
			p.windowsEnd(now)
			until = p.queue.first().key
			continue
		}
		if now = p.sleep(now, target); now >= target { // else it was woken, which says nothing of lateness
			p.learn(now - target)
		}
	}
	if now < until {
		spinning := now
		for now < until {
			now = clock.Now()
		}
		p.spun.Store(p.spun.Load() + now - spinning) // only this thread writes it
	}
	return true
}

// windowsEnd brings forward the lanes whose window was ended early: the message that they wait for
// is no longer part of it, and the load after the window begins at its end.
func (p *Pacer) windowsEnd(now int64) {
	found := false
	for _, l := range p.queue {
		if end := max(l.plan.End.Load(), now); l.key > end && l.beyond() {
			l.key, found = end, true
		}
	}
	if found {
		p.queue.order()
	}
}

// sleep sleeps until an instant and returns when it woke, which is sooner where a wake-up or a
// signal ended the sleep. The thread gives its processor up meanwhile, unless the sleep is short,
// the processor is its own and the client does not need it. A thread that keeps its processor is asked to give way
// by the runtime every 10 ms, all such threads at the same moment, and a locked one
// comes back by way of two others: with eight of them on two processors one message
// in a hundred was 0.1 ms late for that.
func (p *Pacer) sleep(now, until int64) int64 {
	if p.spare || p.handOn || until-now > keepMost || p.control.Virtual != nil {
		p.handOn = false
		if p.wakeable || p.control.Virtual != nil {
			p.sleeper.SleepUntil(until, p.control.Precise)
		} else {
			clock.SleepUntilHandingOver(until)
		}
	} else {
		clock.SleepUntil(until)
	}
	woke := clock.Now()
	p.slept += woke - now
	return woke
}

const (
	keepMost = 30_000 // ns; the longest sleep that keeps the processor
	// lookEvery is how old the last look at the thread's times may be, in ns, before a sleep. The time
	// from a sleep's end until the thread has a processor, and what the system call takes, count as
	// slept and as awake: some µs a sleep, which at 10,000 sleeps a second were 30 ms a second.
	lookEvery = 5_000_000
	// lookLate is how far behind the schedule the thread must be, in ns, to look without a sleep: a
	// single wake-up may be later than lookEvery. lookAtMost is how old the last look may be where a
	// thread neither sleeps nor is late: short sends that wait for others count as awake.
	lookLate   = 1_000_000
	lookAtMost = 50_000_000
	// longSend is how long a send must last, in ns, before the kernel is asked what it waited for.
	longSend = 100_000
	// atOnce is how many overdue messages of a lane are sent before other lanes
	// have their turn.
	atOnce = 64
)

// learn follows the median lateness of wake-ups with steps of 64 ns, and keeps the margin within
// the spinning budget. Steps up and down are equal, so they balance where half of the wake-ups are
// later than the margin.
func (p *Pacer) learn(late int64) {
	const step = 64
	if late > p.margin {
		p.margin = min(p.margin+step, p.budget)
	} else {
		p.margin = max(p.margin-step, 0)
	}
}

// look reads the thread's times at now. It is a system call or two, once in lookEvery before a sleep.
func (p *Pacer) look(now int64) {
	ran, queued, _ := p.thread.own()
	p.awake, p.asOf, p.sleptThen = ran+queued, now, p.slept
}

// blockedOf returns for how many ns from start to now, while a client had the thread, the thread
// neither ran nor waited for a processor: the client waited for something else. Where the kernel does
// not tell, that is all of the time.
func (p *Pacer) blockedOf(start, now int64) int64 {
	ran, queued, ok := p.thread.own()
	if !ok {
		return now - start
	}
	// Before start the thread was awake but for its own sleeps.
	before := max(0, start-p.asOf-(p.slept-p.sleptThen))
	during := ran + queued - p.awake - before
	p.awake, p.asOf, p.sleptThen = ran+queued, now, p.slept
	return min(max(now-start-max(during, 0), 0), now-start)
}

// serve sends what is due of a lane. What is overdue is sent together. It sets
// when the lane needs attention again.
func (p *Pacer) serve(l *lane) {
	p.current = l
	now := clock.Now()
	written := int64(-1)
	if l.Conn != nil {
		written = l.Conn.Writes()
	}
	for n := 0; n < atOnce; n++ {
		if l.beyond() {
			l.enter(l.cursor.phase + 1)
			l.advance()
			if l.cursor.intended > now {
				break
			}
		}
		if !l.takeCredit(now) {
			p.release(l)
			p.handOn = true // the client may need the processor to free a credit
			p.await(l)
			return
		}
		if !l.corked && l.Conn != nil && now-l.cursor.intended > l.gap {
			l.corked = l.Conn.Cork()
		}
		now = p.send(l)
		l.advance()
		if l.cursor.intended > now || p.control.Stopped.Load() {
			break
		}
	}
	p.release(l)
	if l.Conn == nil || l.Conn.Writes() == written {
		if p.handOn = true; l.cursor.intended <= now {
			// It is behind and will not sleep.
			runtime.Gosched()
			p.handOn = false
		}
	}
	l.key = max(l.cursor.intended, now)
}

// send sends the message of l that is due next, which has its slot and its credit, and returns when
// that was done.
func (p *Pacer) send(l *lane) (now int64) {
	c := &l.cursor
	measured := c.measured()
	st := p.sending.turnOf(c.producer)
	sl := l.Credits.Take()
	sent := clock.Now()
	blocked := l.blocked.within(c.intended, sent)
	own := sent - c.intended - blocked
	l.dirty = true
	announced := p.announce(sent)
	err := l.transmit(st, sl, departure{kind: integrity.Data, intended: c.intended, sent: sent, own: own, measured: measured})
	p.back(announced, sent)
	now = clock.Now()
	p.sends++
	p.late += own
	if now-sent > longSend {
		p.waited(l, sent, now)
	}
	if measured && err == nil {
		l.shard.Lag(own, blocked, c.intended-l.plan.Start.Load())
	}
	return now
}

// release sends what is held back of a lane's messages, by its connection or
// by its client.
func (p *Pacer) release(l *lane) {
	if !l.dirty {
		return
	}
	l.dirty = false
	if !l.corked && !l.flushes {
		return
	}
	from := clock.Now()
	announced := p.announce(from)
	if l.flushes {
		l.flush()
	}
	if l.corked {
		l.corked = false
		_ = l.Conn.Uncork() // the client gets the error by its next write
	}
	p.back(announced, from)
	if now := clock.Now(); now-from > longSend {
		p.waited(l, from, now)
	}
}

// waited notes for how long a lane's client, which had the thread from from to now, waited for
// something other than a processor. The wait is taken to be the end of that time.
func (p *Pacer) waited(l *lane, from, now int64) {
	blocked := p.blockedOf(from, now)
	p.blocked += blocked
	l.block(now-blocked, now)
}

// announce tells the supervisor that the client has had the thread since an instant, CLOCK_MONOTONIC;
// false: it did not, since no other lane depends on the thread. From then until [Pacer.back] the
// supervisor may take lanes out of the pacer's queue, and the thread touches none but the current one.
// The atomic store publishes all that the thread has written to these lanes.
func (p *Pacer) announce(since int64) bool {
	if len(p.queue) > 1 {
		p.began.Store(since)
		return true
	}
	return false
}

// back takes the announcement back when the client has returned. If the supervisor has swapped it
// meanwhile, back waits until the takeover is done: only then may the thread read its queue.
func (p *Pacer) back(announced bool, since int64) {
	if announced && !p.began.CompareAndSwap(since, 0) {
		p.awaitTakeover()
	}
}

// pacing is a load's pacers; the zero value has none. Its methods are safe for concurrent use.
type pacing struct {
	mu   sync.Mutex // guards the rest
	all  []*Pacer   // those that were started; only appended to
	more int        // how many more may be started, spare ones apart
}

// another reports whether one more may be made, and counts it.
func (p *pacing) another() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.more == 0 {
		return false
	}
	p.more--
	return true
}

// List returns the pacers so far. The slice does not change when others are added: entries stay, and
// its capacity ends where it does.
func (p *pacing) List() []*Pacer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[:len(p.all):len(p.all)]
}

// startPacer starts one more.
func (s *Sending) startPacer(p *Pacer) {
	s.Pacing.mu.Lock()
	s.Pacing.all = append(s.Pacing.all, p)
	s.Pacing.mu.Unlock()
	s.Senders.Go(p.pace)
}

// startWith starts a pacer with lanes of another one, where they are in their schedules. It is called
// by the other's thread, or by the supervisor while that thread is inside a client. Either way what
// the old thread wrote to the lanes happens before the go statement of the new one, which therefore
// reads them without a lock.
func (s *Sending) startWith(one, of *Pacer, lanes laneQueue) {
	one.sending, one.control, one.budget, one.margin = s, of.control, of.budget, of.margin
	one.queue, one.wakeable = lanes, of.wakeable
	one.divisible.Store(len(lanes) > 1)
	one.sleeper.Ready(of.control.Life)
	for _, l := range lanes {
		// A wake-up that is sent to the old pacer is lost: the lane is then looked at after creditWait.
		l.Credits.Free.Waiter.Store(&one.sleeper)
	}
	s.startPacer(one)
}

// flush sends what the clients of the lane's streams hold back.
func (l *lane) flush() {
	for _, st := range l.Streams {
		if st.Flusher != nil {
			_ = st.Flusher.Flush() // a failure shows in the sends that follow
		}
	}
}

// Direct returns a function that sends a message by the first connection on the caller's goroutine,
// as due at an instant of CLOCK_MONOTONIC, and reports whether there was a credit for it. Nothing else
// may send. Benchmarks measure the cost of one message by it.
func (s *Sending) Direct() func(due int64) bool {
	l := s.Lanes[0]
	s.turn = make([]int, s.Workload.Producers)
	l.cursor.producers = []int{0}
	l.enter(schedule.Window)
	p := &Pacer{sending: s, control: s.Control, queue: s.Lanes}
	return func(due int64) bool {
		l.cursor.intended = due
		if !l.takeCredit(due) {
			return false
		}
		p.send(l)
		return true
	}
}
