package cli

import (
	"context"
	"fmt"

	"sixnines/internal/engine"
	"sixnines/internal/probe"
	"sixnines/internal/vitals"
	"sixnines/result"
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
	_, err := engine.Run(ctx, engine.Config{Scenario: s, Entry: e, Tool: a.Tool, Quiet: &engine.Quiet{
		Begun: func() { tell(probe.Report{}) },
		Interval: func(v result.Interval) {
			cpu, _ := vitals.ProcessorTime()
			r := probe.Report{From: v.Start, To: v.End, CPU: cpu, Sent: v.Counters.Sent, Resolved: v.Counters.Received,
				Metrics: map[result.Metric]*result.MetricInterval{}}
			if s.Workload.Pattern == scenario.Publish {
				r.Resolved = v.Counters.Acked
			}
			for m, x := range v.Metrics {
				if !m.IsResponse() && !m.OfGenerator() {
					r.Metrics[m] = x
				}
			}
			tell(r)
		},
	}})
	return err
}
