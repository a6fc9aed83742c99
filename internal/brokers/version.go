package brokers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ErrOneVersion says that a product is available in one version only: it is built in, or
// a Debian package.
var ErrOneVersion = errors.New("can be installed in one version only")

// ErrVersion says that a version is malformed or cannot be started.
var ErrVersion = errors.New("not a version that sixnines can start")

// versions says how chosen versions of a product are installed side by side.
type versions struct {
	// prefix begins the names of their directories below the home; the version ends
	// them.
	prefix string
	usual  string // the version that the product has by default
	oldest string // that can be started
	// find finds the installation in a version's directory; product is for its errors.
	find func(ctx context.Context, h Home, product, dir string) (Installation, error)
	// plan lists the steps after which find succeeds.
	plan func(h Home, version string) []Step
}

// byUs is the origin of installations made by the installer.
const byUs = "installed by sixnines"

// wholeVersion is three numbers, or the four of Kafka 0.x.
var wholeVersion = regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,6}){2,3}$`)

// Versioned returns the names of the products whose version can be chosen.
func Versioned() []string {
	var names []string
	for _, p := range Products() {
		if p.versions != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// InVersion returns the product in a version, such as "3.9.1", with the name NAME@VERSION.
// It finds only what the installer has installed, never what Variable or PATH lead to. The
// error wraps [ErrOneVersion] or [ErrVersion].
func (p Product) InVersion(version string) (Product, error) {
	v := p.versions
	switch {
	case v == nil:
		return p, fmt.Errorf("%s %w", p.Name, ErrOneVersion)
	case !wholeVersion.MatchString(version):
		return p, fmt.Errorf("%s@%.40s: %w: give a full version, such as %s@%s", p.Name, version, ErrVersion, p.Name, v.usual)
	case slices.Compare(versionOf(version), versionOf(v.oldest)) < 0:
		return p, fmt.Errorf("%s@%s: %w: the oldest is %s", p.Name, version, ErrVersion, v.oldest)
	}
	return p.at(p.Name+"@"+version, version), nil
}

// at returns the product in a version, under a name. versions must not be nil.
func (p Product) at(name, version string) Product {
	v := p.versions
	p.Name, p.Variable, p.versions = name, "", nil
	p.find = func(ctx context.Context, h Home) (Installation, error) {
		in, err := v.find(ctx, h, name, h.Path(v.prefix+version))
		if err == nil && in.Version != version {
			err = fmt.Errorf("%w: %s has version %s", ErrUnusable, in.Path, in.Version)
		}
		return in, err
	}
	p.plan = func(_ context.Context, h Home) ([]Step, error) { return v.plan(h, version), nil }
	return p
}

// Installed returns the product in each version that has a directory below the
// home, the oldest first. Find says whether an installation is complete.
func (p Product) Installed(h Home) ([]Product, error) {
	if p.versions == nil {
		return nil, nil
	}
	dirs, err := filepath.Glob(h.Path(p.versions.prefix + "*"))
	if err != nil {
		return nil, fmt.Errorf("brokers: %s: %w", p.Name, err)
	}
	var all []string
	for _, dir := range dirs {
		version := strings.TrimPrefix(filepath.Base(dir), p.versions.prefix)
		if _, err := p.InVersion(version); err == nil {
			all = append(all, version)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return slices.Compare(versionOf(a), versionOf(b)) })
	var products []Product
	for _, version := range all {
		products = append(products, p.at(p.Name+"@"+version, version))
	}
	return products, nil
}

// Complete resolves the beginning of a version, such as "3.9", to the newest installed
// version that it matches, or returns version itself if none matches.
func (p Product) Complete(h Home, version string) (string, error) {
	all, err := p.Installed(h)
	if err != nil {
		return version, err
	}
	for _, x := range slices.Backward(all) {
		_, have, _ := strings.Cut(x.Name, "@")
		if have == version || strings.HasPrefix(have, version+".") {
			return have, nil
		}
	}
	return version, nil
}

// versionedProgram returns the versions.find of a product that is one executable, with a
// directory for each version.
func versionedProgram(p program) func(ctx context.Context, h Home, product, dir string) (Installation, error) {
	return func(ctx context.Context, h Home, product, dir string) (Installation, error) {
		path := filepath.Join(dir, p.name)
		if !executable(path) {
			return Installation{}, notInstalled(path)
		}
		return p.asked(ctx, h, Installation{Path: path, Origin: byUs})
	}
}

// goInstall returns the step that builds a Go program into a directory below the home.
func goInstall(h Home, doc, program, dir string) []Step {
	partial := h.Path(dir + ".partial")
	return []Step{{
		Doc:     doc,
		Command: []string{"go", "install", program},
		Env:     []string{"GOBIN=" + partial},
		Moves:   map[string]string{partial: h.Path(dir)},
	}}
}
