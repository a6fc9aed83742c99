//go:build !linux

package vitals

import "io"

// ServeIdle fails here: outside Linux, processes do not share the clock of pauses.
func ServeIdle(io.Reader, io.Writer, []string) error { return errNotHere }

// idleProcess is never made here.
type idleProcess struct{}

func startIdle([]string, int64, int64, func(Pause), func(error)) (*idleProcess, error) {
	return nil, errNotHere
}

func (*idleProcess) sample() (p99, most int64, ok bool) { return 0, 0, false }

func (*idleProcess) stop() {}
