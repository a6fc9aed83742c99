package cli

import (
	"fmt"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"sixnines/internal/vitals"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine whether this machine is fit to measure",
		Long: `Examine whether this machine is fit to measure, in a third of a second, and say
what to do about each finding. Run it while nothing else does.

Exit codes: 0 fit, with or without warnings; 1 a check failed.`,
		Args: counted(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			checks := vitals.Checkup()
			fit := true
			for _, c := range checks {
				fit = fit && c.Status != vitals.StatusFail
			}
			if asJSON {
				if err := a.writeJSON(struct {
					Fit     bool           `json:"fit"`
					Checks  []vitals.Check `json:"checks"`
					Machine []vitals.Fact  `json:"machine"`
				}{fit, checks, vitals.Fingerprint()}); err != nil {
					return err
				}
			} else {
				a.printChecks(checks)
			}
			if !fit {
				return status(exitFailure)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with the machine's fingerprint")
	return cmd
}

func (a *app) printChecks(checks []vitals.Check) {
	columns, _ := a.terminal(a.Stdout)
	if columns < 40 {
		columns = 100
	}
	width, counts := 0, map[string]int{}
	for _, c := range checks {
		width = max(width, lipgloss.Width(c.Name))
		counts[c.Status]++
	}
	indent := 6 + width + 2
	for _, c := range checks {
		word := fmt.Sprintf("%-4s", c.Status)
		if a.colour(a.Stdout) {
			word = lipgloss.NewStyle().Foreground(statusColour(c.Status)).Render(word)
		}
		text := c.Found
		if c.Advice != "" {
			text += "\n→ " + c.Advice
		}
		if a.ascii() {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "→", "->"), "µ", "u")
		}
		rows := strings.Split(lipgloss.NewStyle().Width(max(30, columns-indent)).Render(text), "\n")
		fmt.Fprintf(a.Stdout, "%s  %-*s  %s\n", word, width, c.Name, strings.TrimRight(rows[0], " "))
		for _, row := range rows[1:] {
			fmt.Fprintf(a.Stdout, "%*s%s\n", indent, "", strings.TrimRight(row, " "))
		}
	}
	fmt.Fprintf(a.Stdout, "\n%s\n", conclusion(counts))
}

// conclusion sums the checks up.
func conclusion(counts map[string]int) string {
	switch {
	case counts[vitals.StatusFail] > 0:
		return fmt.Sprintf("Not fit to measure: %d of the checks failed.", counts[vitals.StatusFail])
	case counts[vitals.StatusWarn] > 0:
		return fmt.Sprintf("Fit to measure, with %s that will show in the figures.", plural(counts[vitals.StatusWarn], "warning"))
	}
	return "Fit to measure."
}

// statusColour is the colour of a check's word.
func statusColour(s string) color.Color {
	switch s {
	case vitals.StatusOK:
		return lipgloss.Green
	case vitals.StatusWarn:
		return lipgloss.Yellow
	case vitals.StatusFail:
		return lipgloss.Red
	}
	return lipgloss.Cyan
}
