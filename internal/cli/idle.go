package cli

import (
	"fmt"

	"sixnines/internal/vitals"
)

// idleCommand makes this program the process that watches the machine beside a
// run: see [vitals.ServeIdle]. It is no command for people.
const idleCommand = "__idle"

// idleProcess is its command line; nil if this program does not know where its
// own file is.
func (a *app) idleProcess() []string {
	if a.Executable == "" {
		return nil
	}
	return []string{a.Executable, idleCommand}
}

func (a *app) serveIdle(args []string) int {
	if err := vitals.ServeIdle(a.Stdin, a.Stdout, args); err != nil {
		fmt.Fprintln(a.Stderr, oneLine(err.Error()))
		return exitFailure
	}
	return exitOK
}
