package vitals

import (
	"fmt"

	"golang.org/x/sys/unix"

	"sixnines/result"
)

// watcherOpeners lists the watchers of Linux. The order matters: the quota is read
// before the waiting time is judged.
func watcherOpeners() []watcherOpener {
	quota := &throttleWatch{}
	return []watcherOpener{
		{result.PauseThrottled, quickLook, quota.open},
		{result.PauseGC, quickLook, openCollectionWatch},
		{result.PauseSwap, quickLook, openFaultWatch},
		{result.PauseContention, quickLook, func(now int64) (watcher, error) { return openContentionWatch(quota, now) }},
		{result.PauseSteal, slowLook, openStealWatch},
	}
}

// throttleWatch reads the quota counters. They grow when a group may run again. This
// process is stopped with its group and cannot look meanwhile, so the whole stop lies
// between two looks.
type throttleWatch struct {
	source *throttling // nil: could not be opened
	last   int64
}

func (w *throttleWatch) open(now int64) (watcher, error) {
	s, err := openThrottling(self)
	if err != nil {
		return nil, err
	}
	w.source, w.last = s, now
	return w, nil
}

// held returns for how long groups had been stopped at the last look, ns, summed over
// processors and groups; 0 if the source could not be opened.
func (w *throttleWatch) held() int64 {
	if w.source == nil {
		return 0
	}
	return int64(w.source.time)
}

func (w *throttleWatch) look(now int64, out []Pause) ([]Pause, error) {
	periods, ns, err := w.source.read()
	if err != nil {
		return out, err
	}
	if periods > w.source.periods || ns > w.source.time {
		out = append(out, stretch(w.last, now, int64(since(ns, w.source.time)), quickLook))
	}
	w.source.periods, w.source.time, w.last = periods, ns, now
	return out, nil
}

func (w *throttleWatch) close() { w.source.close() }

// faultWatch counts the page faults that needed a disk. A single one is reported.
type faultWatch struct{ faults, last int64 }

func openFaultWatch(now int64) (watcher, error) {
	w := &faultWatch{last: now}
	_, err := w.look(now, nil)
	return w, err
}

func (w *faultWatch) look(now int64, out []Pause) ([]Pause, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return out, fmt.Errorf("getrusage: %w", err)
	}
	if u.Majflt > w.faults && now > w.last {
		out = append(out, Pause{Start: w.last, End: now})
	}
	w.faults, w.last = u.Majflt, now
	return out, nil
}

func (w *faultWatch) close() {}

// stealTicks is the least number of ticks stolen between two looks that counts. The
// kernel sums nanoseconds and shows whole ticks: one tick may be the sum of small parts
// over minutes, but of two at least one was stolen since the last look.
const stealTicks = 2

// stealShare is the least share of the machine's time that counts: the share above
// which a run is suspect.
const stealShare = 0.005

// stealWatch reads the time that the hypervisor gave to other machines.
type stealWatch struct {
	ticks *ticks
	last  int64
}

func openStealWatch(now int64) (watcher, error) {
	s, err := openTicks()
	if err != nil {
		return nil, err
	}
	return &stealWatch{s.(*ticks), now}, nil
}

func (w *stealWatch) look(now int64, out []Pause) ([]Pause, error) {
	t, err := w.ticks.read()
	if err != nil {
		return out, err
	}
	if d := t.since(w.ticks.last); stolen(d) {
		out = append(out, stretch(w.last, now, int64(d.steal)*(1e9/ticksPerSecond), slowLook))
	}
	w.ticks.last, w.last = t, now
	return out, nil
}

func (w *stealWatch) close() { w.ticks.close() }

// stolen reports whether the stolen time matters.
func stolen(d cpuTime) bool {
	return d.steal >= stealTicks && float64(d.steal) >= stealShare*float64(d.total())
}

// contentionWatch reads how long this process's threads waited for a processor.
type contentionWatch struct {
	contention
	quota   *throttleWatch
	ticks   *ticks
	threads *threadTimes
	last    int64 // the last quick look
	judged  int64 // the last slow look
}

func openContentionWatch(quota *throttleWatch, now int64) (watcher, error) {
	threads, err := openThreadTimes(self, maxThreads, now)
	if err != nil {
		return nil, err
	}
	s, err := openTicks()
	if err != nil {
		threads.close()
		return nil, err
	}
	w := &contentionWatch{quota: quota, ticks: s.(*ticks), threads: threads, last: now, judged: now}
	w.waits = make([]wait, 0, 64)
	if w.start, err = w.load(); err != nil {
		w.close()
		return nil, err
	}
	w.before = w.start
	return w, nil
}

func (w *contentionWatch) look(now int64, out []Pause) ([]Pause, error) {
	longest := int64(0)
	if err := w.threads.look(now, func(t threadTime) { longest = max(longest, t.waited) }); err != nil {
		return out, err
	}
	w.add(wait{from: w.last, to: now, longest: longest})
	w.last = now
	if now-w.judged < slowLook-quickLook/2 {
		return out, nil
	}
	l, err := w.load()
	if err != nil {
		return out, err
	}
	w.judged = now
	return w.judge(l, out), nil
}

func (w *contentionWatch) load() (load, error) {
	t, err := w.ticks.read()
	if err != nil {
		return load{}, err
	}
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return load{}, fmt.Errorf("getrusage: %w", err)
	}
	return load{busy: int64(t.busy) * (1e9 / ticksPerSecond), own: u.Utime.Nano() + u.Stime.Nano(), held: w.quota.held()}, nil
}

func (w *contentionWatch) close() {
	w.threads.close()
	w.ticks.close()
}
