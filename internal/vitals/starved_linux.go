package vitals

import (
	"io/fs"
	"sixnines/result"
	"strconv"
	"sync"
	"time"
)

// searchAgain is the interval between searches for a process of the broker that has ended or
// was not found, ns.
const searchAgain = int64(time.Second)

// starvedWatch reads how long the processes at the other end of this process's connections
// waited for a processor. On a shared machine the generator may cause that wait. It is a
// watcher, called with watch.mu held, and a source, called by Monitor.Sample.
type starvedWatch struct {
	connections func() []Connection
	root        fs.FS

	mu        sync.Mutex // guards the fields below
	processes map[int]*brokerProcess
	most      int   // the largest number of processes known at once
	search    int64 // when to search again; 0: all are known
	last      int64 // when the last look was
	grown     []threadTime
	// Sums since the last sample: of the typical thread of each look, and of the looks'
	// lengths, ns.
	sum    threadTime
	length int64
}

// brokerProcess is a process of the broker.
type brokerProcess struct {
	*threadTimes
	quota *throttling // nil: no quota that can be read
	held  int64       // for how long quotas stopped it between the last two looks, ns
}

func openBrokerProcess(process string, now int64) (*brokerProcess, error) {
	threads, err := openThreadTimes(process, maxBrokerThreads, now)
	if err != nil {
		return nil, err
	}
	quota, _ := openThrottling(process) // an error counts as no quota
	return &brokerProcess{threadTimes: threads, quota: quota}, nil
}

// look appends the growth of each thread's times. The time that a quota stopped the process
// does not count as waiting: a broker may be measured with a quota. It is subtracted from
// each thread's wait in full, although it is a sum over processors, together with that of
// the previous look: a stopped thread may run again only after that was counted. ended is
// true if the process is gone.
func (p *brokerProcess) look(now int64, grown []threadTime) (_ []threadTime, ended bool) {
	held := p.held
	if p.quota != nil {
		before := p.quota.time
		if periods, ns, err := p.quota.read(); err == nil {
			p.quota.periods, p.quota.time = periods, ns
		}
		p.held = int64(since(p.quota.time, before))
	}
	held += p.held
	err := p.threadTimes.look(now, func(t threadTime) {
		grown = append(grown, threadTime{t.ran, max(0, t.waited-held)})
	})
	return grown, err != nil || len(p.threads) == 0
}

func (p *brokerProcess) close() {
	p.threadTimes.close()
	if p.quota != nil {
		p.quota.close()
	}
}

// openStarved finds the processes by searching the open files of every process. The error is
// errElsewhere if none is on this machine.
func openStarved(connections func() []Connection, now int64) (sourceWatcher, error) {
	w := &starvedWatch{connections: connections, root: hostRoot(), processes: map[int]*brokerProcess{}, last: now}
	if err := w.find(now); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// find adds the processes that are not known yet. The caller holds w.mu, or is openStarved.
func (w *starvedWatch) find(now int64) error {
	pids, err := findPeers(w.root, w.connections())
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if w.processes[pid] != nil {
			continue
		}
		p, err := openBrokerProcess(strconv.Itoa(pid), now)
		if err != nil {
			return err
		}
		w.processes[pid] = p
	}
	w.most = max(w.most, len(w.processes))
	return nil
}

func (w *starvedWatch) look(now int64, out []Pause) ([]Pause, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.search != 0 && now >= w.search {
		w.search = 0
		if err := w.find(now); err != nil || len(w.processes) < w.most {
			w.search = now + searchAgain
		}
	}
	w.grown = w.grown[:0]
	for pid, p := range w.processes {
		var ended bool
		if w.grown, ended = p.look(now, w.grown); ended {
			p.close()
			delete(w.processes, pid)
			w.search = now + searchAgain
		}
	}
	length := now - w.last
	if t, ok := typical(w.grown, length); ok {
		w.sum.ran += t.ran
		w.sum.waited += t.waited
		if t.delay(length) >= starvedFrom {
			// A wait is counted when it is over; it may have begun before the last look.
			out = append(out, Pause{Start: min(w.last, now-t.waited), End: now})
		}
	}
	if len(w.processes) > 0 { // without processes this time is unknown, not idle
		w.length += length
	}
	w.last = now
	return out, nil
}

func (w *starvedWatch) sample(_ interval, out []Value) ([]Value, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.length == 0 {
		return out, nil // no look in so short a time, or no process
	}
	share := func(ns int64) float64 { return min(1, float64(ns)/float64(w.length)) }
	out = append(out, Value{result.VitalBrokerBusy, share(w.sum.ran)}, Value{result.VitalBrokerWait, share(w.sum.waited)})
	w.sum, w.length = threadTime{}, 0
	return out, nil
}

func (w *starvedWatch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		p.close()
	}
	clear(w.processes)
}
