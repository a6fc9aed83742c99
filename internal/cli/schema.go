package cli

import (
	"github.com/spf13/cobra"

	"sixnines/scenario"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of scenario files, for editors",
		Long: `Print the JSON Schema of scenario files. An editor with YAML support checks and
completes a scenario that begins with the line

  # yaml-language-server: $schema=sixnines.schema.json`,
		Example: "  sixnines schema > sixnines.schema.json",
		Args:    counted(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Stdout.Write(scenario.Schema())
			return err
		},
	}
}
