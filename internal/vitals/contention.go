package vitals

import "time"

const (
	// contentionWait is how long a thread must have waited for a processor because
	// of others. Shorter waits occur all the time where several
	// processes share processors: the kernel lets each run for 0.7 to 3 ms at a
	// turn (base_slice_ns), and a wake-up usually gets in between.
	contentionWait = int64(2 * time.Millisecond)
	// contentionShare is which share of what was used the others must have had.
	// Below, a process that waits for a processor waits for its own threads.
	contentionShare = 0.25
)

// wait is the longest that any one thread of this process waited for a processor,
// of what became known between two looks.
type wait struct{ from, to, longest int64 }

// load is what was used up to some moment, as counters: by all processors
// together, and by this process.
type load struct {
	busy, own int64 // ns of CPU
	// held is for how long quotas stopped this process's groups, ns, summed
	// over processors: the kernel counts that as waiting, too.
	held int64
}

// contention distinguishes a process that waits because others have the processors from one
// that has too much to do itself, and from one that a quota stops. The
// kernel counts how long threads waited (run_delay of /proc/PID/task/TID/
// schedstat: CONFIG_SCHED_INFO), also in control groups and without PSI, but not
// for which process; who used what it counts in ticks, so that is read over a
// longer time:
//
//	others = busy − own                          over the last two slow looks
//	waited for others = (wait − held) · others/busy, at most others
//
// held is taken off in full, although it is a sum over processors, and that of
// the slow look before too: a thread that was stopped may run again after
// its group's time was counted. So a wait that a quota may explain is not attributed to others.
type contention struct {
	waits         []wait
	before, start load // at the last slow look but one, and at the last
}

// add takes one quick look's wait.
func (c *contention) add(w wait) {
	if w.longest >= contentionWait {
		c.waits = append(c.waits, w)
	}
}

// judge ends a slow look: it appends those waits that others caused. A
// wait is counted when it is over, so it may have begun before the look.
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
