package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals begins to listen to the signals by which people end a program, until
// stop is called: see Env. A terminal that is closed is one of them, unless it is
// not to matter (nohup).
func Signals() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 3)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	signal.Notify(c, ends...)
	return c, func() { signal.Stop(c) }
}

// brokenPipes makes writing to a stdout that nobody reads any more an error, until over is called.
// Else it ends the process, with nothing undone and no result. Children are not concerned.
func brokenPipes() (over func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}
