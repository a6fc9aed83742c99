package main

import (
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// release is one commit being made into files.
type release struct {
	temp     string // removed at the end
	source   string // the commit's files
	at       time.Time
	revision string
	found    string // the version that the programs say
}

// program is what was built for one platform.
type program struct {
	os, arch string
	file     string
	size     int64
	version  string // without a v
	info     *buildinfo.BuildInfo
}

// checkOut clones HEAD of the repository at root.
func checkOut(ctx context.Context, root string) (*release, error) {
	temp, err := os.MkdirTemp("", "sixnines-release")
	if err != nil {
		return nil, err
	}
	r := &release{temp: temp, source: filepath.Join(temp, "source")}
	if err := r.clone(ctx, root); err != nil {
		return nil, errors.Join(fmt.Errorf("a release is made of a commit, in a clone with git: %w", err), os.RemoveAll(temp))
	}
	return r, nil
}

func (r *release) clone(ctx context.Context, root string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if changed, err := output(ctx, root, nil, "git", "status", "--porcelain", "--untracked-files=no"); err != nil {
		return err
	} else if changed != "" {
		fmt.Println("changes that are not committed are left out:\n" + changed)
	}
	if _, err := output(ctx, root, nil, "git", "clone", "--quiet", root, r.source); err != nil {
		return err
	}
	told, err := output(ctx, r.source, nil, "git", "log", "-1", "--format=%ct %H")
	if err != nil {
		return err
	}
	seconds, revision, _ := strings.Cut(told, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	r.at, r.revision = time.Unix(n, 0).UTC(), revision
	return err
}

// output runs a program in dir and returns what it prints. An error has what it
// said.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// describe has the commit write its manual and completions.
func (r *release) describe(ctx context.Context) error {
	_, err := output(ctx, r.source, []string{"CGO_ENABLED=0", "SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.at.Unix(), 10)},
		"go", "run", "-trimpath", "./internal/cli/manual", r.described())
	return err
}

func (r *release) described() string { return filepath.Join(r.temp, "described") }

// version is what the programs say they are, without a v.
func (r *release) version() string { return r.found }

// build builds the program for a platform, and checks that it is what was asked
// for: static, of this commit, without paths of this machine.
func (r *release) build(ctx context.Context, platform string) (*program, error) {
	b := &program{}
	b.os, b.arch, _ = strings.Cut(platform, "/")
	b.file = filepath.Join(r.temp, b.os+"-"+b.arch, "sixnines")
	if b.os == "windows" {
		b.file += ".exe"
	}
	env := []string{"CGO_ENABLED=0", "GOOS=" + b.os, "GOARCH=" + b.arch, "GOAMD64=v1", "GOARM64=v8.0"}
	if _, err := output(ctx, r.source, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", b.file, "./cmd/sixnines"); err != nil {
		return nil, err
	}
	stat, err := os.Stat(b.file)
	if err != nil {
		return nil, err
	}
	b.size = stat.Size()
	if b.info, err = buildinfo.ReadFile(b.file); err != nil {
		return nil, err
	}
	b.version = strings.TrimPrefix(b.info.Main.Version, "v")
	if !strings.HasPrefix(b.info.Main.Version, "v") {
		return nil, fmt.Errorf("%s says that its version is %q, not one that git knows", platform, b.info.Main.Version)
	}
	r.found = b.version
	settings := map[string]string{}
	for _, s := range b.info.Settings {
		settings[s.Key] = s.Value
	}
	for key, want := range map[string]string{"vcs.revision": r.revision, "vcs.modified": "false", "CGO_ENABLED": "0", "-trimpath": "true"} {
		if settings[key] != want {
			return nil, fmt.Errorf("%s was built with %s=%s, not %s", platform, key, settings[key], want)
		}
	}
	if b.os != "linux" {
		return b, nil
	}
	f, err := elf.Open(b.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return nil, fmt.Errorf("%s is not static: it asks for an interpreter", platform)
		}
	}
	return b, nil
}

// stem is how the names of the program's files begin.
func (b *program) stem() string { return "sixnines_" + b.version + "_" + b.os + "_" + b.arch }
