package vitals

import (
	"io/fs"
	"sixnines/result"
	"strconv"
	"sync"
	"time"
)

// searchAgain is how long after a process of the broker has ended, or was not there, it is
// looked for again.
const searchAgain = int64(time.Second)

// starvedWatch looks at how long the processes at the other end of this one's connections
// waited for a processor, which on a shared machine is what this process takes from them.
// It is a watcher, and a source.
type starvedWatch struct {
	connections func() []Connection
	root        fs.FS

	mu        sync.Mutex
	processes map[int]*brokerProcess
	most      int   // processes that were known at once
	search    int64 // when to search for them again; 0: none is missing
	last      int64 // look
	grown     []threadTime
	// Of the interval: of the typical thread of each look, and how long the looks were.
	sum    threadTime
	length int64
}

// brokerProcess is one of the processes.
type brokerProcess struct {
	*threadTimes
	quota *throttling // nil: it has none
	held  int64       // for how long quotas stopped it between the two looks before, ns
}

func openBrokerProcess(process string, now int64) (*brokerProcess, error) {
	threads, err := openThreadTimes(process, maxBrokerThreads, now)
	if err != nil {
		return nil, err
	}
	quota, _ := openThrottling(process) // an error is the lack of one
	return &brokerProcess{threadTimes: threads, quota: quota}, nil
}

// look adds what the process's threads' times have grown by. What a quota took from it is no
// waiting: a broker may be measured with one. It is taken off each thread's in full, although
// it is a sum over processors, and that between the two looks before, too: a thread that was
// stopped may run again after that was counted.
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

// openStarved finds the processes: it searches what every process has open.
func openStarved(connections func() []Connection, now int64) (sourceWatcher, error) {
	w := &starvedWatch{connections: connections, root: hostRoot(), processes: map[int]*brokerProcess{}, last: now}
	if err := w.find(now); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// find adds the processes that are not known.
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
			// A wait is counted when it is over, and may have begun before.
			out = append(out, Pause{Start: min(w.last, now-t.waited), End: now})
		}
	}
	if len(w.processes) > 0 { // else nothing is known of this time
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
