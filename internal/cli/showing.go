package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/report"
)

// showing is how much of a result the terminal gets.
type showing struct {
	full bool
	show []string // names of [report.Parts]
}

// flags adds those that choose it.
func (o *showing) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.full, "full", false, "print everything known about a run, not only what fits on a screen")
	f.StringSliceVar(&o.show, "show", nil, "print `PARTS` after the first screen: "+strings.Join(partNames(), ", "))
}

// complete completes their values.
func (o *showing) complete(cmd *cobra.Command) {
	completeFlag(cmd, "show", oneOf(partNames()...))
}

func partNames() []string {
	return each(report.Parts(), func(p report.Part) string { return p.Name })
}

// check refuses unknown parts, and both flags if no table is printed; format is what is
// printed instead of a table; empty: a table is printed.
func (o *showing) check(format string) error {
	for i, name := range o.show {
		if o.show[i] = strings.TrimSpace(name); !slices.Contains(partNames(), o.show[i]) {
			return chooseOne("--show", o.show[i], partNames())
		}
	}
	switch {
	case format == "":
	case o.full:
		return wrongUsage("leave --full out", "--full is for the table, and %s has no table", format)
	case len(o.show) > 0:
		return wrongUsage("leave --show out", "--show is for the table, and %s has no table", format)
	}
	return nil
}

// options are those of a report with it.
func (o *showing) options(of report.Options) report.Options {
	of.Full, of.Show = o.full, o.show
	return of
}
