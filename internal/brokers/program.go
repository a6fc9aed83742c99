package brokers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// program is a product that is one executable.
type program struct {
	product  string   // for the error of its absence
	name     string   // on PATH: "redis-server"
	variable string   // the environment variable that names it
	built    []string // path below the home to which plan builds it; empty: plan does not
	version  []string // arguments that make it print its version
	// What stands before and after the version in what it prints.
	before, after string
}

// versionLimit is how long a program may take to print its version.
const versionLimit = 10 * time.Second

// findProgram locates p: by its variable, then on PATH, then where plan has built it.
func findProgram(ctx context.Context, h Home, p program) (Installation, error) {
	var in Installation
	if path := h.Getenv(p.variable); p.variable != "" && path != "" {
		if _, err := exec.LookPath(path); err != nil {
			return in, fmt.Errorf("%w: %s names %s: %w", ErrUnusable, p.variable, path, err)
		}
		in = Installation{Path: path, Origin: "named by " + p.variable}
	} else if path, ok := h.LookPath(p.name); ok {
		in = Installation{Path: path, Origin: "on PATH"}
	} else if path := h.Path(p.built...); len(p.built) > 0 && executable(path) {
		in = Installation{Path: path, Origin: byUs}
	} else {
		return in, notInstalled(p.name + " on PATH")
	}
	if len(p.version) == 0 {
		return in, nil
	}
	return p.asked(ctx, h, in)
}

// asked returns in with the version that the program prints.
func (p program) asked(ctx context.Context, h Home, in Installation) (Installation, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	c := exec.CommandContext(ctx, in.Path, p.version...)
	c.Env = h.Environ
	c.WaitDelay = time.Second // it may be a script whose child holds the output
	// Some print their version to standard error, or exit with a failure.
	text, err := c.CombinedOutput()
	_, version, _ := strings.Cut(string(text), p.before)
	version, _, _ = strings.Cut(version, p.after)
	if in.Version = strings.TrimSpace(version); in.Version == "" {
		problem := fmt.Errorf("%w: %s %s (%s) does not print its version", ErrUnusable, in.Path, strings.Join(p.version, " "), in.Origin)
		switch first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n"); {
		case ctx.Err() != nil:
			return in, fmt.Errorf("%w: %w", problem, context.Cause(ctx))
		case first != "":
			return in, fmt.Errorf("%w, but says %.100q", problem, first)
		case err != nil:
			return in, fmt.Errorf("%w: %w", problem, err)
		}
		return in, fmt.Errorf("%w, but printed nothing", problem)
	}
	return in, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
