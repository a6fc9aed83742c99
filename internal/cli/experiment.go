package cli

import "context"

// experiment is several runs that answer one question: repeats, an ab, a sweep, a
// capacity, a study. It has five acts, which [app.experiment] does in their order.
type experiment interface {
	// check refuses what cannot be, before anything is run or written.
	check(ctx context.Context, a *app) error
	// plan says which cells there are, and which trials as far as they are known beforehand.
	plan() (design, error)
	// begin takes the series in its directory, and what was made of it before.
	begin(s *series) error
	// make makes what is left of the trials.
	make(ctx context.Context) error
	// conclude finds out what the trials show, and whether there is something to show;
	// ended is the error that ended them, if one did. Where there is nothing, its error
	// is the command's.
	conclude(ended error) (something bool, err error)
	// show prints and writes what they show; its error decides on the exit code.
	show(ended error) error
}

// experiment does an experiment, from what was asked to the exit code. What was made
// before an error or Ctrl-C is kept and shown.
func (a *app) experiment(ctx context.Context, o outputOptions, x experiment) error {
	return a.exporting(ctx, o, func() error { return a.acts(ctx, o, x) })
}

// acts is [app.experiment] while monitoring systems are told of it.
func (a *app) acts(ctx context.Context, o outputOptions, x experiment) error {
	if err := x.check(ctx, a); err != nil {
		return err
	}
	d, err := x.plan()
	if err != nil {
		return err
	}
	s, err := a.begin(o, d)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := x.begin(s); err != nil {
		return err
	}
	ended := x.make(ctx)
	if something, err := x.conclude(ended); !something {
		return err
	}
	return x.show(ended)
}
