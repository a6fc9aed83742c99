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
		return pauseSource{"a thread of the generator ran late", false}
	case result.PauseGoroutine:
		return pauseSource{"a goroutine of the generator ran late", false}
	case result.PauseProcess:
		return pauseSource{"the whole generator was paused", false}
	case result.PauseIdle:
		return pauseSource{"an idle process was paused too, so the machine was", false}
	case result.PauseGC:
		return pauseSource{"garbage collection paused the generator", true}
	case result.PauseThrottled:
		return pauseSource{"a control group's cpu.max throttled the generator", true}
	case result.PauseSteal:
		return pauseSource{"the hypervisor gave processor time to others", true}
	case result.PauseOthers:
		return pauseSource{"other processes used the processors", true}
	case result.PauseSwap:
		return pauseSource{"pages of the generator were read back from disk", true}
	case result.PauseStarved:
		return pauseSource{"the broker waited for a processor of this machine", true}
	case result.PauseRetransmit:
		return pauseSource{"TCP retransmitted segments", true}
	}
	return pauseSource{"generator paused", false}
}

// sourceName is a source of pauses as people read it.
func sourceName(source string) string {
	switch source {
	case result.PauseOthers:
		return "other processes"
	case result.PauseGC:
		return "garbage collection"
	case result.PauseStarved:
		return "broker without processor"
	}
	return plain(source)
}

// pauseText says of a pause what it was and how long.
func pauseText(p result.Pause) string {
	source := pauseSourceOf(p.Source)
	length := duration(p.End - p.Start)
	if source.counter {
		return source.means + ", within these " + length + " (" + sourceName(p.Source) + ")"
	}
	return source.means + ", " + length + " (" + sourceName(p.Source) + ")"
}
