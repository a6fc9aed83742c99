package cli

import (
	"context"
	"time"

	"sixnines/internal/spell"
)

const (
	// restLook is how long one measurement of a broker's processor use takes, and
	// restAtMost the longest wait until it is idle.
	restLook   = 250 * time.Millisecond
	restAtMost = 15 * time.Second
	// restShare is the share of one processor below which a process counts as idle:
	// a Java virtual machine without any load uses 1 to 4 %.
	restShare = 0.1
)

// rest waits until a broker that has served a run is idle. After a heavy load it flushes
// data to the disk, deletes topics and collects garbage for seconds, which would disturb
// the next run. used returns the processor time that the broker's processes have used so
// far, and their number; false: not known. rest returns how long it waited, and whether
// the broker became idle.
func rest(ctx context.Context, used func() (cpu time.Duration, processes int, ok bool)) (waited time.Duration, rested bool) {
	before, _, ok := used()
	for ok && waited < restAtMost {
		select {
		case <-ctx.Done():
			return waited, true // ctx ended: the run will report that
		case <-time.After(restLook):
		}
		waited += restLook
		var now time.Duration
		var processes int
		if now, processes, ok = used(); float64(now-before) < restShare*float64(processes)*float64(restLook) {
			return waited, true
		}
		before = now
	}
	return waited, !ok
}

// rest waits until the broker is idle, and says so if it takes long.
func (b *managedBroker) rest(ctx context.Context, say func(string)) {
	waited, rested := rest(ctx, func() (cpu time.Duration, processes int, ok bool) {
		for _, u := range b.usage() {
			if !u.Missing {
				cpu += u.CPU
				processes++
			}
		}
		return cpu, processes, processes > 0
	})
	switch {
	case !rested:
		say("the broker is still busy with the previous run after " + spell.Period(waited) + "; continuing")
	case waited >= 2*time.Second:
		say("waited " + spell.Period(waited) + " for the broker to finish with the previous run")
	}
}
