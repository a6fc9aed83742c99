package cli

import "context"

// experiment is several runs that answer one question: repeats, an ab, a sweep, a
// capacity, a study. [app.experiment] calls its methods in their order.
type experiment interface {
	// check refuses invalid requests, before anything is run or written.
	check(ctx context.Context, a *app) error
	// plan returns the cells, and the trials that are known before the first.
	plan() (design, error)
	// begin receives the series in its directory, and loads the results made before.
	begin(s *series) error
	// make makes the remaining trials.
	make(ctx context.Context) error
	// conclude evaluates the trials, and reports whether they show something; ended is the
	// error that ended them, or nil. If they show nothing, err is the command's error.
	conclude(ended error) (something bool, err error)
	// show prints and writes the conclusions; its error decides on the exit code.
	show(ended error) error
}

// experiment runs an experiment and returns the error that decides on the exit code. Results
// made before an error or Ctrl-C are kept and shown.
func (a *app) experiment(ctx context.Context, o outputOptions, x experiment) error {
	return a.exporting(ctx, o, func() error { return a.acts(ctx, o, x) })
}

// acts is the part of [app.experiment] during which metrics are exported.
func (a *app) acts(ctx context.Context, o outputOptions, x experiment) error {
	if err := x.check(ctx, a); err != nil {
		return err
	}
	d, err := x.plan()
	if err != nil {
		return err
	}
	if err := a.fleetFor(ctx, o, d); err != nil {
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
	if err := x.show(ended); err != nil {
		return err
	}
	return s.remained()
}
