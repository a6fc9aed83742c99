package cli

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sixnines/internal/report"
	"sixnines/result"
	"sixnines/scenario"
)

//go:embed set.schema.json
var setSchema []byte

//go:embed sweep.schema.json
var sweepSchema []byte

//go:embed capacity.schema.json
var capacitySchema []byte

// published is a format that has a schema.
type published struct {
	name, about string
	schema      func() []byte
}

func schemas() []published {
	return []published{
		{"scenario", "scenario files (the default)", scenario.Schema},
		{"result", "the records of result files, one on each line", result.Schema},
		{"summary", "what run --json and report --json print, an object for each workload", report.SummarySchema},
		{"set", "what run --repeat --json prints", func() []byte { return setSchema }},
		{"comparison", "what compare --json prints, an object for each workload", report.ComparisonSchema},
		{"sweep", "what sweep --json prints", func() []byte { return sweepSchema }},
		{"capacity", "what capacity --json prints", func() []byte { return capacitySchema }},
	}
}

func (a *app) schemaCommand() *cobra.Command {
	var about strings.Builder
	var names []string
	for _, s := range schemas() {
		fmt.Fprintf(&about, "\n  %-12s%s", s.name, s.about)
		names = append(names, s.name)
	}
	return &cobra.Command{
		Use:   "schema [FORMAT]",
		Short: "Print the JSON Schema of scenarios and of what is written",
		Long: `Print a JSON Schema, draft 2020-12. FORMAT is one of
` + about.String() + `

An editor with YAML support checks and completes a scenario that begins with the line

  # yaml-language-server: $schema=sixnines.schema.json`,
		Example: `  sixnines schema > sixnines.schema.json
  sixnines schema summary > summary.schema.json`,
		Args:              counted(0, 1, "at most one FORMAT"),
		ValidArgsFunction: oneOf(names...),
		RunE: func(_ *cobra.Command, args []string) error {
			args = append(args, schemas()[0].name)
			for _, s := range schemas() {
				if s.name == args[0] {
					_, err := a.Stdout.Write(s.schema())
					return err
				}
			}
			return chooseOne("FORMAT", args[0], names)
		},
	}
}
