package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"sixnines/internal/fleet/control"
)

// embed starts the control plane in this process, says how agents join, and returns how it is ended. One that another
// command of this user runs here is used as it is.
func (a *app) embed(o *outputOptions) (stop func(), err error) {
	dir, err := a.controlDir()
	if err != nil {
		return nil, err
	}
	if l, err := control.Running(dir); err == nil {
		o.fleet.own = &l
		return func() { o.fleet.own = nil }, nil
	} else if !errors.Is(err, control.ErrNone) {
		return nil, failed("check the directory's permissions", err)
	}
	c := control.Options{Dir: dir}
	if !o.quiet {
		c.Log = func(line string) { fmt.Fprintln(a.Stderr, "control plane: "+line) }
	}
	s, err := control.Start(context.Background(), c)
	if err != nil {
		return nil, failed("name another control plane with --fleet URL", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "HOST" // which the user replaces
	}
	fmt.Fprintf(a.Stderr, "agents join by: %s\n", s.Line(host))
	l := s.Login()
	o.fleet.own = &l
	return func() {
		o.fleet.own = nil
		s.Close()
	}, nil
}
