package engine

import (
	"runtime"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/recorder"
	"sixnines/internal/schedule"
	"sixnines/internal/vitals"
	"sixnines/result"
	"sixnines/scenario"
)

// collected is what the collector has already written of the counters.
type collected struct {
	counters result.Counters
	to       int64            // instant up to which there are intervals; 0: there are none
	pauses   int64            // instant up to which pauses do not matter: there are no intervals yet
	brokers  map[string]Usage // by process
	deaths   map[string]bool  // processes whose end was told
	feed     *schedule.Merged // how far the schedule has come due
	next     int64
	more     bool
	due      int64
	levels   []result.Level // of the interval at hand
	vitals   map[string]float64
	sample   []vitals.Value
	level    level
	pacers   pacerWatch
	synced   int64 // flat out: when the round trip after the last message was back
}

// level is what had been counted at the last reading.
type level struct{ at, due, sent int64 }

// collector writes an interval at a time, on a thread of low priority.
type collector struct {
	run  *run
	done chan struct{}
	err  error
}

func (r *run) startCollector() *collector {
	c := &collector{run: r, done: make(chan struct{})}
	go c.loop()
	return c
}

// finish waits for the collector after the run was stopped.
func (c *collector) finish() error {
	<-c.done
	return c.err
}

func (c *collector) loop() {
	defer close(c.done)
	defer c.run.collected.pacers.close()
	runtime.LockOSThread() // never unlocked: the thread's priority dies with it
	lowerPriority()
	r := c.run
	interval := int64(r.scenario.Record.Interval)
	grid := min(interval, int64(scenario.IntervalFor(r.scenario.Phases.Duration)))
	from := r.start.Load()
	began := clock.Now()
	for tick := began + grid; r.sleepUntil(min(tick, from)) && clock.Now() < from; tick += grid {
		r.tend()
		r.warmupProgress(began, from)
	}
	if clock.Now() < from {
		return // ended in the warm-up
	}
	if r.config.quiet == nil {
		r.monitor.Sample() // the intervals' samples begin here
		r.brokerUsage(nil)
		r.collected.pacers.busiest(r, clock.Now())
		r.tcp.begin()
	}
	r.collected.pauses, r.collected.level.at = from, from
	next := from + interval
	for {
		end := r.end.Load()
		if from < end && next > end {
			next = end // the window's last interval ends with it
		}
		running := r.sleepWatching(next, from < end, grid)
		end = r.end.Load()
		// The interval is as long as it took to come here, not as was planned:
		// its counts are those of this moment.
		to := max(clock.Now(), from+1)
		phase := result.PhaseMeasure
		if from >= end {
			phase = result.PhaseDrain
		} else if to > end {
			to = end
		}
		if c.err = r.collect(phase, from, to); c.err != nil || !running {
			return
		}
		from = to
		for next <= to {
			next += interval
		}
	}
}

// sleepWatching sleeps until t or, inside the window, until its end is moved
// before that; false when the run is over. Meanwhile it tends the messages in
// flight, and takes a level wherever the last one is grid old.
func (r *run) sleepWatching(t int64, inside bool, grid int64) bool {
	for now := clock.Now(); now < t; now = clock.Now() {
		if r.stopped.Load() {
			return false
		}
		if inside && now >= r.end.Load() {
			return true
		}
		r.tend()
		r.tcp.tend()
		// One that would come just before the interval's end is left out.
		if now-r.collected.level.at >= grid && t-now > grid/2 {
			r.takeLevel(now)
		}
		r.rest(t - now)
	}
	return !r.stopped.Load()
}

// takeLevel reads what is due, sent and in flight within an interval.
func (r *run) takeLevel(now int64) {
	c := r.counts()
	if r.plan != nil {
		c.Scheduled = r.dueBy(min(now, r.end.Load()) - r.start.Load())
	}
	k := &r.collected
	// As in collect, what was counted as sent is not taken back.
	due, sent := max(c.Scheduled, k.level.due), max(c.Sent+c.Rejected, k.level.sent)
	k.levels = append(k.levels, result.Level{At: now - r.start.Load(), Due: due - k.level.due, Sent: sent - k.level.sent,
		InFlight: r.inFlight(c), Backlog: max(0, due-sent)})
	k.level = level{at: now, due: due, sent: sent}
}

// tend takes what timed out out of the messages in flight, up to a sixty-fourth
// of the time limit later: each look goes through all that are.
func (r *run) tend() {
	now := clock.Now()
	if now-r.tended < int64(r.workload.Timeout)/64 {
		return
	}
	r.tended = now
	horizon := now - int64(r.workload.Timeout)
	for _, l := range r.lanes {
		if l.counted {
			l.expire(horizon)
		}
	}
}

// forgets reports whether the message that is about to be sent is one that
// [Config.Forget] drops.
func (r *run) forgets() bool { return r.due.Add(1)%r.config.Forget == 0 }

// counts sums the counters of the window so far. What can only be known at the
// end (missing, unknown, censored) is left at zero.
func (r *run) counts() result.Counters {
	var c result.Counters
	for _, st := range r.streams {
		n := st.sent.Load()
		c.Sent += n
		if len(r.groups) > 0 {
			c.Expected += n * int64(st.plan.fanOut)
		}
		c.LastUnknown += st.lastUnknown.n.Load()
	}
	for _, l := range r.lanes {
		c.Rejected += l.rejected.Load()
		c.Acked += l.acked.Load()
		c.Nacked += l.nacked.Load()
		c.TimedOut += l.timedOut.Load()
	}
	for _, k := range r.consumers {
		c.Received += k.received.Load()
		c.Duplicated += k.duplicated.Load()
		c.Redelivered += k.redelivered.Load()
		c.Reordered += k.reordered.Load()
		c.Late += k.late.Load()
		c.Corrupted += k.corrupted.Load()
		c.Foreign += k.foreign.Load()
	}
	if r.plan == nil { // else the schedule says
		c.Scheduled = c.Sent + c.Rejected
	}
	c.LateReplies = r.lateReplies.Load()
	c.Violations = r.violations.Load()
	c.Handovers = r.handovers.Load()
	c.Dropped = r.dropped.Load()
	c.Returned = r.returned.Load()
	c.BytesSent = c.Sent * int64(r.workload.Size)
	c.BytesRecv = c.Received * int64(r.workload.Size)
	return c
}

// collect writes the interval [from, to). What the interval is made of is used
// again for the next one: garbage is not collected while the window lasts.
func (r *run) collect(phase string, from, to int64) error {
	if r.config.quiet != nil {
		return r.collectQuietly(from, to)
	}
	start := r.start.Load()
	if r.collected.vitals == nil {
		r.collected.vitals = map[string]float64{}
	}
	into := r.collected.vitals
	clear(into)
	r.side.collect(into)
	r.rec.Snapshot()
	counters := r.counts()
	// A send in progress that is refused in the end was counted as sent
	// meanwhile; that is not taken back before others make up for it.
	counters.Sent = max(counters.Sent, r.collected.counters.Sent)
	counters.Expected = max(counters.Expected, r.collected.counters.Expected)
	counters.BytesSent = max(counters.BytesSent, r.collected.counters.BytesSent)
	if r.plan != nil {
		// As of now, after the others were read: nothing is sent before it is due.
		counters.Scheduled = r.dueBy(min(clock.Now(), r.end.Load()) - start)
	}
	sample := r.monitor.SampleInto(r.collected.sample)
	r.collected.sample = sample.Values
	metrics, clamps, err := r.rec.Encode()
	if err != nil {
		return err
	}
	delta := counters
	delta.Sub(r.collected.counters)
	r.collected.counters, r.collected.to = counters, to
	// Clamps come from the recorder, by interval.
	delta.Negative, delta.OutOfRange = clamps.Negative, clamps.OutOfRange
	v := result.Interval{Phase: phase, Start: from - start, End: to - start, Metrics: metrics, Counters: delta,
		InFlight: r.inFlight(counters), Backlog: max(0, counters.Scheduled-counters.Sent-counters.Rejected), Vitals: into,
		Levels: r.collected.levels}
	r.collected.level = level{at: to, due: counters.Scheduled, sent: counters.Sent + counters.Rejected}
	for _, x := range sample.Values {
		v.Vitals[x.Name] = x.Value
	}
	v.Vitals[vitalSpun] = r.spun().Seconds()
	if busy, ok := r.collected.pacers.busiest(r, to); ok {
		v.Vitals[vitalPacerBusy] = busy
	}
	r.brokerUsage(v.Vitals)
	v.Pauses = append(r.newPauses(start), r.tcp.interval(start, false, v.Vitals)...)
	if err := r.out.interval(v); err != nil {
		return err
	}
	r.collected.levels = r.collected.levels[:0]
	if r.follower != nil {
		if err := r.follower.add(r, v); err != nil {
			return err
		}
	}
	r.held.tend(to)
	r.intervalProgress(v, to-from)
	return nil
}

// dueBy returns how many messages of the window are due before offset. It
// walks the schedule once, along with the run.
func (r *run) dueBy(offset int64) int64 {
	k := &r.collected
	if k.feed == nil {
		all := make([]int, r.workload.Producers)
		for i := range all {
			all[i] = i
		}
		k.feed = r.plan.Merge(all, schedule.Window)
		k.next, _, k.more = k.feed.Next()
	}
	for k.more && k.next < offset {
		k.due++
		k.next, _, k.more = k.feed.Next()
	}
	return k.due
}

// inFlight returns how many measured messages are not resolved: not
// acknowledged or not delivered, whichever are more. A broker that acknowledges
// at once may well be one whose consumers fall behind.
func (r *run) inFlight(c result.Counters) int64 {
	var unacknowledged, undelivered int64
	if r.ack != driver.AckKindNone {
		unacknowledged = c.Sent - c.Acked - c.Nacked - r.unanswered()
	}
	if c.Expected > 0 && c.Sent > 0 { // in messages
		undelivered = (c.Expected-c.Received-c.Corrupted)*c.Sent/c.Expected - c.Nacked - r.unanswered()
	}
	return max(unacknowledged, undelivered, 0)
}

// unanswered returns how many measured messages the driver has given up on.
func (r *run) unanswered() (n int64) {
	for _, l := range r.lanes {
		n += l.unanswered.Load()
	}
	return n
}

// newPauses returns the pauses that ended since the last call, but none that
// ended before there were intervals.
func (r *run) newPauses(start int64) []result.Pause {
	var out []result.Pause
	for _, p := range r.monitor.NewPauses() {
		if p.End > r.collected.pauses {
			out = append(out, result.Pause{Start: p.Start - start, End: p.End - start, Source: p.Source})
		}
	}
	return out
}

func (r *run) progress(p Progress) {
	if r.config.Observer != nil {
		r.config.Observer(p)
	}
}

func (r *run) warmupProgress(began, start int64) {
	now := clock.Now()
	var n int64
	for _, l := range r.lanes {
		n += l.extra.Load()
	}
	r.progress(Progress{Phase: "warm-up", Elapsed: time.Duration(now - began), Left: time.Duration(max(0, start-now)),
		Sent: float64(n) / time.Duration(max(1, now-began)).Seconds(), Asked: r.asked()})
}

func (r *run) asked() float64 {
	if r.plan == nil {
		return 0
	}
	return r.plan.MeanRate()
}

func (r *run) intervalProgress(v result.Interval, length int64) {
	if r.config.Observer == nil {
		return
	}
	p := Progress{Phase: v.Phase, Elapsed: time.Duration(v.End), InFlight: v.InFlight, Backlog: v.Backlog,
		Sent: float64(v.Counters.Sent) / time.Duration(max(1, length)).Seconds(), Asked: r.asked(), Counters: r.collected.counters}
	if r.follower != nil {
		p.Until = r.follower.text()
	}
	if v.Phase == result.PhaseMeasure {
		p.Left = max(0, time.Duration(r.end.Load()-r.start.Load()-v.End))
	}
	id := r.primary
	if !r.rec.Enabled(id) {
		id = recorder.DeliveryService
		if !r.rec.Enabled(id) {
			id = recorder.RoundTripService
		}
		if !r.rec.Enabled(id) {
			id = recorder.PublishService
		}
	}
	p.Metric = id.Metric()
	if r.rec.Enabled(id) {
		refused := v.Counters.Nacked + v.Counters.Rejected
		if id == r.deliveryMetric() || id == r.deliveryService() {
			refused *= int64(r.layout.maxFanOut())
		}
		n, q := r.rec.Last(id, refused, 0.5, 0.99)
		if p.Count = n; n+refused > 0 {
			p.P50, p.P99 = time.Duration(q[0]), time.Duration(q[1])
		}
	}
	if m := v.Metrics[p.Metric]; m != nil {
		p.Max = time.Duration(m.Max)
	}
	r.config.Observer(p)
}
