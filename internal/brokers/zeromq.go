package brokers

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// ZeroMQ is libzmq, the library of the ZeroMQ drivers. It has no broker to start; this
// package can only install it.
func ZeroMQ() Product {
	return Product{
		Name:    "zeromq",
		Summary: "ZeroMQ's library, for building its drivers: it has no broker",
		Drivers: []string{"zeromq", "zeromq-pipeline"},
		find:    findZeroMQ,
		plan:    planDebian("libzmq3-dev", "pkg-config", "gcc", "libc6-dev"),
	}
}

// findZeroMQ asks pkg-config, as the build of the drivers does. The build also needs a C
// compiler.
func findZeroMQ(ctx context.Context, h Home) (Installation, error) {
	tool, ok := h.LookPath("pkg-config")
	if !ok {
		return Installation{}, notInstalled("pkg-config on PATH")
	}
	if !slices.ContainsFunc([]string{"gcc", "clang", "cc"}, func(compiler string) bool {
		_, ok := h.LookPath(compiler)
		return ok
	}) {
		return Installation{}, notInstalled("C compiler on PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ask := func(arg string) (string, error) {
		c := exec.CommandContext(ctx, tool, arg, "libzmq")
		c.Env = h.Environ
		text, err := c.Output()
		return strings.TrimSpace(string(text)), err
	}
	version, err := ask("--modversion")
	var status *exec.ExitError
	if errors.As(err, &status) {
		return Installation{}, notInstalled("libzmq known to pkg-config")
	}
	if err != nil {
		return Installation{}, fmt.Errorf("look up libzmq with %s: %w", tool, err)
	}
	dir, err := ask("--variable=libdir")
	if err != nil || dir == "" {
		return Installation{}, fmt.Errorf("%w: %s does not say where libzmq %s is: %q, %v", ErrUnusable, tool, version, dir, err)
	}
	return Installation{Version: version, Path: dir, Origin: "known to pkg-config"}, nil
}
