package cli

import (
	"errors"
	"fmt"

	"sixnines/internal/livepage"
	"sixnines/result"
)

// servePage serves the page of --live until close is called.
func (a *app) servePage(o outputOptions) (close func(), err error) {
	program := a.self(livepage.Command)
	if program == nil {
		return nil, failed("leave --live out", errors.New("the path of this program is not known, and the page needs a process of it"))
	}
	a.page, err = livepage.Start(livepage.Options{Program: program, Address: o.live, Command: a.Args[0], Tool: a.Tool.Name + " " + a.Tool.Version})
	switch {
	case errors.Is(err, livepage.ErrAddress):
		return nil, wrongUsage("give an address of this machine with a free port, such as --live 127.0.0.1:0", "--live %s: %w", o.live, err)
	case err != nil:
		return nil, failed("leave --live out, and write the page afterwards with sixnines report --format html", err)
	}
	if !o.quiet {
		fmt.Fprintf(a.Stderr, "live    http://%s/\n", a.page.Address)
	}
	return func() {
		if err := a.page.Close(); err != nil {
			fmt.Fprintf(a.Stderr, "live    %s; the results are complete\n", oneLine(err.Error()))
		}
	}, nil
}

// onPage tells the live page, if there is one, that a run begins; the returned function tells
// it that the run has ended.
func (a *app) onPage(m measurement, show display) (ended func(**result.Run)) {
	if a.page == nil {
		return func(**result.Run) {}
	}
	tell := func(err error) {
		if err != nil {
			show.say("live: " + oneLine(err.Error()) + "; the run continues")
		}
	}
	tell(a.page.Begin(a.path(m.file), m.about))
	return func(run **result.Run) { tell(a.page.End(*run != nil, m.trial == nil)) }
}
