package cli

import (
	"context"
	"fmt"

	"sixnines/internal/engine"
	"sixnines/internal/probe"
	"sixnines/scenario"
)

// probeProcess is the command line that makes this program the probe beside a
// load; nil if it does not know where its own file is.
func (a *app) probeProcess() []string {
	if a.Executable == "" {
		return nil
	}
	return []string{a.Executable, probe.Command}
}

func (a *app) serveProbe() int {
	if err := probe.Serve(a.Stdin, a.Stdout, a.measureBeside); err != nil {
		fmt.Fprintln(a.Stderr, oneLine(err.Error()))
		return exitFailure
	}
	return exitOK
}

// measureBeside is the run of a probe.
func (a *app) measureBeside(ctx context.Context, s *scenario.Scenario, tell func(probe.Report)) error {
	e, ok := a.Drivers.Lookup(s.Target.Driver)
	if !ok {
		return a.unknownDriver(s.Target.Driver)
	}
	return engine.RunProbe(ctx, s, e, tell)
}
