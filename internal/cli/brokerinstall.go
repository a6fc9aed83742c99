package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sixnines/internal/brokers"
	"sixnines/internal/filelock"
)

// installOptions are the flags of broker install.
type installOptions struct {
	all, yes, dryRun, json bool
}

// installation is what became of a product, in JSON.
type installation struct {
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"`
	Path    string   `json:"path,omitempty"`
	Origin  string   `json:"origin,omitempty"`
	State   string   `json:"state"`            // "here", "installed", "to install" or "failed"
	Script  []string `json:"script,omitempty"` // the steps, as lines for a shell
	Error   string   `json:"error,omitempty"`
}

func (a *app) brokerInstallCommand() *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "install NAME… | --all",
		Short: "Install brokers",
		Long: `Install brokers. The command first shows what it will do, and on a terminal asks for
confirmation.

Installed brokers are left as they are. Debian packages are installed as root, or with
sudo if that needs no password, and their services are not started. Everything else
goes below SIXNINES_HOME, and gets its final name only when it is complete. If a step
has to be done by hand, the command prints it and exits with 1.

kafka, nats, nats-streaming, nsq and pulsar can also be installed in other versions,
side by side: NAME@VERSION with the full version.`,
		Example: `  sixnines broker install kafka rabbitmq
  sixnines broker install kafka@3.9.1 nats@2.10.29
  sixnines broker install --all --yes
  sixnines broker install --all --dry-run`,
		ValidArgsFunction: completeProducts,
		RunE: func(cmd *cobra.Command, args []string) error {
			products, err := chosen(cmd, args, o.all)
			if err != nil {
				return err
			}
			return a.install(cmd.Context(), products, o)
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "all brokers that sixnines knows")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only show what would be done")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON array of what is installed afterwards")
	return cmd
}

// chosen returns the products that arguments or --all name.
func chosen(cmd *cobra.Command, args []string, all bool) ([]brokers.Product, error) {
	switch {
	case all && len(args) > 0:
		return nil, wrongUsage("leave one of the two out", "%s takes names or --all, not both", cmd.CommandPath())
	case !all && len(args) == 0:
		return nil, wrongUsage("there are "+strings.Join(productNames(), ", ")+"; or --all", "%s needs the name of a broker", cmd.CommandPath())
	case all:
		return brokers.Products(), nil
	}
	var products []brokers.Product
	seen := map[string]bool{}
	for _, arg := range args {
		p, err := product(arg)
		if err != nil {
			return nil, err
		}
		if !seen[arg] {
			products = append(products, p)
		}
		seen[arg] = true
	}
	return products, nil
}

// job is the work to do for a product.
type job struct {
	product brokers.Product
	steps   []brokers.Step
}

func (a *app) install(ctx context.Context, products []brokers.Product, o installOptions) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	report := make(map[string]*installation, len(products))
	var jobs []job
	var failures []error
	for _, p := range products {
		r := &installation{Name: p.Name}
		report[p.Name] = r
		in, err := p.Find(ctx, h)
		switch {
		case err == nil:
			r.here("here", in)
			fmt.Fprintf(a.Stderr, "%s: already here: %s\n", p.Name, r)
			continue
		case !errors.Is(err, brokers.ErrNotInstalled):
			failures = append(failures, r.failed(err))
			continue
		}
		steps, err := p.Plan(ctx, h)
		if err != nil {
			failures = append(failures, r.failed(err))
			continue
		}
		r.State = "to install"
		r.Script = brokers.Script(steps)
		jobs = append(jobs, job{p, steps})
	}
	if len(jobs) > 0 {
		a.showJobs(jobs, o)
		if !o.dryRun {
			more, err := a.runJobs(ctx, h, jobs, report, o)
			if err != nil {
				return err
			}
			failures = append(failures, more...)
		}
	}
	if o.json {
		if err := a.writeJSON(each(products, func(p brokers.Product) *installation { return report[p.Name] })); err != nil {
			return err
		}
	}
	return installFault(failures, slices.ContainsFunc(products, func(p brokers.Product) bool {
		return report[p.Name].State == "failed" && strings.Contains(p.Name, "@")
	}))
}

// here notes where the product is.
func (r *installation) here(state string, in brokers.Installation) {
	r.State, r.Version, r.Path, r.Origin, r.Script = state, in.Version, in.Path, in.Origin, nil
}

func (r *installation) failed(err error) error {
	r.State, r.Error = "failed", oneLine(err.Error())
	return err
}

// String says where the product is.
func (r *installation) String() string {
	return strings.TrimSpace(r.Version+" "+r.Path) + " (" + r.Origin + ")"
}

// showJobs prints the work to do as a shell script. In a dry run the script is the
// result, so it goes to stdout.
func (env *Env) showJobs(jobs []job, o installOptions) {
	to := env.Stderr
	if o.dryRun && !o.json {
		to = env.Stdout
	}
	for _, j := range jobs {
		fmt.Fprintf(to, "# commands that install %s:\n", j.product.Name)
		for _, line := range brokers.Script(j.steps) {
			fmt.Fprintln(to, line)
		}
	}
}

// runJobs installs products. A failure of one product does not prevent the others;
// err is an error that prevents all of them.
func (env *Env) runJobs(ctx context.Context, h brokers.Home, jobs []job, report map[string]*installation, o installOptions) (failures []error, err error) {
	if !o.yes && env.interactive() {
		fmt.Fprintf(env.Stderr, "Install %s? [y/N] ", plural(len(jobs), "broker"))
		answer, _ := bufio.NewReader(env.Stdin).ReadString('\n') // the end of the input means no
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return nil, failed("answer y, or use --yes", errors.New("nothing was installed"))
		}
	}
	ctx, release := env.interruptible(ctx, nil)
	defer release()
	installer, err := brokers.NewInstaller(h, env.Stderr)
	if err != nil {
		return nil, brokerFault(err, jobs[0].product, byHome)
	}
	defer installer.Close()
	for _, j := range jobs {
		r := report[j.product.Name]
		in, err := installer.Install(ctx, j.product, j.steps, func(s brokers.Step) {
			fmt.Fprintf(env.Stderr, "%s: %s\n", j.product.Name, s.Doc)
		})
		if err != nil {
			failures = append(failures, r.failed(err))
			if errors.Is(err, brokers.ErrNeedsPerson) {
				fmt.Fprintf(env.Stderr, "# %s cannot be installed automatically; by hand:\n", j.product.Name)
				for _, line := range brokers.Script(j.steps) {
					fmt.Fprintln(env.Stderr, line)
				}
			}
			if ctx.Err() != nil {
				break
			}
			continue
		}
		r.here("installed", in)
		fmt.Fprintf(env.Stderr, "%s: installed: %s\n", j.product.Name, r)
	}
	return failures, nil
}

// installFault is the error of an installation in which something failed; versioned: such as
// kafka@9.9.9.
func installFault(failures []error, versioned bool) error {
	if len(failures) == 0 {
		return nil
	}
	err := errors.Join(failures...)
	switch {
	case errors.Is(err, brokers.ErrNeedsPerson):
		return failed("run the commands above as an administrator, or put the broker on PATH in another way", err)
	case errors.Is(err, filelock.ErrBusy):
		return failed("wait until the other command has ended", err)
	case errors.Is(err, errEnded):
		return failed("what has been installed is kept; run the same command again for the rest", err)
	}
	if versioned {
		return failed("what has been installed is kept; check that this version exists, fix what the message names, and run the same command again", err)
	}
	return failed("what has been installed is kept; fix what the message names and run the same command again", err)
}
