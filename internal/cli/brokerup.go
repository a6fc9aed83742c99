package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/spell"
	"sixnines/scenario"
)

// upOptions are the flags of broker up.
type upOptions struct {
	nodes, port int
	dir         string
	settings    overrides
	secured     bool
	json        bool
}

func (a *app) brokerUpCommand() *cobra.Command {
	var o upOptions
	cmd := &cobra.Command{
		Use:   "up NAME",
		Short: "Start a broker that keeps running",
		Long: `Start a broker that keeps running after this command has ended, and print its address
when it answers. It listens on loopback only, without login or encryption unless the
settings enable them. Its data are removed when it is stopped.

With --secured it has a certificate from an authority of its own, and an account that may
do what drivers need under the prefix bench and nothing else, as sixnines drivers show
NAME --permissions lists it. Instead of the address the flags are printed with which a
run uses it. Only this user can read the files with the password and the key; they are
removed with the data.

If the broker already runs with the same flags, the same is printed and the exit code
is 0.`,
		Example: `  sixnines broker up redis
  sixnines broker up redis --port 6400 --set appendonly=yes --set appendfsync=always
  sixnines broker up kafka --nodes 3
  sixnines run kafka --url $(sixnines broker up kafka)
  sixnines run redis $(sixnines broker up redis --secured)`,
		Args:              counted(1, 1, "one NAME of "+strings.Join(productNames(), ", ")),
		ValidArgsFunction: firstArgument(completeProducts),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := product(args[0])
			if err != nil {
				return err
			}
			return a.up(cmd.Context(), p, o)
		},
	}
	cmd.Flags().IntVar(&o.nodes, "nodes", 1, "`N` nodes")
	cmd.Flags().Var(&pairs{to: &o.settings, prefix: "target.settings.", flag: "--set"}, "set", "a line of the broker's own configuration, repeatable")
	cmd.Flags().IntVar(&o.port, "port", 0, "`PORT` of the first node; default: a free port")
	cmd.Flags().StringVar(&o.dir, "dir", "", "`DIR` for configuration, data and logs; it must be absent or empty; default: one below SIXNINES_HOME")
	cmd.Flags().BoolVar(&o.secured, "secured", false, "encrypt, and let in only an account with the rights that drivers need")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return cmd
}

// firstArgument completes the first argument only.
func firstArgument(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, prefix)
	}
}

func (a *app) up(ctx context.Context, p brokers.Product, o upOptions) error {
	if err := checkNodes(p, o.nodes); err != nil {
		return err
	}
	switch {
	case o.port < 0 || o.port > 65535:
		return wrongUsage("a port is 1 to 65535", "--port cannot be %d", o.port)
	}
	h, err := a.home()
	if err != nil {
		return err
	}
	asked := &scenario.Scenario{}
	if err := asked.ApplyIn(a.lookup, o.settings.list...); err != nil {
		return &fault{exitUsage, err, "write --set KEY=VALUE; write a password as --set KEY=env:NAME or --set KEY=@FILE"}
	}
	a.noteExposed(o.settings.list, driver.Entry{})
	options := brokers.Options{Home: h, Nodes: o.nodes, Port: o.port, Settings: asked.Target.Settings}
	place := byHome
	if o.secured {
		options.Secured = grants(p, a.Drivers)
	}
	if o.dir != "" {
		options.Dir, place = a.path(o.dir), byDir
	}
	ctx, release := a.interruptible(ctx, nil)
	defer release()
	ctx, cancel := context.WithTimeoutCause(ctx, brokerStart, fmt.Errorf("it took longer than %s: %w", spell.Period(brokerStart), context.DeadlineExceeded))
	defer cancel()
	s, err := brokers.Up(ctx, p, options)
	switch {
	case errors.Is(err, brokers.ErrRunning) && s.Condition() == brokers.Running && s.Same(options):
		fmt.Fprintf(a.Stderr, "%s has been running since %s\n", p.Name, s.Started.Local().Format("2006-01-02 15:04:05"))
	case errors.Is(err, brokers.ErrRunning) && s.Condition() == brokers.Elsewhere:
		return failed("stop it there, or set "+brokers.HomeVariable+" to a directory that only this machine uses", fmt.Errorf("%w, on %s", err, s.Host))
	case errors.Is(err, brokers.ErrRunning) && s.Condition() == brokers.Running:
		return failed("sixnines broker down "+p.Name+" stops it; give the same --nodes, --port, --dir, --secured and --set to use it as it is",
			fmt.Errorf("%s already runs at %s with different settings", p.Name, s.URL))
	case errors.Is(err, brokers.ErrRunning):
		return failed("sixnines broker down "+p.Name+" removes its remains", err)
	case err != nil:
		return brokerFault(conceal(err, asked, driver.Entry{}), p, place)
	default:
		fmt.Fprintf(a.Stderr, "%s %s (%s), %s, data in %s\n", s.Product, s.Version, s.Origin, plural(s.Asked.Nodes, "node"), s.Dir)
	}
	if o.json {
		return a.writeJSON(rowOf(p, brokers.Installation{Version: s.Version, Origin: s.Origin}, nil, s))
	}
	fmt.Fprintf(a.Stderr, "stop it with: sixnines broker down %s\n", p.Name)
	if s.Access != nil {
		return a.printAccess(p, s)
	}
	_, err = fmt.Fprintln(a.Stdout, s.URL)
	for _, driver := range slices.Sorted(maps.Keys(s.URLs)) {
		if s.URLs[driver] != s.URL {
			fmt.Fprintf(a.Stderr, "for driver %s: %s\n", driver, s.URLs[driver])
		}
	}
	return err
}
