package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/vitals"
)

func (a *app) checkCommand() *cobra.Command {
	var (
		flags  overrides
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "check [BROKER|SCENARIO.yaml]",
		Short: "Try what a run needs of a broker, and say what is missing",
		Long: `Try what a run needs of a broker, one thing after the other, and say in the broker's words
what it refuses and what to do about that: connect and log in, make a topic, subscribe,
publish, receive, remove the topic, and the same in a group. Give the address, the login and
the prefix as for run. Each thing may take 10 seconds.

With --topic nothing is published to the operator's topics and nothing is taken from them:
what is not tried for that is listed.

Exit codes: 0 nothing is refused; 1 something is, or the check was interrupted; 2 wrong usage.`,
		Example: `  sixnines check redis --url rediss://broker.example:6379 --tls-ca ca.pem --option user=ada --option password=@word --prefix bench.
  sixnines check kafka --url broker.example:9092 --topic orders --group audit
  sixnines check redis $(sixnines broker up redis --secured) --json | jq '.checks[] | select(.status == "fail")'`,
		Args: counted(0, 1, "a BROKER or a SCENARIO.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, e, err := a.load(args, flags.list)
			if err != nil {
				return err
			}
			if s.Target.URL == "" && !e.InProcess && !e.Capabilities.Brokerless {
				return wrongUsage("give the broker's address with --url; a broker that sixnines starts lets everybody do everything", "there is no broker to check")
			}
			ctx, release := a.interruptible(cmd.Context(), nil)
			defer release()
			found := tryBroker(ctx, s, e)
			if asJSON {
				err = a.writeJSON(found)
			} else {
				a.printChecks(found.conclusion(), found.shown())
			}
			if err == nil && !found.Possible {
				return status(exitFailure)
			}
			return err
		},
	}
	output := sectionOf("Output", func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "print one JSON object") })
	a.take(cmd, scenarioFlags(&flags)[0], output)
	return cmd
}

// checkObject is what check finds, as JSON.
type checkObject struct {
	Possible    bool          `json:"possible"` // nothing was refused, and all was tried that can be
	Interrupted bool          `json:"interrupted"`
	Checks      []brokerCheck `json:"checks"`
	Untried     []untried     `json:"untried"` // what would publish to topics of the operator's, or take from them
}

// brokerCheck is one thing that was tried.
type brokerCheck struct {
	Step string `json:"step"` // connect, find, make, subscribe, attach, publish, receive or remove
	vitals.Check
	Class string `json:"class"` // of the error, as in results; empty: no error
}

// untried is a step that was not tried.
type untried struct {
	Step string `json:"step"` // publish or receive
	Of   string `json:"of"`   // the topic or group at the broker
}

// Steps of checks.
const (
	stepConnect   = "connect"
	stepFind      = "find"
	stepMake      = "make"
	stepSubscribe = "subscribe"
	stepAttach    = "attach"
	stepPublish   = "publish"
	stepReceive   = "receive"
	stepRemove    = "remove"
)

// conclusion says what the checks say in all.
func (o checkObject) conclusion() string {
	refused := 0
	for _, c := range o.Checks {
		if c.Status == vitals.StatusFail {
			refused++
		}
	}
	switch {
	case o.Interrupted:
		return "Interrupted: not all was tried."
	case refused > 0:
		return fmt.Sprintf("Runs are not possible as asked: %s refused.", plural(refused, "thing"))
	case len(o.Untried) > 0:
		return "What was tried is there. Not tried: " + strings.Join(each(o.Untried, untried.String), ", ") + "."
	}
	return "All that runs need is there."
}

// String returns the step as users read it.
func (u untried) String() string {
	if u.Step == stepReceive {
		return "receive from " + u.Of
	}
	return u.Step + " to " + u.Of
}

// shown are the checks as they are printed.
func (o checkObject) shown() []vitals.Check {
	return each(o.Checks, func(c brokerCheck) vitals.Check { return c.Check })
}
