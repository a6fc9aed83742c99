package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"sixnines/internal/spell"
)

// Commands returns the tree of commands, for what describes it: the manual.
func Commands(env Env) *cobra.Command { return (&app{Env: env}).root() }

// root returns the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sixnines",
		Short: "A laboratory for message-broker latency",
		Long: `Sixnines measures the latency of message brokers. It sends on a schedule that the
broker cannot slow down, times every message from the instant it was due, keeps the
whole distribution, and states with each result how far it can be trusted.`,
		Example: `  sixnines run                                        a NATS server, built in, 1,000/s for 10 s
  sixnines run kafka --nodes 3                        three brokers, started for the run
  sixnines run nats --url nats://host:4222 --rate 20k/s --size 1KiB
  sixnines run scenario.yaml --duration 60s --json
  sixnines report results/*.jsonl --format html --out report.html`,
		Args: unknownCommand,
		// The usage line shows the commands instead.
		DisableFlagsInUseLine: true,
		SilenceUsage:          true,
		SilenceErrors:         true,
	}
	var version bool
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if version {
			return a.sayVersion()
		}
		return cmd.Help()
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagFault)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return emptyFlag(cmd) }
	root.AddCommand(a.runCommand(), a.abCommand(), a.sweepCommand(), a.capacityCommand(), a.studyCommand(), a.chaosCommand(), a.compareCommand(), a.historyCommand(), a.reportCommand(), a.verifyCommand(), a.ninesCommand(), a.driversCommand(),
		a.brokerCommand(), a.fleetCommand(), a.agentCommand(), a.cleanCommand(), a.selftestCommand(), a.doctorCommand(), a.checkCommand(), a.schemaCommand(), a.versionCommand(), a.completionCommand())
	root.SetHelpCommand(helpCommand())
	return root
}

// unknownCommand refuses what is no command, naming the one that was meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	hint := "there are " + strings.Join(names, ", ")
	if near := spell.Nearest(args[0], names); near != "" {
		hint = "did you mean " + cmd.CommandPath() + " " + near + "? " + hint
	}
	return wrongUsage(hint, "unknown command %q for %q", args[0], cmd.CommandPath())
}

// helpCommand is cobra's, but for what it does with a topic that is not there.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			at, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range at.Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), prefix) {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil {
				return unknownCommand(cmd.Root(), args)
			}
			if len(rest) > 0 {
				return unknownCommand(at, rest)
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}
