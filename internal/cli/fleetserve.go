package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/fleet/control"
)

// serveOptions are the flags of fleet serve.
type serveOptions struct {
	dir, keys, listen string
}

func (a *app) fleetServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a control plane until Ctrl-C",
		Long: `Run a control plane for agents and commands of other machines: a NATS server with
JetStream that syncs each write. It prints how agents join.

The directory has its certificate, its tokens and what agents recorded, and is the same
control plane when it is started again. --keys names a directory with the files token,
join and certificate.pem that are to be its own.`,
		Example: `  sixnines fleet serve --listen 10.0.0.5:4222`,
		Args:    counted(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.fleetServe(cmd.Context(), o) },
	}
	a.take(cmd, sectionOf("Control plane", func(f *pflag.FlagSet) {
		f.StringVar(&o.listen, "listen", ":4222", "`HOST:PORT` to listen on; without a host on all addresses")
		f.StringVar(&o.dir, "dir", "", "`DIR` of the control plane; default: that of --fleet embedded, below SIXNINES_HOME")
		f.StringVar(&o.keys, "keys", "", "`DIR` with keys that were made before")
	}))
	return cmd
}

func (a *app) fleetServe(ctx context.Context, o serveOptions) error {
	host, port, err := net.SplitHostPort(o.listen)
	number, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil {
		return wrongUsage("write --listen HOST:PORT, such as 10.0.0.5:4222 or :4222", "--listen cannot be %q", o.listen)
	}
	c := control.Options{Host: host, Port: int(number), Log: func(line string) { fmt.Fprintln(a.Stderr, line) }}
	if o.dir != "" {
		c.Dir = a.path(o.dir)
	} else if c.Dir, err = a.controlDir(); err != nil {
		return err
	}
	if o.keys != "" {
		c.Keys = a.path(o.keys)
	}
	ctx, release := a.interruptible(ctx, nil)
	defer release()
	s, err := control.Start(ctx, c)
	if err != nil {
		return failed("free the port, or name others with --listen and --dir", err)
	}
	defer s.Close()
	if c.Keys == "" {
		if host == "" {
			if host, err = os.Hostname(); err != nil {
				return failed("name an address of this machine with --listen HOST:PORT", err)
			}
		}
		fmt.Fprintf(a.Stderr, "agents join by: %s\n", s.Line(host))
	}
	fmt.Fprintln(a.Stderr, "the control plane is ready; Ctrl-C ends it")
	<-ctx.Done()
	return nil
}
