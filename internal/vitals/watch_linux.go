package vitals

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// watcherOpeners lists what is looked at on Linux. The order matters: whether a
// quota ran out must be known before waiting is judged.
func watcherOpeners() []watcherOpener {
	quota := &throttleWatch{}
	return []watcherOpener{
		{SourceThrottled, quickLook, quota.open},
		{SourceGC, quickLook, openCollectionWatch},
		{SourceSwap, quickLook, openFaultWatch},
		{SourceOthers, quickLook, func(now int64) (watcher, error) { return openContentionWatch(quota, now) }},
		{SourceSteal, slowLook, openStealWatch},
	}
}

// throttleWatch looks at the quota counters. They grow when a group may run
// again, so the whole time for which it was stopped, the looking included, lies between
// the two looks around it.
type throttleWatch struct {
	source *throttling // nil: there is none
	last   int64
}

func (w *throttleWatch) open(now int64) (watcher, error) {
	s, err := openThrottling()
	if err != nil {
		return nil, err
	}
	w.source, w.last = s.(*throttling), now
	return w, nil
}

// held returns for how long groups were stopped as of the last look, ns, summed
// over processors and groups.
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

// faultWatch looks at the page faults that needed a disk. One is enough to report.
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

// stealTicks is how many ticks must have been stolen between two looks. The
// kernel adds up nanoseconds and shows whole ticks: one may be the sum of small parts
// over minutes, of two one was stolen since the last look.
const stealTicks = 2

// stealShare is which share of the machine's time they must be: what makes a run
// suspect.
const stealShare = 0.005

// stealWatch looks at the time that the hypervisor gave to others.
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

// stolen reports whether so much was stolen that it matters.
func stolen(d cpuTime) bool {
	return d.steal >= stealTicks && float64(d.steal) >= stealShare*float64(d.total())
}

// contentionWatch looks at how long the threads waited for a processor.
type contentionWatch struct {
	contention
	quota   *throttleWatch
	ticks   *ticks
	threads *threadWaits
	last    int64 // quick look
	judged  int64 // slow look
}

func openContentionWatch(quota *throttleWatch, now int64) (watcher, error) {
	threads, err := openThreadWaits(now)
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
	longest, err := w.threads.look(now)
	if err != nil {
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

const (
	// listThreads is how often new threads are looked for.
	listThreads = 10 * quickLook
	// maxThreads bounds the files that are kept open for them.
	maxThreads = 256
)

// threadWaits reads how long each thread of the process has waited for a
// processor, which the kernel counts per thread alone.
type threadWaits struct {
	dir     int // /proc/self/task
	threads map[int]*threadWait
	next    int64 // when to look for new ones
	entries []byte
	names   []string
	text    [64]byte
}

type threadWait struct {
	fd     int
	waited uint64 // ns
}

func openThreadWaits(now int64) (*threadWaits, error) {
	dir, err := unix.Open("/proc/self/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /proc/self/task: %w", err)
	}
	t := &threadWaits{dir: dir, threads: map[int]*threadWait{}, next: now, entries: make([]byte, 8192)}
	if _, err := t.look(now); err != nil {
		t.close()
		return nil, err
	}
	if len(t.threads) == 0 {
		t.close()
		return nil, fmt.Errorf("/proc/self/task/*/schedstat: %w: built without CONFIG_SCHED_INFO", errNotOffered)
	}
	return t, nil
}

// look returns the longest wait that any thread's counter grew by. Of a thread
// that is seen for the first time nothing is known.
func (t *threadWaits) look(now int64) (longest int64, err error) {
	for id, x := range t.threads {
		waited, ok := t.read(x.fd)
		if !ok { // the thread has ended
			unix.Close(x.fd)
			delete(t.threads, id)
			continue
		}
		longest = max(longest, int64(since(waited, x.waited)))
		x.waited = waited
	}
	if now < t.next {
		return longest, nil
	}
	t.next = now + listThreads
	return longest, t.list()
}

func (t *threadWaits) read(fd int) (waited uint64, ok bool) {
	for {
		n, err := unix.Pread(fd, t.text[:], 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, false
		}
		return threadWaited(t.text[:n])
	}
}

// list opens what is new.
func (t *threadWaits) list() error {
	if _, err := unix.Seek(t.dir, 0, 0); err != nil {
		return fmt.Errorf("/proc/self/task: %w", err)
	}
	for {
		n, err := unix.ReadDirent(t.dir, t.entries)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("read /proc/self/task: %w", err)
		}
		if n <= 0 {
			return nil
		}
		_, _, t.names = unix.ParseDirent(t.entries[:n], -1, t.names[:0])
		for _, name := range t.names {
			id, err := strconv.Atoi(name)
			if err != nil || t.threads[id] != nil || len(t.threads) == maxThreads {
				continue
			}
			fd, err := unix.Openat(t.dir, name+"/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				continue // it has ended, or there is no such file
			}
			waited, ok := t.read(fd)
			if !ok {
				unix.Close(fd)
				continue
			}
			t.threads[id] = &threadWait{fd, waited}
		}
	}
}

func (t *threadWaits) close() {
	for _, x := range t.threads {
		unix.Close(x.fd)
	}
	unix.Close(t.dir)
}
