package cli

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sixnines/internal/report"
	"sixnines/result"
	"sixnines/scenario"
)

//go:embed *.schema.json
var schemaFiles embed.FS

// published is a format that has a schema.
type published struct {
	name, about string
	schema      func() []byte
}

func schemas() []published {
	ours := func(name, about string) published {
		return published{name, about, func() []byte {
			text, err := schemaFiles.ReadFile(name + ".schema.json")
			if err != nil {
				panic(err) // it is embedded
			}
			return text
		}}
	}
	return []published{
		{"scenario", "scenario files (the default)", scenario.Schema},
		{"result", "the records of result files, one per line", result.Schema},
		{"summary", "what run --json and report --json print, an object for each workload", report.SummarySchema},
		ours("set", "what run --repeat --json prints"),
		{"comparison", "what compare --json prints, an object for each workload", report.ComparisonSchema},
		ours("sweep", "what sweep --json prints"),
		ours("capacity", "what capacity --json prints"),
		ours("shrink", "what chaos shrink --json prints"),
		ours("check", "what check --json prints"),
		ours("clean", "what clean --json prints"),
		ours("doctor", "what doctor --json prints"),
		ours("brokers", "what broker list --json prints"),
		ours("fleet", "what fleet list --json prints"),
		ours("fleetdoctor", "what fleet doctor --json prints"),
		ours("version", "what version --json prints"),
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
		Short: "Print the JSON Schema of scenarios and of outputs",
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
