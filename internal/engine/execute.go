package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/integrity"
	"sixnines/internal/vitals"
	"sixnines/result"
	"sixnines/scenario"
)

// setupTimeout bounds connecting, provisioning and probing.
const setupTimeout = 30 * time.Second

// openTimeout bounds the first contact: a person who gave a wrong address wants
// to know soon.
const openTimeout = 8 * time.Second

// lead is the time between deciding on the start and the first message due.
const lead = 5 * time.Millisecond

// execute goes through the phases. Whatever was opened is closed again.
func (r *run) execute(ctx context.Context) (run *result.Run, err error) {
	// The output is made first: drivers may report events from Open on. It is
	// written to once the header is.
	if r.out, err = newOutput(r.config.File, r.config.quiet); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.out.discard()
		}
	}()
	setup, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	r.progress(Progress{Phase: "connect"})
	r.side = r.startProbe()
	defer func() { r.side.end(err != nil) }()
	opened := false
	defer func() {
		if !opened {
			_ = r.close() // the error that stopped the setup is the one to tell
		}
	}()
	if err := r.open(setup); err != nil {
		return nil, err
	}
	if err := r.connect(setup); err != nil {
		return nil, err
	}
	if err := r.probe(setup); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w before the load began", ErrAborted)
	}
	cancel()
	opened = true

	if r.settles() {
		r.settle(ctx)
	}
	r.side.begin()
	if r.config.quiet == nil {
		r.monitor = vitals.Start(vitals.Options{Period: hiccupPeriod, KeepProcessor: true, Idle: r.config.Idle})
		defer r.monitor.Stop()
	}
	r.witness = r.newWitness()
	r.tcp = newTCPWatch(r.openConns, readTCP)
	defer r.raiseProcs()()
	r.held = holdCollector()
	defer r.held.release()

	var aborted bool
	if r.flatOut {
		aborted, err = r.runFlatOut(ctx)
	} else {
		aborted, err = r.runPaced(ctx)
	}
	if err != nil {
		_ = r.close()
		return nil, err
	}
	r.side.stop()
	r.observed = clock.Now()
	leftOver := r.disconnect()
	r.side.end(aborted)
	if r.config.quiet != nil {
		return nil, r.finishQuietly()
	}
	res, err := r.finish(leftOver, aborted)
	if err != nil {
		return nil, err
	}
	if aborted {
		return res, ErrAborted
	}
	return res, nil
}

// hiccupPeriod is how often each hiccup meter looks. Two meters at 1 ms cost six
// hundredths of a core, a third of what a broker needs at 3,000 messages a
// second; at 4 ms a third of that, and a freeze worth telling is longer.
const hiccupPeriod = 4 * time.Millisecond

// raiseProcs gives each pacer, the hiccup meter's thread and the witness a
// processor of its own beside those for the client's goroutines: they keep
// theirs while they sleep in the kernel. With one too few a delivery now and then
// found none, and waited until the runtime's monitor took one away from a sleeper, up to 10 ms
// later: the p99 of 20,000 messages a second was 7 ms instead of a third of one.
func (r *run) raiseProcs() (restore func()) {
	old, base := runtime.GOMAXPROCS(0), processors()
	more := 0
	if r.monitor != nil {
		more++ // the meter's
	}
	if r.witness != nil {
		more++
	}
	if !r.flatOut && r.workload.Loop != scenario.Closed {
		more += r.pacerCount()
	}
	runtime.GOMAXPROCS(base + more)
	return func() { runtime.GOMAXPROCS(old) }
}

// ownPacers is up to how many lanes each has a pacer of its own. A connection then
// waits for no other's send, and there is nothing to hand over: with 8 connections
// at 20,000/s on two cores p99 was 79 to 99 µs, where one pacer for all had 94 to
// 567 µs; with a processor hog beside it 178 to 183 µs against 487 to 1,314 µs.
const ownPacers = 32

// pacerCount is the number of pacers. Beyond ownPacers lanes share them.
func (r *run) pacerCount() int {
	most := r.config.Pacers
	if most <= 0 {
		most = ownPacers
	}
	return min(max(len(r.lanes), 1), most)
}

// processors is how many of the client's goroutines may run at once: GOMAXPROCS
// as it was found, or less where a control group's quota allows less. Go looks at
// the process's own group only, where it looks at all; it never takes fewer than
// two either. What the user has set stays.
func processors() int {
	n := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") != "" {
		return n
	}
	return min(n, max(2, vitals.Processors()))
}

func maxShards() int { return processors() }

// probe sends to every topic until every delivery group has seen something:
// only then can a loss be called one.
func (r *run) probe(ctx context.Context) error {
	if r.workload.Pattern == scenario.Publish {
		return nil
	}
	began := clock.Now()
	for round := 0; ; round++ {
		missing := -1
		for t := range r.layout.topics {
			if r.seenEverywhere(t) {
				continue
			}
			missing = t
			for _, st := range r.streams {
				if st.plan.topic == t {
					if err := r.sendProbe(st); err != nil {
						return fmt.Errorf("first message to topic %s: %w", r.layout.topics[t], err)
					}
					break
				}
			}
		}
		if missing < 0 {
			break
		}
		// Give the round a moment, longer each time, then ask again.
		patience := time.Now().Add(min(time.Second, 5*time.Millisecond<<min(round, 8)))
		for time.Now().Before(patience) && !r.seenEverywhere(missing) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w: no consumer of topic %s has seen a probe in %v; is something else consuming there, or the broker overloaded?",
					driver.ErrTimeout, r.layout.topics[missing], time.Duration(clock.Now()-began).Round(time.Millisecond))
			case <-time.After(200 * time.Microsecond):
			}
		}
	}
	r.cold = append(r.cold, result.Cold{Name: "first message", Duration: time.Duration(r.firstTook.Load())})
	r.cold = append(r.cold, result.Cold{Name: "until every consumer saw a message", Duration: time.Duration(r.probeAt.Load() - began)})
	return nil
}

func (r *run) seenEverywhere(topic int) bool {
	for _, g := range r.groups {
		for i, t := range g.plan.topics {
			if t == topic && !g.seen[i].Load() {
				return false
			}
		}
	}
	return true
}

func (r *run) probed(now, sent int64) {
	r.probeTook.CompareAndSwap(0, max(now-sent, 1))
	if r.probeAt.Swap(now) == 0 {
		r.firstTook.Store(now - sent)
	}
}

func (r *run) sendProbe(st *stream) error {
	sl, index := st.lane.slots.take()
	if sl == nil {
		return fmt.Errorf("%w: the client keeps %d messages", driver.ErrTimeout, len(st.lane.slots.all))
	}
	now := clock.Now()
	if err := st.lane.transmit(st, sl, index, integrity.Probe, now, now, 0, false, nil); err != nil {
		return err
	}
	if st.flusher != nil {
		return st.flusher.Flush()
	}
	return nil
}

// runPaced issues an open loop's schedule, or a closed loop.
func (r *run) runPaced(ctx context.Context) (aborted bool, err error) {
	r.startStages()
	start := clock.Now() + int64(lead) + int64(r.warmup)
	r.start.Store(start)
	r.end.Store(start + int64(r.window))
	if err := r.writeHeader(start); err != nil {
		return false, err
	}
	col := r.startCollector()
	r.startWitness()
	if r.workload.Loop == scenario.Closed {
		r.startLoops()
	} else {
		r.startPacers()
	}
	aborted = r.untilEnd(ctx)
	if r.early {
		r.witnessed()
		r.halt()
		return true, errors.Join(fmt.Errorf("%w in the warm-up: nothing has been measured", ErrAborted), col.finish())
	}
	aborted = r.drain(aborted)
	r.witnessed()
	r.halt()
	return aborted, col.finish()
}

// startLoops starts a goroutine for each producer of a closed loop.
func (r *run) startLoops() {
	owner := -1
	for _, st := range r.streams {
		if st.plan.producer == owner {
			continue
		}
		owner = st.plan.producer
		r.senders.Go(func() {
			r.loop(st.plan.producer, st.waiter.ready, &r.left)
			r.closed.Add(1)
		})
	}
}

// startPacers divides the lanes among pacers.
func (r *run) startPacers() {
	r.turn = make([]int, r.workload.Producers)
	for q := range r.workload.Producers {
		l := r.lanes[q%len(r.lanes)]
		l.cursor.producers = append(l.cursor.producers, q)
	}
	pacers := make([]*pacer, r.pacerCount())
	for i := range pacers {
		pacers[i] = &pacer{run: r, budget: r.spinBudget()}
	}
	for i, l := range r.lanes {
		l.gap = int64(1e9 / r.plan.MeanRate() * float64(r.workload.Producers) / float64(len(l.cursor.producers)))
		for _, st := range l.streams {
			l.flushes = l.flushes || st.flusher != nil
		}
		p := pacers[i%len(pacers)]
		p.queue = append(p.queue, l)
	}
	for _, p := range pacers {
		p.divisible.Store(len(p.queue) > 1)
		r.startPacer(p)
	}
	r.senders.Go(r.supervise)
}

// spinBudget is the most that a pacer may spin away before a message, so that
// all of them together spin for less than a tenth of a processor where the broker
// shares them, and for less than a half where it does not.
func (r *run) spinBudget() int64 {
	if r.config.quiet != nil {
		return 0
	}
	share := 0.5
	if r.sameHost() {
		share = 0.1
	}
	return int64(min(1e9/r.plan.MeanRate()*share, 200_000))
}

func (r *run) startPacer(p *pacer) {
	r.pacersMu.Lock()
	r.pacers = append(r.pacers, p)
	r.pacersMu.Unlock()
	r.senders.Go(p.pace)
}

// untilEnd waits for the end of the window. The context's end moves it to now.
func (r *run) untilEnd(ctx context.Context) (aborted bool) {
	done := ctx.Done()
	for {
		now := clock.Now()
		end := r.end.Load()
		if now >= end || r.workload.Messages > 0 && r.closed.Load() > 0 && r.closed.Load() == int64(r.workload.Producers) {
			if now < end {
				r.end.Store(now)
			}
			return false
		}
		select {
		case <-done:
			if r.early = clock.Now() < r.start.Load(); r.early {
				return true
			}
			r.interrupt()
			done = nil
		case <-r.config.Abort:
			r.early = clock.Now() < r.start.Load()
			r.interrupt()
			return true
		case <-time.After(min(time.Duration(end-now), r.patience())):
		}
	}
}

// graceOfEnd is how far ahead an interruption puts the window's end, so that no
// pacer is just sending a message from beyond it.
const graceOfEnd = 20 * time.Millisecond

// interrupt ends the window because somebody wants it.
func (r *run) interrupt() {
	if r.shorten("interrupted") {
		r.interrupted = true
	}
}

// shorten ends the window now, unless it has ended. What is due later is not part
// of it. It is safe for concurrent use.
func (r *run) shorten(why string) bool {
	now := clock.Now() + int64(graceOfEnd)
	for end := r.end.Load(); now < end; end = r.end.Load() {
		if r.end.CompareAndSwap(end, now) {
			r.out.event(result.Event{At: now, Kind: why, Detail: "the window ends here"})
			return true
		}
	}
	return false
}

// drain waits until every measured message is resolved, or the limit. The load
// goes on meanwhile.
func (r *run) drain(aborted bool) bool {
	limit := clock.Now() + int64(r.scenario.Phases.Drain)
	for !aborted && !r.resolved() && clock.Now() < limit {
		select {
		case <-r.config.Abort:
			aborted = true
		case <-time.After(2 * time.Millisecond):
		}
	}
	return aborted
}

// resolved reports whether nothing measured is outstanding: all senders are
// past the window, and what they handed over was answered and delivered.
func (r *run) resolved() bool {
	if r.flatOut {
		if r.closed.Load() < int64(len(r.lanes)) {
			return false
		}
	} else if r.workload.Loop == scenario.Closed {
		if r.closed.Load() < int64(r.workload.Producers) {
			return false
		}
	} else if r.closed.Load() < int64(len(r.lanes)) {
		return false
	}
	c := r.counts()
	if r.ack != driver.AckKindNone && c.Acked+c.Nacked+r.unanswered() < c.Sent {
		return false
	}
	return c.Received+c.Corrupted >= c.Expected
}

// halt stops the senders and what supervises them.
func (r *run) halt() {
	r.stopOnce.Do(func() {
		r.stopped.Store(true)
		close(r.stop)
	})
	// A send that the broker blocks ends when its connection is closed.
	done := make(chan struct{})
	go func() { r.senders.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Second):
		for _, d := range r.dialers {
			d.CloseAll()
		}
		<-done
	}
}

// disconnect closes producers and consumers, then the sessions. Leftovers are
// told, not fatal: the measurement is done.
func (r *run) disconnect() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var errs []error
	for _, st := range r.streams {
		errs = append(errs, st.producer.Close(ctx))
	}
	for _, c := range r.clients {
		errs = append(errs, c.Close(ctx))
	}
	return errors.Join(append(errs, r.close())...)
}
