package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/spell"
)

// stopOptions are the flags of fleet stop.
type stopOptions struct {
	fleetLogin
	now, discard bool
}

func (a *app) fleetStopCommand() *cobra.Command {
	var o stopOptions
	cmd := &cobra.Command{
		Use:   "stop RUN",
		Short: "End a run on a fleet",
		Long: `End a run on all of its agents: its window ends, and what is in flight is awaited. The
coordinator, if it is still there, writes the result as after Ctrl-C. What a run without a
coordinator recorded stays in the control plane for sixnines fleet attach.

--discard removes it from there. The agents then keep their own files.`,
		Example: `  sixnines fleet stop 20261121T140200Z-1f2e3d4c --fleet embedded
  sixnines fleet stop 20261121T140200Z-1f2e3d4c --discard`,
		Args: counted(1, 1, "one RUN; sixnines fleet list and fleet doctor show which there are"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wire.CheckRun(args[0]); err != nil {
				return wrongUsage("sixnines fleet list and sixnines fleet doctor show the runs", "%w", err)
			}
			return o.onFleet(cmd.Context(), &a.Env, "fleet stop", func(ctx context.Context, nc *wire.Conn) error { return a.stopRun(ctx, nc, args[0], o) })
		},
	}
	plane := sectionOf("Control plane", func(f *pflag.FlagSet) { o.flags(f, "fleet", "", fleetFlag) })
	what := sectionOf("What is done", func(f *pflag.FlagSet) {
		f.BoolVar(&o.now, "now", false, "do not wait for what is in flight")
		f.BoolVar(&o.discard, "discard", false, "at once, and remove from the control plane what the run recorded")
	})
	a.take(cmd, what, plane)
	return cmd
}

func (a *app) stopRun(ctx context.Context, nc *wire.Conn, run string, o stopOptions) error {
	_, err := control.Stream(ctx, nc, run)
	kept := err == nil
	if err != nil && !errors.Is(err, control.ErrNoRun) {
		return err
	}
	stop := &wire.Stop{Run: run, AtOnce: o.now || o.discard, Why: "sixnines fleet stop"}
	agents, err := coordinator.Stop(ctx, nc, a.Tool.Version, stop)
	if err != nil {
		return err
	}
	if !kept && len(agents) == 0 {
		return failed("sixnines fleet list and sixnines fleet doctor show the runs", fmt.Errorf("%w, and no agent: %s", control.ErrNoRun, run))
	}
	for _, s := range agents {
		if s.Err != nil {
			fmt.Fprintf(a.Stderr, "%s: %s\n", s.Hello.Name, oneLine(s.Err.Error()))
		}
	}
	if o.discard {
		return a.discardRun(ctx, nc, stop, len(agents))
	}
	fmt.Fprintf(a.Stderr, "run %s ends on %s\n", run, plural(len(agents), "agent"))
	if !kept {
		return nil
	}
	led, err := coordinator.Led(ctx, nc, a.Tool.Version, run)
	if err == nil && !led {
		fmt.Fprintf(a.Stderr, "its coordinator is gone: sixnines fleet attach %s collects what was recorded, --discard removes it\n", run)
	}
	return err
}

// discardPatience is how long agents may take to end a run that is discarded.
const discardPatience = 30 * time.Second

// discardRun removes what the control plane has of a run when no agent has it any more.
func (a *app) discardRun(ctx context.Context, nc *wire.Conn, stop *wire.Stop, agents int) error {
	patient, cancel := context.WithTimeoutCause(ctx, discardPatience, fmt.Errorf("agents still have run %s after %s", stop.Run, spell.Period(discardPatience)))
	defer cancel()
	for {
		// One that was measuring delivers now, and sets its records aside when it is asked again.
		still, err := coordinator.Stop(patient, nc, a.Tool.Version, stop)
		if err != nil {
			return failed("run the command again", errors.Join(context.Cause(patient), err))
		}
		if len(still) == 0 {
			break
		}
	}
	if err := control.RemoveStream(ctx, nc, stop.Run); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "run %s was ended on %s and removed from the control plane\n", stop.Run, plural(agents, "agent"))
	return nil
}
