package engine

import (
	"slices"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/send"
	"sixnines/internal/engine/window"
	"sixnines/internal/recorder"
	"sixnines/result"
	"sixnines/scenario"
)

// collector writes an interval at a time, on a thread of low priority: what each
// load has recorded and counted, and the vitals of the machine. It belongs to the goroutine of loop;
// when done is closed, to the run's goroutine.
type collector struct {
	run  *run
	done chan struct{} // closed when loop has ended
	err  error         // why it ended, if it could not write

	to       int64                    // end of the last interval, CLOCK_MONOTONIC; 0 without intervals
	progress []Progress               // of each load's last interval
	vitals   map[result.Vital]float64 // of the interval at hand; used again
}

func (r *run) startCollector() *collector {
	c := &collector{run: r, done: make(chan struct{}), vitals: map[result.Vital]float64{}, progress: make([]Progress, len(r.loads))}
	go c.loop()
	return c
}

// wait waits for the collector after the run was stopped, and returns why it could not write.
func (c *collector) wait() error {
	<-c.done
	return c.err
}

func (c *collector) loop() {
	defer close(c.done)
	r := c.run
	r.TakeLowThread()
	for _, ld := range r.loads {
		defer ld.accounts.Reported.Pacers.Close()
	}
	interval := int64(r.scenario.Record.Interval)
	grid := min(interval, int64(scenario.IntervalFor(r.scenario.Phases.Duration)))
	from := r.Start.Load()
	began := clock.Now()
	for tick := began + grid; c.sleepSweeping(min(tick, from)) && clock.Now() < from; tick += grid {
		c.warmupProgress(began, from)
	}
	if clock.Now() < from {
		return // ended in the warm-up
	}
	r.breath.begin()
	r.watch.Begin()
	if r.Virtual == nil {
		for _, ld := range r.loads {
			r.breath.take()
			ld.accounts.Reported.Pacers.Busiest(ld.sending.Pacing.List(), clock.Now())
			ld.readerBusy(clock.Now())
		}
	}
	for _, ld := range r.loads {
		ld.accounts.Reported.Level.At, ld.accounts.Reported.Unmeasured = ld.Start.Load(), ld.sending.Unmeasured()
	}
	next := from + interval
	for {
		end := r.End.Load()
		next = r.edge(from, next)
		running := c.sleepWatching(next, from < end, grid)
		end = r.End.Load()
		// The interval ends now, and not when it was planned to: its counts are
		// those of this moment.
		to := max(clock.Now(), from+1)
		phase := result.PhaseMeasure
		if from >= end {
			phase = result.PhaseDrain
		} else if to > end {
			to = end
		}
		if c.err = c.collect(phase, from, to); c.err != nil || !running {
			return
		}
		from = to
		for next <= to {
			next += interval
		}
	}
}

// edge returns the first start or end of a load's window after from, or until if
// that is sooner, CLOCK_MONOTONIC: no interval crosses an edge of a window.
func (r *run) edge(from, until int64) int64 {
	for _, ld := range r.loads {
		for _, t := range []int64{ld.Start.Load(), ld.End.Load()} {
			if t > from {
				until = min(until, t)
			}
		}
	}
	return until
}

// sleepSweeping sleeps until t, CLOCK_MONOTONIC, and takes what timed out out of the messages in flight
// meanwhile; false if the run is over.
func (c *collector) sleepSweeping(t int64) bool {
	for now := clock.Now(); now < t; now = clock.Now() {
		if !c.run.SleepUntil(min(t, now+c.run.looks())) {
			return false
		}
		c.run.Quiesce(window.OrderCollect)
		c.run.sweep()
	}
	return true
}

// looks is the longest time, in ns, between two sweeps: a sixteenth of the shortest time limit, from one
// millisecond to window.Slice.
func (r *run) looks() int64 {
	often := int64(window.Slice)
	for _, ld := range r.loads {
		often = min(often, max(int64(time.Millisecond), int64(ld.Workload.Timeout)/16))
	}
	return often
}

// sleepWatching sleeps until t, CLOCK_MONOTONIC, or, inside the window, until its end is moved
// before that; false if the run is over. Meanwhile it takes what timed out out of the
// messages in flight, and takes a level of each load whose last one is grid ns old.
func (c *collector) sleepWatching(t int64, inside bool, grid int64) bool {
	r := c.run
	for now := clock.Now(); now < t; now = clock.Now() {
		r.Quiesce(window.OrderCollect)
		if r.Stopped.Load() {
			return false
		}
		if inside && now >= r.End.Load() {
			return true
		}
		r.breath.begin()
		r.watch.Poll()
		for _, ld := range r.loads {
			// A level just before the interval's end is left out.
			if now-ld.accounts.Reported.Level.At >= grid && t-now > grid/2 {
				ld.accounts.TakeLevel(now)
			}
			ld.accounts.HoldOften(now, grid/10)
		}
		time.Sleep(time.Duration(min(t-now, r.looks())))
		// Before any counter is read: messages that are sent at this instant, with credits that the
		// sweep frees, count.
		r.Quiesce(window.OrderCollect)
		r.sweep()
	}
	r.Quiesce(window.OrderCollect)
	return !r.Stopped.Load()
}

// sweep takes what timed out out of the messages in flight of all loads.
func (r *run) sweep() {
	for _, ld := range r.loads {
		ld.sending.Sweep()
	}
}

// collect writes the run's interval [from, to), CLOCK_MONOTONIC, for each load that has a part in it.
func (c *collector) collect(phase string, from, to int64) error {
	r := c.run
	start := r.Start.Load()
	r.breath.begin()
	clear(c.vitals)
	r.watch.Vitals(c.vitals)
	if r.Virtual == nil {
		c.vitals[result.VitalPacerSpun] = send.Spun(r.pacers()).Seconds()
	}
	r.breath.take()
	pauses := r.watch.Pauses(start, false, c.vitals)
	for i, ld := range r.loads {
		ld.accounts.KeepPauses(pauses)
		pacers := ld.sending.Pacing.List()
		busy, known := ld.accounts.Reported.Pacers.Busiest(pacers, to)
		reads, told := ld.readerBusy(to)
		if !ld.accounts.Within(from, to) {
			continue
		}
		if delete(c.vitals, result.VitalPacerBusy); known {
			c.vitals[result.VitalPacerBusy] = busy
		}
		if delete(c.vitals, result.VitalReaderBusy); told {
			c.vitals[result.VitalReaderBusy] = reads
		}
		if delete(c.vitals, result.VitalPacerCount); len(pacers) > 0 {
			c.vitals[result.VitalPacerCount] = float64(len(pacers))
		}
		ld.side.Collect(c.vitals)
		r.breath.take()
		ld.recording.ReadyRaw(r.breath.take)
		ld.recording.Rec.Snapshot()
		// The snapshot took a while: the interval ends now, with the counts.
		phase, from, to := ld.accounts.Next(phase, max(to, clock.Now()))
		v, err := ld.accounts.Interval(phase, from, to)
		if err != nil {
			return err
		}
		r.breath.take()
		ld.sending.ReportRefusals()
		ld.churn.Report()
		v.Connections = ld.churn.Counted(to)
		v.Workload, v.Vitals, v.Pauses = ld.Part.Name, c.vitals, ld.accounts.Reported.Pauses
		v.Ledger = ld.accounts.Ledger(false, r.breath.take)
		if err := r.out.Interval(v); err != nil {
			return err
		}
		if r.config.Exporter != nil {
			r.config.Exporter.Interval(&v, ld.recording.Rec.Added)
		}
		ld.accounts.Reported.Levels, ld.accounts.Reported.Pauses = ld.accounts.Reported.Levels[:0], ld.accounts.Reported.Pauses[:0]
		if ld.accounts.Follower != nil {
			last, err := ld.accounts.Follower.Add(ld.Plan, ld.recording.Rec, v)
			if err != nil {
				return err
			}
			if last {
				r.shorten(result.EventNarrow)
			}
		}
		if r.config.Observer != nil {
			c.progress[i] = ld.progressOf(v, to-from)
		}
	}
	c.reportProgress(phase, to)
	c.to = to
	if r.held != nil {
		r.held.Poll(to)
	}
	return nil
}

func (c *collector) warmupProgress(began, start int64) {
	now := clock.Now()
	var sent, asked float64
	for _, ld := range c.run.loads {
		if !ld.Flow.Timed || ld.Part.From > 0 {
			continue // its warm-up is over, or it has no warm-up
		}
		asked += ld.Rate()
		if due := ld.Slices.Due(time.Duration(began-start), time.Duration(now-start)); due > 0 {
			sent += float64(ld.sending.Unmeasured()) / due.Seconds()
		}
	}
	c.run.progress(Progress{Phase: "warm-up", Elapsed: time.Duration(now - began), Left: time.Duration(max(0, start-now)),
		Sent: sent, Asked: asked})
}

// reportProgress calls the observer with the interval that ends at to.
func (c *collector) reportProgress(phase string, to int64) {
	r := c.run
	start, end := r.Start.Load(), r.End.Load()
	if r.loads[0].Part.Name == "" {
		r.progress(c.progress[0])
		return
	}
	p := Progress{Phase: phase, Elapsed: time.Duration(to - start), Workloads: slices.Clone(c.progress)}
	if phase == result.PhaseMeasure {
		p.Left = time.Duration(max(0, end-to))
	}
	for i, ld := range r.loads {
		w := &p.Workloads[i]
		w.Workload, w.Background, w.Begins = ld.Part.Name, ld.Part.Background, time.Duration(max(0, ld.Start.Load()-to))
	}
	r.progress(p)
}

// fewDue is how many messages must be due in an interval for the number sent in it to be
// shown as a rate.
const fewDue = 5

// progressOf describes an interval, length ns long. Messages sent in it are those of the window, and
// those that a warm-up had left to be sent.
func (ld *load) progressOf(v result.Interval, length int64) Progress {
	before := ld.accounts.Reported.Unmeasured
	ld.accounts.Reported.Unmeasured = ld.sending.Unmeasured()
	sent := v.Counters.Sent + ld.accounts.Reported.Unmeasured - before
	p := Progress{Phase: v.Phase, Elapsed: time.Duration(v.End), InFlight: v.InFlight, Backlog: v.Backlog,
		Sent: float64(sent) / time.Duration(max(1, length)).Seconds(), Asked: ld.Rate(), Counters: ld.accounts.Reported.Counters}
	if ld.Slices != nil { // an interval may have none of its slices, or more than its share
		p.Sent = 0
		if due := ld.Slices.Due(0, time.Duration(v.End)); due > 0 {
			p.Sent = float64(p.Counters.Sent+p.Counters.Rejected) / due.Seconds()
		}
	} else if seconds := time.Duration(v.End).Seconds(); p.Asked > 0 && p.Asked*time.Duration(max(1, length)).Seconds() < fewDue {
		// Too few messages are due in the interval for a rate: each stands for the time until the
		// next.
		c := &p.Counters
		p.Sent = float64(c.Sent+c.Rejected) / max(seconds, float64(c.Scheduled)/p.Asked)
	}
	if ld.accounts.Follower != nil {
		p.Until = ld.accounts.Follower.Text()
	}
	if v.Phase == result.PhaseMeasure {
		p.Left = max(0, time.Duration(ld.End.Load()-ld.Start.Load()-v.End))
	}
	id := ld.Flow.Primary
	if !ld.recording.Rec.Enabled(id) {
		id = recorder.DeliveryService
		if !ld.recording.Rec.Enabled(id) {
			id = recorder.RoundTripService
		}
		if !ld.recording.Rec.Enabled(id) {
			id = recorder.PublishService
		}
	}
	p.Metric = id.Metric()
	if ld.recording.Rec.Enabled(id) {
		refused := v.Counters.Nacked + v.Counters.Rejected
		if id == ld.Flow.Response || id == ld.Flow.Service {
			refused *= int64(ld.Layout.MaxFanOut())
		}
		n, q := ld.recording.Rec.Last(id, refused, 0.5, 0.99)
		if p.Count = n; n+refused > 0 {
			p.P50, p.P99 = time.Duration(q[0]), time.Duration(q[1])
		}
	}
	if m := v.Metrics[p.Metric]; m != nil {
		p.Max = time.Duration(m.Max)
	}
	return p
}
