package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// shells are those for which completion scripts can be made.
func shells() []string { return []string{"bash", "fish", "powershell", "zsh"} }

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, fish, powershell or zsh",
		Long: `Print a completion script for a shell on stdout. It completes commands, flags,
drivers and their options, and the values of flags that have a fixed set.`,
		Example: `  source <(sixnines completion bash)                      this shell only
  sixnines completion bash > /etc/bash_completion.d/sixnines
  sixnines completion zsh > "${fpath[1]}/_sixnines"
  sixnines completion fish > ~/.config/fish/completions/sixnines.fish`,
		ValidArgs: shells(),
		Args:      counted(1, 1, "one SHELL: "+strings.Join(shells(), ", ")),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Stdout, true)
			case "fish":
				return root.GenFishCompletion(a.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Stdout)
			case "zsh":
				return root.GenZshCompletion(a.Stdout)
			}
			return wrongUsage("there are "+strings.Join(shells(), ", "), "no completion for shell %q", args[0])
		},
	}
}

// oneOf completes a flag or argument with a fixed set of values.
func oneOf[S ~string](values ...S) cobra.CompletionFunc {
	return cobra.FixedCompletions(each(values, func(s S) string { return string(s) }), cobra.ShellCompDirectiveNoFileComp)
}

// completeFlag installs the completion of a flag's value.
func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // no such flag, or twice: a mistake in the program
	}
}

// resultFiles completes the names of result files.
func resultFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"jsonl", "gz"}, cobra.ShellCompDirectiveFilterFileExt
}
