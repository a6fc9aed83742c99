package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"sixnines/driver"
	"sixnines/internal/chaos"
	"sixnines/scenario"
)

// chaosCommand is about timelines that run --chaos draws.
func (a *app) chaosCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "chaos",
		Short: "Find what of a drawn timeline loses messages",
		Long: `sixnines run --chaos SEED draws a timeline of actions, such as nodes of the broker
that are stalled or killed. It is part of the result's scenario. chaos shrink finds
the shortest part of it that still loses messages.`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.shrinkCommand())
	return cmd
}

// drawActions gives a scenario the timeline that --chaos draws with the seed: of actions that its run can
// have.
func drawActions(s *scenario.Scenario, e driver.Entry, seed uint64) error {
	switch {
	case len(s.Actions) > 0:
		return placed(wrongUsage("leave --chaos out, or the actions", "--chaos draws the actions, and the scenario has some"), s, "actions")
	case s.Workload.Messages > 0 || slices.ContainsFunc(s.Workloads, func(w scenario.NamedWorkload) bool { return w.Messages > 0 }):
		return wrongUsage("give --duration instead", "--chaos needs a window of a known length, and a number of messages ends this one")
	case !s.Phases.Until.IsZero():
		return wrongUsage("give --duration, and leave --until out", "--chaos needs a window of a known length, and this one goes on until a percentile is known")
	}
	with := func(all []scenario.Action) *scenario.Scenario {
		c := *s
		c.Actions = all
		return &c
	}
	p, _, err := managedProduct(s, e)
	if err != nil {
		return err
	}
	all := chaos.Draw(seed, chaos.Bounds{Window: s.Phases.Duration, Nodes: max(1, s.Target.Nodes), Starting: p.Starts, Possible: func(all []scenario.Action) bool {
		c := with(all)
		if c.Validate() != nil {
			return false
		}
		_, err := planOfAll(c, e)
		return err == nil
	}})
	if all == nil {
		return wrongUsage("make it longer, such as --duration 30s; without --url the broker is started for the run, and can be stalled and killed",
			"--chaos finds no action that this run can have in a window of %s", seconds(s.Phases.Duration))
	}
	s.Actions = all
	s.Normalise() // what actions have as defaults: that what the broker keeps is read back
	return nil
}
