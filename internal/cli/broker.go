package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"sixnines/internal/brokers"
	"sixnines/internal/filelock"
)

func (a *app) brokerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "broker",
		Short: "Install, start and stop brokers on this machine",
		Long: `Install, start and stop brokers on this machine.

A run without --url starts the broker it needs and stops it afterwards. These commands
install brokers, and start brokers that keep running between runs. A broker that is on
PATH, or named by a product's variable such as KAFKA_HOME, is used as it is. Others are
installed below SIXNINES_HOME (by default the directory sixnines in the user's cache
directory) or from Debian's packages. A product with a version, such as kafka@3.9.1, is
installed beside the others, always below SIXNINES_HOME.`,
		Example: `  sixnines broker list
  sixnines broker install kafka
  sixnines broker up kafka --nodes 3
  sixnines broker logs kafka --follow
  sixnines broker down kafka`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.brokerListCommand(), a.brokerInstallCommand(), a.brokerUpCommand(), a.brokerDownCommand(), a.brokerLogsCommand())
	return cmd
}

// home returns where brokers are found. Without a user directory nothing is
// installed, but brokers that are built in or on PATH can still run.
func (env *Env) home() (brokers.Home, error) {
	h := brokers.Home{Environ: env.Environ, Self: []string{env.Executable, builtInCommand}}
	var err error
	if h.Dir, err = brokers.DefaultDir(env.Environ); err != nil {
		h.Dir = filepath.Join(os.DevNull, "sixnines")
		err = failed("set "+brokers.HomeVariable+" to a directory", err)
	}
	return h, err
}

// product returns the product called name, which may include a version: kafka@3.9.1.
func product(name string) (brokers.Product, error) {
	name, version, versioned := strings.Cut(name, "@")
	p, ok := brokers.Lookup(name)
	if !ok {
		return p, wrongUsage(orMeant(name, productNames(), "choose one of "+strings.Join(productNames(), ", ")), "there is no broker %q", name)
	}
	if !versioned {
		return p, nil
	}
	q, err := p.InVersion(version)
	switch {
	case errors.Is(err, brokers.ErrOneVersion):
		return p, wrongUsage("these can be installed in any version: "+strings.Join(brokers.Versioned(), ", ")+"; to measure another version, start it yourself and give its address with --url", "%w", err)
	case err != nil:
		return p, wrongUsage("write NAME@VERSION; sixnines broker list shows the versions that are installed", "%w", err)
	}
	return q, nil
}

func productNames() []string {
	return slices.Sorted(slices.Values(each(brokers.Products(), func(p brokers.Product) string { return p.Name })))
}

// securedNames are those of the products that can be secured.
func securedNames() (all []string) {
	for _, p := range brokers.Products() {
		if len(p.Secures) > 0 {
			all = append(all, p.Name)
		}
	}
	return all
}

// completeProducts completes names of products.
func completeProducts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return each(brokers.Products(), func(p brokers.Product) string { return p.Name + "\t" + p.Summary }), cobra.ShellCompDirectiveNoFileComp
}

// interactive reports whether the command can ask the user.
func (env *Env) interactive() bool {
	in, ok := env.Stdin.(io.Writer) // an *os.File is one; Terminal identifies a terminal by its stream
	if !ok {
		return false
	}
	_, asks := env.terminal(env.Stderr)
	_, answers := env.terminal(in)
	return asks && answers
}

// Ways to choose where a broker keeps its data.
const (
	byHome    = brokers.HomeVariable
	byDir     = "--dir"
	byScratch = "TMPDIR"
)

// brokerFault adds what to do about a broker that is not available. place is the way
// to choose another directory for its data.
func brokerFault(err error, p brokers.Product, place string) error {
	var file *fs.PathError
	if own := (*fault)(nil); errors.As(err, &own) {
		return own
	}
	switch {
	case errors.Is(err, brokers.ErrNotSecured):
		return &fault{code: exitUsage, cause: err, hint: "leave --secured out, or secure one of " + strings.Join(securedNames(), ", ")}
	case errors.Is(err, brokers.ErrSetting):
		return &fault{code: exitUsage, cause: err, hint: "correct it, or leave it out; docs/brokers has the settings"}
	case errors.Is(err, brokers.ErrNotInstalled):
		return failed("sixnines broker install "+p.Name+before("; or name its directory in ", p.Variable), err)
	case errors.Is(err, brokers.ErrUnusable) && p.Variable != "":
		return failed("correct "+p.Variable+", or unset it to use another installation; sixnines broker list shows which is used", err)
	case errors.Is(err, brokers.ErrUnusable):
		return failed("repair it, or remove it and run: sixnines broker install "+p.Name, err)
	case errors.Is(err, errEnded):
		return failed("nothing of it is left running; run the same command again", err)
	case errors.Is(err, brokers.ErrPortTaken):
		return failed("stop the process that listens there, or choose another port with --port", err)
	case errors.Is(err, filelock.ErrBusy):
		return failed("wait until the other command has ended", err)
	case errors.Is(err, brokers.ErrNotRunning):
		return failed("sixnines broker list shows which brokers run; sixnines broker up "+p.Name+" starts this one", err)
	case errors.Is(err, brokers.ErrNotEmpty):
		return failed("name another directory with --dir, or empty it", err)
	case errors.Is(err, syscall.ENOSPC):
		return failed("free some space there, or choose another directory with "+place, err)
	case errors.As(err, &file) && file.Op != "fork/exec":
		return failed(directoryHint(place), err)
	case errors.Is(err, context.DeadlineExceeded):
		return failed("try again when the machine is less busy, or check the broker's log for complaints about the settings", err)
	}
	return failed("check the message for a wrong setting; sixnines broker list shows which installation is used", err)
}

// directoryHint says how to choose another directory.
func directoryHint(place string) string {
	if place == byDir {
		return "name a writable directory with " + place
	}
	return "set " + place + " to a writable directory"
}
