package cli

import (
	"context"
	"time"

	"sixnines/internal/spell"
)

const (
	// restLook is how long a look at what a broker uses is, and restAtMost how long
	// its rest is waited for.
	restLook   = 250 * time.Millisecond
	restAtMost = 15 * time.Second
	// restShare is the share of one processor below which a process counts as idle:
	// a Java virtual machine without any load uses 1 to 4 %.
	restShare = 0.1
)

// rest waits until a broker that has served a run is done with it: it writes to the
// disk what it holds, deletes topics and collects garbage, for seconds after a heavy
// load, and the next run would measure that. used tells the processor time that the
// broker's processes have used so far, and how many they are; false: nobody can tell. It
// returns how long it waited, and whether the broker came to rest.
func rest(ctx context.Context, used func() (cpu time.Duration, processes int, ok bool)) (waited time.Duration, rested bool) {
	before, _, ok := used()
	for ok && waited < restAtMost {
		select {
		case <-ctx.Done():
			return waited, true // the run will tell
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

// rest waits for the broker's.
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
		say("the broker still works on what the run before left after " + spell.Period(waited) + "; going on")
	case waited >= 2*time.Second:
		say("waited " + spell.Period(waited) + " for the broker to be done with the run before")
	}
}
