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
		Short: "Find which actions of a random timeline lose messages",
		Long: `sixnines run --chaos SEED draws a random timeline of actions, such as stalling or
killing nodes of the broker. The timeline is stored in the result's scenario. chaos
shrink finds the shortest part of it that still loses messages.`,
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
		return placed(wrongUsage("leave out --chaos or the actions", "--chaos draws the actions, but the scenario already has some"), s, "actions")
	case s.Workload.Messages > 0 || slices.ContainsFunc(s.Workloads, func(w scenario.NamedWorkload) bool { return w.Messages > 0 }):
		return wrongUsage("give --duration instead", "--chaos needs a window of known length, but this one ends after a number of messages")
	case !s.Phases.Until.IsZero():
		return wrongUsage("give --duration, and leave --until out", "--chaos needs a window of known length, but this one lasts until a percentile is known")
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
		return wrongUsage("lengthen it, such as --duration 30s, or leave --url out: a broker that is started for the run can be stalled and killed",
			"--chaos finds no action that is possible in this run's window of %s", seconds(s.Phases.Duration))
	}
	s.Actions = all
	s.Normalise() // what actions have as defaults: that what the broker keeps is read back
	return nil
}
