package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/fleetrun"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/fleet/wire"
)

// fleetNote is what a coordinator writes down for another one, which makes the same result if this one dies.
type fleetNote struct {
	Name  string      `json:"name"` // of the result
	Whole merge.Whole `json:"whole"`
}

// attachOptions are the flags of fleet attach.
type attachOptions struct {
	fleetLogin
	runOptions
}

func (a *app) fleetAttachCommand() *cobra.Command {
	var o attachOptions
	cmd := &cobra.Command{
		Use:   "attach RUN",
		Short: "Finish a run whose coordinator died",
		Long: `Finish a run whose coordinator died: collect what its agents have recorded, wait for those
that go on, and write the result that the coordinator would have written. Nothing of the
run is then left in the control plane and on the agents. Ctrl-C ends the run's window
early.

A run that was started by sixnines run is finished. A series ends with it: --resume goes
on with the others. A broker that the coordinator had started ended with it.`,
		Example: `  sixnines fleet doctor
  sixnines fleet attach nats-20261121T140200Z-1f2e3d4c-0a1b2c3d`,
		Args: counted(1, 1, "one RUN; sixnines fleet doctor shows which have no coordinator"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wire.CheckRun(args[0]); err != nil {
				return wrongUsage("sixnines fleet doctor shows the runs", "%w", err)
			}
			if err := o.showing.check(map[bool]string{true: "--json"}[o.json]); err != nil {
				return err
			}
			return a.attach(cmd.Context(), args[0], o)
		},
	}
	plane := sectionOf("Control plane", func(f *pflag.FlagSet) { o.fleetLogin.flags(f, "fleet", "", fleetFlag) })
	output := sectionOf("Output", func(f *pflag.FlagSet) {
		o.showing.flags(f)
		o.passing.flag(f)
		jsonFlag(f, &o.json, "the summary as one JSON object for each workload")
		f.StringVar(&o.out, "out", "results", "`DIR` for the result and its report")
		f.BoolVar(&o.quiet, "quiet", false, "no progress and no notes on stderr, only errors")
	})
	a.take(cmd, plane, output)
	o.showing.complete(cmd)
	return cmd
}

// attach finishes a run on a fleet.
func (a *app) attach(ctx context.Context, run string, o attachOptions) error {
	if err := o.named(&a.Env); err != nil {
		return err
	}
	var show display = silence{}
	if !o.quiet {
		show = &lines{to: a.Stderr, ascii: a.ascii()}
	}
	defer show.close()
	stops := a.interrupts(ctx, show.say)
	defer stops.stop()
	nc, err := o.connect(stops.early, &a.Env, "fleet attach", controlPatience, nil)
	if err != nil {
		return err
	}
	defer nc.Close()
	var (
		c    *fleetrun.Collector
		note fleetNote
	)
	made, err := coordinator.Attach(stops.early, coordinator.Attachment{Conn: nc, Version: a.Tool.Version, Run: run, Abort: stops.abort, Say: show.say,
		Collector: func(text []byte) (coordinator.Collector, error) {
			if err := json.Unmarshal(text, &note); err != nil {
				return nil, fmt.Errorf("read what run %s is: %w", run, err)
			}
			note.Name = notInName().ReplaceAllString(note.Name, "-") // a file here, whoever wrote it
			if err := a.makeDir(o.out); err != nil {
				return nil, err
			}
			stops.measuring.Store(true)
			c = &fleetrun.Collector{File: a.path(beside(o.out, note.Name, ".jsonl")), Whole: note.Whole, Observe: show.observe}
			return c, nil
		}})
	if c != nil {
		defer c.Close()
	}
	if err != nil {
		return o.fault(attachFault(err))
	}
	show.close()
	file := beside(o.out, note.Name, ".jsonl")
	c.Result().SetPath(file)
	broke := unfinished(stops, made, file)
	return cmp.Or(broke, a.present(c.Result(), o.runOptions, note.Name, file, broke))
}

// attachFault says what to do about a run that cannot be finished.
func attachFault(err error) error {
	switch {
	case errors.Is(err, control.ErrNoRun):
		return failed("sixnines fleet doctor shows the runs that the control plane has", err)
	case errors.Is(err, coordinator.ErrLed):
		return failed("wait for it; sixnines fleet stop RUN ends the run's window", err)
	case errors.Is(err, coordinator.ErrNotStarted):
		return failed("sixnines fleet stop RUN --discard removes what is left of it", err)
	}
	return err
}
