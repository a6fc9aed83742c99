package brokers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sixnines/internal/filelock"
	"sixnines/internal/pid"
)

// ErrRunning says that the product was already started.
var ErrRunning = errors.New("already there")

// ErrNotRunning says that the product was not started, or is stopped.
var ErrNotRunning = errors.New("not running")

// Up starts the product so that it outlives this process, and returns when it
// answers. It first removes the remains of an earlier start that has ended by
// itself. With an empty o.Dir the data are in a new directory below the home.
//
// If the product is already started, the error wraps [ErrRunning] and the state
// is that of the running one. If the start fails, nothing is left behind. Each
// process is in the state file before it is ready, so that [Down] finds all
// processes even if this process is killed meanwhile. A lock file per product
// serialises Up and Down.
func Up(ctx context.Context, p Product, o Options) (*State, error) {
	fail := func(err error) (*State, error) { return nil, fmt.Errorf("brokers: start %s: %w", p.Name, err) }
	if len(p.Clusters) == 0 {
		return fail(ErrBrokerless)
	}
	unlock, err := filelock.Take(o.Home.Path("run", p.Name+".lock"))
	if err != nil {
		return fail(err)
	}
	defer unlock()
	s, err := ReadState(o.Home, p.Name)
	if err != nil {
		return nil, err
	}
	if s != nil {
		if c := s.Condition(); c != Gone {
			return s, fmt.Errorf("brokers: start %s: %w (%s)", p.Name, ErrRunning, c)
		}
		if err := s.forget(o.Home, false); err != nil {
			return fail(err)
		}
	}
	s = &State{Product: p.Name, Started: time.Now().Round(time.Second),
		Asked: Asked{Nodes: max(1, o.Nodes), Port: o.Port, Dir: o.Dir, Settings: maps.Clone(o.Settings), Secured: o.Secured != nil}}
	if s.Host, err = os.Hostname(); err != nil {
		return fail(err)
	}
	if s.Boot, err = pid.Boot(); err != nil {
		return fail(err)
	}
	if _, err := pid.Start(os.Getpid()); err != nil {
		return fail(err) // without start times Down could not identify the processes
	}
	// Fail before a directory is made if the product is not installed.
	if _, err := p.find(ctx, o.Home); err != nil {
		return fail(err)
	}
	if o.Dir == "" {
		if err := os.MkdirAll(o.Home.Path("data"), 0o755); err != nil {
			return fail(err)
		}
		if o.Dir, err = os.MkdirTemp(o.Home.Path("data"), p.Name+"-"); err != nil {
			return fail(err)
		}
		s.OwnDir = true
	} else {
		if o.Dir, err = filepath.Abs(o.Dir); err != nil {
			return fail(err)
		}
		switch _, err := os.Stat(o.Dir); {
		case errors.Is(err, os.ErrNotExist):
			s.OwnDir = true
		case err != nil:
			return fail(err)
		}
	}
	s.Dir = o.Dir
	o.Detach = true
	var writing sync.Mutex // guards s.List and the file while nodes start at once
	o.forked = func(i *Instance, node bool) error {
		start, err := pid.Start(i.PID)
		if isGone(err) {
			return nil // it has already ended; the start reports that
		}
		if err != nil {
			return err
		}
		writing.Lock()
		defer writing.Unlock()
		s.List = append(s.List, Process{Name: i.Name, PID: i.PID, Start: start, Log: i.Log, Node: node})
		return s.write(o.Home)
	}
	c, err := Start(ctx, p, o)
	if err != nil {
		// Start has stopped everything.
		return nil, errors.Join(err, s.forgetFailed(o.Home))
	}
	s.Version, s.Origin, s.URL, s.URLs, s.Info, s.Access, s.Ready = c.Version, c.Origin, c.URL, c.urls, c.Info, c.access, true
	slices.SortFunc(s.List, func(a, b Process) int { return compareProcesses(a, b) })
	if err := s.write(o.Home); err != nil {
		c.keep = false
		return nil, errors.Join(fmt.Errorf("brokers: start %s: %w", p.Name, err), c.Stop(context.WithoutCancel(ctx)), s.forgetFailed(o.Home))
	}
	return s, nil
}

// compareProcesses orders nodes before helpers, and each by name.
func compareProcesses(a, b Process) int {
	if a.Node != b.Node {
		if a.Node {
			return -1
		}
		return 1
	}
	return compareNames(a.Name, b.Name)
}

// Same reports whether s was started with the same nodes, port, directory and settings as o.
func (s *State) Same(o Options) bool {
	return s.Asked.Nodes == max(1, o.Nodes) && s.Asked.Port == o.Port && s.Asked.Dir == o.Dir && s.Asked.Secured == (o.Secured != nil) && maps.Equal(s.Asked.Settings, o.Settings)
}

// forgetFailed removes the state of a start that failed, and its directory unless the
// user's directory existed before.
func (s *State) forgetFailed(h Home) error {
	err := os.MkdirAll(s.Dir, 0o755)
	if s.OwnDir {
		err = removeAll(s.Dir)
	}
	if err != nil {
		return err
	}
	err = os.Remove(stateFile(h, s.Product))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// forget removes the state of a product whose processes are gone and, unless keep is
// set, its data.
func (s *State) forget(h Home, keep bool) error {
	if !keep && s.Dir != "" {
		if err := removeAll(s.Dir); err != nil {
			return err
		}
		if !s.OwnDir { // the directory existed before, and was empty
			if err := os.MkdirAll(s.Dir, 0o755); err != nil {
				return err
			}
		}
	}
	if err := os.Remove(stateFile(h, s.Product)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
