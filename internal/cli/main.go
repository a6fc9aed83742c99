// Package cli is the command line of Sixnines: [Main], and a file for each
// command.
//
// [Env] holds everything of the process: arguments, environment, streams, signals, the
// set of drivers. Output follows three rules. Stdout is data: the requested table or
// object, and nothing else. Stderr is for users: progress, where files were written,
// errors. An error is one line that says what is wrong and one that says what to do next.
//
// Commands return errors; only [Main] turns them into text and an exit code.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/engine/prober"
	"sixnines/internal/journal"
	"sixnines/internal/livepage"
	"sixnines/internal/network"
	"sixnines/internal/probe"
	"sixnines/internal/relay"
	"sixnines/internal/selftest"
	"sixnines/internal/telemetry"
	"sixnines/internal/vitals"
	"sixnines/result"
	"sixnines/scenario"
)

// The exit codes.
const (
	exitOK        = 0
	exitFailure   = 1 // the command could not do its work, or a check failed
	exitUsage     = 2 // the command line or the scenario is wrong; nothing was run
	exitThreshold = 3 // a threshold was missed
	exitInvalid   = 4 // the run's verdict is INVALID or UNSTABLE; the machine disturbed what was to be shown
)

// Env is all that the command line takes from its process.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // "KEY=value"
	// Dir is the directory of relative paths; empty: the process's working directory.
	// Paths inside scenarios and driver options are opened by other packages and are
	// always relative to the process's working directory.
	Dir string
	// Executable is the path of this program, which starts itself as child processes.
	Executable string
	Drivers    driver.Set
	Tool       result.Tool
	// Terminal reports whether a stream is a terminal and how many columns it
	// has. Nil: no stream is a terminal.
	Terminal func(stream io.Writer) (columns int, ok bool)
	// Signals begins to listen to the signals with which users end a program; until
	// stop is called they do not end it. Nil: no signals come.
	Signals func() (signals <-chan os.Signal, stop func())
}

// app is one invocation with the state that its commands share. Functions that need only the
// process's environment are methods of [Env].
type app struct {
	Env
	live          *telemetry.Live   // the metrics that monitoring systems scrape; nil: not asked for
	push          *telemetry.Pusher // pushes metrics to a collector; nil: not asked for
	page          *livepage.Page    // shows the runs while they are made; nil: not asked for
	revision      string            // of what is measured, as the user calls it; may be empty
	fleet         *fleet            // what makes the runs instead of this process; nil: this process makes them
	made          []string          // directories for results that this command made, the deepest first
	warnedSecrets []string          // the secrets of the command line that the user was warned about
	journal       *journal.Journal  // how this process's acts on the machine are undone
	restored      sync.Once         // what killed processes left was undone
}

// Main runs the command line and returns the process's exit code: 0 good, 1
// failure, 2 wrong usage, 3 a threshold missed, 4 the run is invalid. The end
// of ctx acts like the first Ctrl-C.
func Main(ctx context.Context, env Env) int {
	a := &app{Env: env, journal: journal.New(env.undoDir())}
	if len(a.Args) > 0 {
		if code, ours := a.serve(a.Args[0], a.Args[1:]); ours {
			return code
		}
	}
	out := &printed{to: env.Stdout}
	a.Stdout = out
	root := a.root()
	root.SetArgs(withTwoDashes(root, a.Args))
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	a.unmakeDirs()
	if left := a.journal.Close(context.WithoutCancel(ctx)); left != nil {
		fmt.Fprintf(a.Stderr, "could not undo: %s; sixnines doctor --clean tries again\n", oneLine(left.Error()))
	}
	return a.explain(cmd, out.check(err))
}

// idleCommand makes this program the process that watches the machine beside a run,
// and builtInCommand one of the brokers that are built in: see [vitals.ServeIdle] and
// [brokers.Serve]. They are no commands of the tree: the child has no flags, no help
// and no signals.
const (
	idleCommand    = "__idle"
	builtInCommand = "__broker"
)

// serve runs this program as a child process beside a run; false: a user has called it.
func (env *Env) serve(command string, args []string) (code int, ours bool) {
	var err error
	switch command {
	case builtInCommand:
		return brokers.Serve(env.Stdin, env.Stderr, args), true
	case selftest.HogCommand:
		return selftest.ServeHog(env.Stdin), true
	case idleCommand:
		err = vitals.ServeIdle(env.Stdin, env.Stdout, args)
	case network.Command:
		err = network.Serve(env.Stdin, env.Stdout)
	case relay.Command:
		err = env.serveRelay(args)
	case livepage.Command:
		err = livepage.Serve(env.Stdin, env.Stdout)
	case probe.Command:
		err = probe.Serve(env.Stdin, env.Stdout, env.measureBeside)
	default:
		return exitOK, false
	}
	if err != nil {
		fmt.Fprintln(env.Stderr, oneLine(err.Error()))
		return exitFailure, true
	}
	return exitOK, true
}

// self returns the command line of such a child process; nil if the path of this program is
// not known.
func (env *Env) self(command string) []string {
	if env.Executable == "" {
		return nil
	}
	return []string{env.Executable, command}
}

// measureBeside is the run of a probe.
func (env *Env) measureBeside(ctx context.Context, s *scenario.Scenario, tell func(probe.Report)) error {
	e, ok := env.Drivers.Lookup(s.Target.Driver)
	if !ok {
		return env.unknownDriver(s.Target.Driver)
	}
	return prober.Run(ctx, s, e, tell)
}

// getenv returns the value of an environment variable, the last one given.
func (env *Env) getenv(name string) string {
	value, _ := env.lookup(name)
	return value
}

// lookup is getenv, and reports whether the variable is set.
func (env *Env) lookup(name string) (string, bool) {
	for i := len(env.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(env.Environ[i], "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// path returns where the file is that the user calls name.
func (env *Env) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(env.Dir, name)
}

// terminal reports whether w is a terminal that understands cursor movements,
// and its width.
func (env *Env) terminal(w io.Writer) (columns int, ok bool) {
	if env.Terminal == nil || env.getenv("TERM") == "dumb" {
		return 0, false
	}
	if out, ok := w.(*printed); ok {
		w = out.to
	}
	return env.Terminal(w)
}

// columns returns the width of stdout: 100 if it is not a terminal, or one narrower than least.
func (env *Env) columns(least int) int {
	if columns, ok := env.terminal(env.Stdout); ok && columns >= least {
		return columns
	}
	return 100
}

// indented breaks a text into lines of at most width and puts as many spaces as indent
// says before each.
func indented(text string, indent, width int) string {
	var b strings.Builder
	for row := range strings.SplitSeq(lipgloss.NewStyle().Width(width).Render(text), "\n") {
		b.WriteString(strings.Repeat(" ", indent) + strings.TrimRight(row, " ") + "\n")
	}
	return b.String()
}

// colour reports whether w should get colours.
func (env *Env) colour(w io.Writer) bool {
	_, ok := env.terminal(w)
	return ok && env.getenv("NO_COLOR") == ""
}

// ascii reports whether the user's locale, if one is set, has only ASCII characters.
func (env *Env) ascii() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env.getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
