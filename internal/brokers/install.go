package brokers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"sixnines/internal/filelock"
)

// ErrNeedsPerson says that this process cannot run a step of an installation: it
// lacks the administrator's rights, or the system has no apt-get.
var ErrNeedsPerson = errors.New("needs a manual step")

// Installer runs the steps of installations, one after the other. A lock file
// ensures that only one installer at a time works in a home. Not safe for concurrent use.
type Installer struct {
	home   Home
	output io.Writer
	unlock func()

	asRoot  []string        // words before a command that needs the administrator; nil: not checked, or root
	done    map[string]bool // steps that have been run, by Step.String
	updated bool            // the list of Debian's packages was fetched
}

// NewInstaller returns an installer whose commands print to output. It must be
// closed. The error wraps [filelock.ErrBusy] if another one works in the home.
func NewInstaller(h Home, output io.Writer) (*Installer, error) {
	unlock, err := filelock.Take(h.Path("install.lock"))
	if err != nil {
		return nil, fmt.Errorf("brokers: install: %w", err)
	}
	return &Installer{home: h, output: &plainWriter{to: output}, unlock: unlock, done: map[string]bool{}}, nil
}

// Close releases the lock.
func (in *Installer) Close() { in.unlock() }

// Check returns nil if the steps can be run by this process; else an error that
// wraps [ErrNeedsPerson].
func (in *Installer) Check(ctx context.Context, steps []Step) error {
	for _, s := range steps {
		if !s.Root {
			continue
		}
		if _, ok := in.home.LookPath(s.Command[0]); !ok {
			return fmt.Errorf("brokers: %s: %w: %s was not found, so this is not a Debian system", s.Doc, ErrNeedsPerson, s.Command[0])
		}
		if os.Geteuid() == 0 || in.asRoot != nil {
			continue
		}
		sudo, ok := in.home.LookPath("sudo")
		if ok {
			c := exec.CommandContext(ctx, sudo, "-n", "true")
			c.Env = in.home.Environ
			ok = c.Run() == nil
		}
		if !ok {
			return fmt.Errorf("brokers: %s: %w: it needs administrator rights, and sudo asks for a password", s.Doc, ErrNeedsPerson)
		}
		in.asRoot = []string{sudo, "-n", "--"}
	}
	return nil
}

// Install runs the steps of p's plan and returns the installation. The steps fill
// directories with temporary names, which are renamed only when all steps have
// succeeded: an installation that is found is always complete, even if Install is
// killed. Steps that this installer has already run for another product are
// skipped. say, if not nil, is called with each step before it runs.
func (in *Installer) Install(ctx context.Context, p Product, steps []Step, say func(Step)) (Installation, error) {
	fail := func(err error) (Installation, error) {
		return Installation{}, fmt.Errorf("brokers: install %s: %w", p.Name, err)
	}
	// Another process may have installed it since the plan was made.
	if found, err := p.find(ctx, in.home); err == nil || !errors.Is(err, ErrNotInstalled) {
		if err != nil {
			return fail(err)
		}
		return found, nil
	}
	if len(steps) == 0 {
		return fail(errors.New("it has no automatic installation"))
	}
	if err := in.Check(ctx, steps); err != nil {
		return fail(err)
	}
	moves, err := in.moves(steps)
	if err != nil {
		return fail(err)
	}
	clean := func() error {
		var errs []error
		for _, m := range moves {
			errs = append(errs, removeAll(m.from))
		}
		return errors.Join(errs...)
	}
	if err := clean(); err != nil { // remains of an installer that was killed
		return fail(err)
	}
	for _, s := range steps {
		if in.done[s.String()] && len(s.Moves) == 0 {
			continue
		}
		if say != nil {
			say(s)
		}
		if err := in.run(ctx, s); err != nil {
			return fail(errors.Join(err, clean()))
		}
		in.done[s.String()] = true
	}
	for _, m := range moves {
		// A directory with the final name is incomplete, or it would have been found.
		err := errors.Join(os.MkdirAll(filepath.Dir(m.to), 0o755), removeAll(m.to))
		if err == nil {
			err = os.Rename(m.from, m.to)
		}
		if err != nil {
			return fail(errors.Join(err, clean()))
		}
	}
	found, err := p.find(ctx, in.home)
	if err != nil {
		return fail(fmt.Errorf("all steps succeeded, but: %w", err))
	}
	return found, nil
}

// move is the renaming of a filled directory to its final name.
type move struct{ from, to string }

// moves lists the directories that the steps fill. All must be below the home, because
// Install removes and renames them.
func (in *Installer) moves(steps []Step) ([]move, error) {
	var all []move
	for _, s := range steps {
		for from, to := range s.Moves {
			for _, path := range []string{from, to} {
				rel, err := filepath.Rel(in.home.Dir, path)
				if err != nil || !filepath.IsLocal(rel) || rel == "." {
					return nil, fmt.Errorf("%s: %s is not below %s", s.Doc, path, in.home.Dir)
				}
			}
			all = append(all, move{from, to})
		}
	}
	return all, nil
}

// run runs one step.
func (in *Installer) run(ctx context.Context, s Step) error {
	if s.Dir != "" {
		if err := os.MkdirAll(s.Dir, 0o755); err != nil {
			return fmt.Errorf("%s: %w", s.Doc, err)
		}
	}
	for name, text := range s.Files {
		path := filepath.Join(s.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("%s: %w", s.Doc, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("%s: %w", s.Doc, err)
		}
	}
	if len(s.Command) == 0 {
		return nil
	}
	said, err := in.command(ctx, s)
	if err != nil && s.aptInstalls() && !in.updated && stalePackages(said) {
		in.updated = true
		if _, err := in.command(ctx, aptUpdate()); err != nil {
			return err
		}
		_, err = in.command(ctx, s)
	}
	return err
}

// command runs the step's command and returns the end of what it has printed.
func (in *Installer) command(ctx context.Context, s Step) (string, error) {
	words := s.Command
	if s.aptInstalls() {
		words = append([]string{"/bin/sh", "-c", quietServices, "sh"}, words...)
	}
	if s.Root && in.asRoot != nil {
		// sudo keeps no variables.
		words = append(append(append(append([]string{}, in.asRoot...), "env"), s.Env...), words...)
	}
	program := words[0]
	if !strings.ContainsRune(program, filepath.Separator) {
		path, ok := in.home.LookPath(program)
		if !ok {
			return "", fmt.Errorf("%s: %s is not on PATH; install it, or run by hand: %s", s.Doc, program, s)
		}
		program = path
	}
	c := exec.CommandContext(ctx, program, words[1:]...)
	said := &tail{forward: in.output}
	c.Env, c.Dir, c.Stdout, c.Stderr = append(in.home.Environ[:len(in.home.Environ):len(in.home.Environ)], s.Env...), s.Dir, said, said
	// A Ctrl-C must not reach a package manager directly; Cancel asks it to end.
	c.SysProcAttr = ownGroup()
	if !s.Root {
		// Without this process the command's work is useless, so it dies with it. A
		// package manager (Root) must finish even then.
		dieWithParent(c.SysProcAttr)
		runtime.LockOSThread() // the kernel sends the signal when this thread ends
		defer runtime.UnlockOSThread()
	}
	c.Cancel = func() error { return interruptGroup(c.Process) }
	if !s.Root {
		c.WaitDelay = 10 * time.Second
	}
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return said.String(), fmt.Errorf("%s: %w", s.Doc, context.Cause(ctx))
		}
		return said.String(), fmt.Errorf("%s: %w: %s", s.Doc, err, whyFailed(said.String()))
	}
	return said.String(), nil
}

// whyFailed returns the part of a failed command's output that says why: Maven's first
// error line, because its output ends with advice, else the last lines.
func whyFailed(text string) string {
	for line := range strings.Lines(text) {
		if _, why, ok := strings.Cut(line, "[ERROR] "); ok {
			return strings.TrimSpace(why)
		}
	}
	return lastLines(text, 3)
}

// lastLines returns the last n lines of a text that are not blank.
func lastLines(text string, n int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "it printed nothing"
	}
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}
