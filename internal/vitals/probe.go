package vitals

import (
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"

	"sixnines/internal/clock"
)

// probe has the values that [Checkup] measures.
type probe struct {
	late      []int64 // by how much each wake-up was late, ns, sorted
	slackErr  error   // timer slack could not be set for them
	slack     string  // ns of other threads, before it was set; empty: not readable
	clockRead float64 // ns a reading
	cpu       cpuTime // ticks used while the wake-ups were measured
	cpuErr    error
	others    othersCPU // processor time by process, of the same time
	othersErr error
	sync      syncState
	syncErr   error
	chrony    tracking
	chronyErr error
	asleep    time.Duration // since the machine was started
	asleepErr error
	nic       nic // nil: not available
}

// measure takes about wakeups × period, and up to a second more if chrony does
// not answer.
func measure(root fs.FS, wakeups int, period time.Duration) probe {
	p := probe{late: make([]int64, 0, wakeups)}
	// Read before a thread's slack is changed below.
	p.slack, _ = readWord(root, "proc/self/timerslack_ns")
	table, tableErr := readProcesses(root)
	began := clock.Now()
	before, err := readCPUTime(root)
	done := make(chan struct{})
	go func() { // never unlocked: the thread and its slack end with it
		defer close(done)
		runtime.LockOSThread()
		p.slackErr = clock.SetTimerSlack(1)
		for range wakeups {
			at := clock.Now() + int64(period)
			p.late = append(p.late, max(0, clock.SleepUntilStamped(at)-at))
		}
	}()
	<-done
	slices.Sort(p.late)
	after, afterErr := readCPUTime(root)
	if p.cpuErr = err; err == nil {
		p.cpuErr = afterErr
	}
	p.cpu = after.since(before)
	if p.othersErr = tableErr; tableErr == nil {
		var now map[int]processCPU
		if now, p.othersErr = readProcesses(root); p.othersErr == nil {
			p.others = othersBetween(table, now, os.Getpid(), time.Duration(clock.Now()-began))
		}
	}
	p.sync, p.syncErr = clockSync()
	p.chrony, p.chronyErr = askChrony()
	p.asleep, p.asleepErr = slept()
	p.nic = ethtool()
	p.clockRead = clockReadCost()
	return p
}

// clockReadCost returns the cost of one clock.Now in ns, the least of several
// rounds, so that interruptions do not count.
func clockReadCost() float64 {
	const rounds, reads = 20, 2000
	best := int64(1 << 62)
	for range rounds {
		first := clock.Now()
		last := first
		for range reads {
			last = clock.Now()
		}
		best = min(best, last-first)
	}
	return float64(best) / reads
}

func readCPUTime(root fs.FS) (cpuTime, error) {
	text, err := fs.ReadFile(root, "proc/stat")
	if err != nil {
		return cpuTime{}, err
	}
	t, ok := parseCPUTime(text)
	if !ok {
		return cpuTime{}, &fs.PathError{Op: "parse", Path: "proc/stat", Err: errNotOffered}
	}
	return t, nil
}

// rank returns the nearest-rank quantile of sorted values as a duration, 0 of
// none.
func rank(sorted []int64, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return time.Duration(sorted[max(0, (len(sorted)*percent+99)/100-1)])
}
