package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"sixnines/internal/secret"
	"sixnines/internal/selftest"
	"sixnines/internal/vitals"
	"sixnines/scenario"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON, clean, exec bool
	var address string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether this machine is fit to measure",
		Long: `Check within a third of a second whether this machine is fit to measure, with advice on
each finding. Run it while nothing else runs. A property that cannot be determined is
"unknown", with the reason. Nothing is changed without --clean.

What a killed run has left on the machine, such as stopped processes, mounts or rules of
the network, is listed from the journal that was written before each act. Directories of its
brokers are known by their names, where temporary files are ($TMPDIR). --clean undoes it, and
so does the next run at its start. Nothing is touched that Sixnines has not made.
Commands that undo actions of the kind exec are listed, and run only with --clean --exec.

With --url the command also checks whether that broker shares this machine: it resolves
the name and makes no connection.

Exit codes: 0 fit, with or without warnings; 1 a check failed.`,
		Example: `  sixnines doctor
  sixnines doctor --url nats://broker.example:4222
  sixnines doctor --clean
  sixnines doctor --json | jq '.checks[] | select(.status != "ok")'`,
		Args: counted(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if exec && !clean {
				return wrongUsage("write --clean --exec", "--exec is about what --clean does")
			}
			var secrets []string
			if address != "" { // it may contain variables, as in a scenario
				s, at := &scenario.Scenario{}, scenario.Override{Key: "target.url", Value: address, Flag: "--url"}
				if err := s.ApplyIn(a.lookup, at); err != nil {
					return &fault{exitUsage, err, "give the address in the form that run takes"}
				}
				address, secrets = s.Target.URL, s.Secrets(nil)
			}
			hosts, err := vitals.BrokerHosts(address)
			if err != nil {
				return wrongUsage("give the address in the form that run takes, such as --url nats://broker.example:4222", "--url: %v", err)
			}
			checks := append(vitals.Checkup(), a.checkGenerator(time.Now()), a.checkLeft(cmd.Context(), clean, exec))
			if len(hosts) > 0 {
				ctx, cancel := context.WithTimeout(cmd.Context(), resolveLimit)
				place := vitals.CheckBroker(ctx, hosts)
				cancel()
				place.Found = secret.Conceal(place.Found, secrets) // a name may be the beginning of a password
				checks = append(checks, place)
			}
			fit := true
			for _, c := range checks {
				fit = fit && c.Status != vitals.StatusFail
			}
			if asJSON {
				if err := a.writeJSON(doctorObject{fit, checks, vitals.Fingerprint()}); err != nil {
					return err
				}
			} else {
				a.printChecks(conclusion(checks), checks)
			}
			if !fit {
				return status(exitFailure)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&address, "url", "", "address of the broker to be measured, to see whether it is on this machine")
	cmd.Flags().BoolVar(&clean, "clean", false, "clean up after killed runs")
	cmd.Flags().BoolVar(&exec, "exec", false, "with --clean: run the commands, too, that undo actions of killed runs of the kind exec")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with the machine's fingerprint")
	return cmd
}

// doctorObject is what doctor finds, as JSON.
type doctorObject struct {
	Fit     bool           `json:"fit"` // no check failed
	Checks  []vitals.Check `json:"checks"`
	Machine []vitals.Fact  `json:"machine"`
}

// checkGenerator reports the highest rate at which this machine's generator was in time,
// as last measured.
func (env *Env) checkGenerator(now time.Time) vitals.Check {
	const how = "measure it with sixnines selftest --only limit, while nothing else runs"
	c := vitals.Check{Name: "generator", Status: vitals.StatusNote, Found: vitals.Unknown + ": not measured here, or more than 30 days ago", Advice: how}
	h, err := env.home()
	if err != nil {
		return c
	}
	k, err := selftest.LimitStore{Path: h.Path(selftest.LimitFile)}.Find(selftest.ThisMachine(), now)
	switch {
	case err != nil:
		c.Found = vitals.Unknown + ": " + oneLine(err.Error())
		return c
	case k == nil:
		return c
	}
	limits := each(k.Limits, selftest.Limit.String)
	c = vitals.Check{Name: c.Name, Status: vitals.StatusOK, Found: fmt.Sprintf("the generator on this machine keeps up with %s, measured %s", strings.Join(limits, ", "), k.At.Format("2006-01-02 15:04"))}
	if k.Disturbed != "" {
		c.Status, c.Advice = vitals.StatusNote, "measured while "+k.Disturbed+": "+how
	}
	return c
}

// resolveLimit is how long finding a broker's addresses may take.
const resolveLimit = 5 * time.Second

// printChecks writes what checks say in all, and each of them.
func (env *Env) printChecks(conclusion string, checks []vitals.Check) {
	env.writeChecks(env.Stdout, conclusion, checks, func(status string) string {
		return env.coloured(status, 4, colourOf(status, vitals.StatusOK, vitals.StatusWarn, vitals.StatusFail))
	})
}

// writeChecks writes the same to w; word writes a status.
func (env *Env) writeChecks(w io.Writer, conclusion string, checks []vitals.Check, word func(status string) string) {
	columns := env.columns(40)
	width := 0
	for _, c := range checks {
		width = max(width, lipgloss.Width(c.Name))
	}
	fmt.Fprintf(w, "%s\n\n", conclusion)
	indent := 6 + width + 2
	for _, c := range checks {
		text := c.Found
		if c.Advice != "" {
			text += "\n→ " + c.Advice
		}
		fmt.Fprintf(w, "%s  %-*s  %s", word(c.Status), width, c.Name, indented(env.plainText(text), indent, max(30, columns-indent))[indent:])
	}
}

// conclusion sums the checks of a machine up.
func conclusion(checks []vitals.Check) string {
	counts := map[string]int{}
	for _, c := range checks {
		counts[c.Status]++
	}
	switch {
	case counts[vitals.StatusFail] > 0:
		return fmt.Sprintf("Not fit to measure: %s failed.", plural(counts[vitals.StatusFail], "check"))
	case counts[vitals.StatusWarn] > 0:
		return fmt.Sprintf("Fit to measure, with %s that will affect the figures.", plural(counts[vitals.StatusWarn], "warning"))
	}
	return "Fit to measure."
}
