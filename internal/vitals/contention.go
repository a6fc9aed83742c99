package vitals

import "time"

const (
	// contentionWait is the least wait for a processor, caused by others, that counts.
	// Shorter waits occur all the time where processes share processors: the kernel lets
	// each run for 0.7 to 3 ms in turn (base_slice_ns), and a thread that wakes usually
	// gets in between.
	contentionWait = int64(2 * time.Millisecond)
	// contentionShare is the least share of the processor time used that others must
	// have had. Below it, the process mainly waits for its own threads.
	contentionShare = 0.25
)

// wait is the longest wait of any thread of this process for a processor that was
// counted between the looks at from and to, ns.
type wait struct{ from, to, longest int64 }

// load has counters of processor time at some instant.
type load struct {
	busy, own int64 // ns used by all processes, and by this one
	// held is for how long quotas stopped this process's groups, ns, summed over
	// processors: the kernel counts that as waiting, too.
	held int64
}

// contention tells a process that waits because others have the processors from one that has
// too much to do itself, and from one that a quota stops. The kernel counts how long
// threads waited (run_delay of /proc/PID/task/TID/schedstat: CONFIG_SCHED_INFO), also in
// control groups and without PSI, but not for which process. It counts the processor time
// of each process in ticks, so that is read over a longer time:
//
//	others = busy − own                          over the last two slow looks
//	waited for others = (wait − held) · others/busy, at most others
//
// held is subtracted in full, although it is a sum over processors, and includes the
// previous slow look: a stopped thread may run again only after its group's time was
// counted. So a wait that a quota may explain is never attributed to others.
type contention struct {
	waits         []wait
	before, start load // at the last slow look but one, and at the last
}

// add adds one quick look's wait.
func (c *contention) add(w wait) {
	if w.longest >= contentionWait {
		c.waits = append(c.waits, w)
	}
}

// judge ends a slow look: it appends the waits that others caused. The kernel counts
// a wait when it is over, so its pause may begin before the look.
func (c *contention) judge(now load, out []Pause) []Pause {
	busy, own, held := now.busy-c.before.busy, now.own-c.before.own, now.held-c.before.held
	others := max(0, busy-own)
	for _, w := range c.waits {
		if busy <= 0 {
			break
		}
		share := float64(others) / float64(busy)
		attributed := min(int64(float64(max(0, w.longest-held))*share), others)
		if share >= contentionShare && attributed >= contentionWait {
			p := stretch(w.from, w.to, w.longest, quickLook)
			out = append(out, Pause{Start: min(p.Start, w.to-w.longest), End: w.to})
		}
	}
	c.waits = c.waits[:0]
	c.before, c.start = c.start, now
	return out
}
