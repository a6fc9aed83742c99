package report

import "sixnines/result"

// pauseSource is what the report knows of a source of pauses.
type pauseSource struct {
	means string
	// counter says that the pause is a stretch between two looks at a counter:
	// it happened somewhere in it, not all of it long.
	counter bool
}

// pauseSourceOf knows the sources of [result.Pause]; files of other versions
// may hold others.
func pauseSourceOf(source string) pauseSource {
	switch source {
	case result.PauseThread:
		return pauseSource{"a thread of the generator did not run when it was due", false}
	case result.PauseGoroutine:
		return pauseSource{"a goroutine of the generator did not run when it was due", false}
	case result.PauseProcess:
		return pauseSource{"the whole generator stood still", false}
	case result.PauseIdle:
		return pauseSource{"an idle process apart stood still too: the machine's doing", false}
	case result.PauseGC:
		return pauseSource{"Go's garbage collector stopped the generator", true}
	case result.PauseThrottled:
		return pauseSource{"a control group's cpu.max held the generator back", true}
	case result.PauseSteal:
		return pauseSource{"the hypervisor gave the processors to others", true}
	case result.PauseCrowded:
		return pauseSource{"others on this machine had the processors", true}
	case result.PauseSwap:
		return pauseSource{"pages of the generator were read back from disk", true}
	case result.PauseRetransmit:
		return pauseSource{"TCP sent something again", true}
	}
	return pauseSource{"generator paused", false}
}

// pauseText says of a pause what it was and how long.
func pauseText(p result.Pause) string {
	source := pauseSourceOf(p.Source)
	length := duration(p.End - p.Start)
	if source.counter {
		return source.means + ", within these " + length + " (" + plain(p.Source) + ")"
	}
	return source.means + ", " + length + " (" + plain(p.Source) + ")"
}
