package brokers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// javaProduct says how to find a product that is a directory of jars.
type javaProduct struct {
	name     string
	variable string   // that names the directory
	scripts  []string // in its directory bin, as they may be on PATH
	jar      string   // path of the jar whose name has the version, up to the version
	dir      string   // of the usual version, below the home
}

// find locates the directory: the one that the variable names, one whose scripts are
// on PATH, or the home's.
func (j javaProduct) find(ctx context.Context, h Home) (Installation, error) {
	if dir := h.Getenv(j.variable); dir != "" {
		version, err := j.versionIn(dir)
		if err != nil {
			return Installation{}, fmt.Errorf("%w: %s names %s: %w", ErrUnusable, j.variable, dir, err)
		}
		return withJava(h, j.name, Installation{Version: version, Path: dir, Origin: "named by " + j.variable})
	}
	for _, script := range j.scripts {
		path, ok := h.LookPath(script)
		if !ok {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		dir := filepath.Dir(filepath.Dir(path))
		if version, err := j.versionIn(dir); err == nil { // else a package whose jars lie elsewhere
			return withJava(h, j.name, Installation{Version: version, Path: dir, Origin: "on PATH"})
		}
	}
	dir := h.Path(j.dir)
	if _, err := j.versionIn(dir); err != nil {
		return Installation{}, notInstalled(j.scripts[0]+" on PATH", j.variable, dir)
	}
	return j.installed(ctx, h, j.name, dir)
}

// installed finds what was installed in the directory, for the product of that name.
func (j javaProduct) installed(_ context.Context, h Home, product, dir string) (Installation, error) {
	version, err := j.versionIn(dir)
	if err != nil {
		return Installation{}, notInstalled(dir)
	}
	return withJava(h, product, Installation{Version: version, Path: dir, Origin: byUs})
}

// versionIn returns the version of what lies in the directory.
func (j javaProduct) versionIn(dir string) (string, error) {
	jars, err := filepath.Glob(filepath.Join(dir, j.jar+"*.jar"))
	if err != nil {
		return "", err
	}
	for _, jar := range jars {
		version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(jar), filepath.Base(j.jar)), ".jar")
		if len(versionOf(version)) > 1 {
			return version, nil
		}
	}
	return "", fmt.Errorf("it contains no %s….jar: %w", j.jar, os.ErrNotExist)
}

// withJava returns in if Java is installed, else an error that wraps [ErrNotInstalled].
func withJava(h Home, product string, in Installation) (Installation, error) {
	if _, ok := java(h); !ok {
		return Installation{}, notInstalled("java on PATH or below JAVA_HOME")
	}
	return in, nil
}

func java(h Home) (string, bool) {
	if home := h.Getenv("JAVA_HOME"); home != "" {
		if path := filepath.Join(home, "bin", "java"); executable(path) {
			return path, true
		}
	}
	return h.LookPath("java")
}

// planJava lists the steps that install Java and Maven, nil if both are there.
func planJava(h Home) []Step {
	var packages []string
	if _, ok := java(h); !ok {
		packages = append(packages, "default-jre-headless")
	}
	if _, ok := h.LookPath("mvn"); !ok {
		packages = append(packages, "maven")
	}
	if len(packages) == 0 {
		return nil
	}
	return []Step{debian(packages...)}
}
