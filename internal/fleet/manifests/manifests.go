// Package manifests writes what runs a fleet on Kubernetes: the control plane, the agents and the coordinator, to be applied
// with kustomize.
package manifests

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
)

//go:embed templates
var templates embed.FS

// Options say what a fleet on Kubernetes is like. The zero values of texts are the defaults.
type Options struct {
	Agents    int
	Namespace string
	Image     string // of this program's version
	// Brokers is the label, KEY=VALUE, of the brokers' pods, with which no pod of the fleet shares a node.
	Brokers string
	// CPU and Memory are what each pod has: Kubernetes' quantities.
	CPU, Memory string
	Scenario    []byte // the text of a scenario file; nil: an example
}

// The defaults of Options.
const (
	DefaultNamespace = "sixnines"
	DefaultImage     = "sixnines"
	DefaultBrokers   = "app.kubernetes.io/component=broker"
	DefaultCPU       = "2"
	DefaultMemory    = "1Gi"
)

// ErrOption is wrapped by errors about options that cannot be used.
var ErrOption = errors.New("not possible on Kubernetes")

var (
	nameSyntax     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)                                                    // RFC 1123
	imageSyntax    = regexp.MustCompile(`^[a-z0-9]([a-zA-Z0-9._:/-]{0,250}[a-zA-Z0-9])?(@sha256:[a-f0-9]{64})?$`)                  // distribution/reference
	keySyntax      = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`) // of a label
	valueSyntax    = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$`)
	quantitySyntax = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`)
)

// values are what the templates show.
type values struct {
	Options
	BrokersKey, BrokersValue string
}

// values returns the options with their defaults, or an error that wraps [ErrOption].
func (o Options) values() (values, error) {
	o.Namespace, o.Image = cmp.Or(o.Namespace, DefaultNamespace), cmp.Or(o.Image, DefaultImage)
	o.CPU, o.Memory = cmp.Or(o.CPU, DefaultCPU), cmp.Or(o.Memory, DefaultMemory)
	o.Brokers = cmp.Or(o.Brokers, DefaultBrokers)
	v := values{Options: o}
	var labelled bool
	v.BrokersKey, v.BrokersValue, labelled = strings.Cut(o.Brokers, "=")
	wrong := func(format string, a ...any) (values, error) {
		return v, fmt.Errorf("%w: %s", ErrOption, fmt.Sprintf(format, a...))
	}
	switch {
	case o.Agents < 1 || o.Agents > wire.MaxAgents:
		return wrong("%d agents; 1 to %d", o.Agents, wire.MaxAgents)
	case !nameSyntax.MatchString(o.Namespace):
		return wrong("a namespace is called %q; names have small letters, digits and hyphens, at most 63", o.Namespace)
	case o.Namespace == "default" || strings.HasPrefix(o.Namespace, "kube-"):
		return wrong("the namespace is %s; give the fleet one of its own, which is removed with it", o.Namespace)
	case !imageSyntax.MatchString(o.Image):
		return wrong("an image is called %q; it looks like registry/sixnines:VERSION", o.Image)
	case !labelled || !keySyntax.MatchString(v.BrokersKey) || !valueSyntax.MatchString(v.BrokersValue):
		return wrong("the brokers' label is %q; it looks like app.kubernetes.io/name=kafka", o.Brokers)
	case !quantitySyntax.MatchString(o.CPU):
		return wrong("%q of processors; it looks like 2 or 500m", o.CPU)
	case !quantitySyntax.MatchString(o.Memory):
		return wrong("%q of memory; it looks like 1Gi", o.Memory)
	}
	return v, nil
}

// Files returns the texts of the manifests by their names. Nothing in them is secret.
func Files(o Options) (map[string][]byte, error) {
	v, err := o.values()
	if err != nil {
		return nil, err
	}
	t, err := template.ParseFS(templates, "templates/*")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, part := range t.Templates() {
		if filepath.Ext(part.Name()) != ".yaml" {
			continue
		}
		var text bytes.Buffer
		if err := part.Execute(&text, v); err != nil {
			return nil, err
		}
		files[part.Name()] = text.Bytes()
	}
	if o.Scenario != nil {
		files["scenario.yaml"] = o.Scenario
	}
	return files, nil
}

// secrets is the directory of the fleet's keys in that of the manifests. Git ignores it.
const secrets = "secrets"

// Write writes the manifests and keys that are made for them into dir, which must be absent or empty. If it fails, dir is as
// it was.
func Write(dir string, o Options) error {
	files, err := Files(o)
	if err != nil {
		return err
	}
	files[".gitignore"] = []byte("/" + secrets + "/\n")
	there, err := os.ReadDir(dir)
	if err == nil && len(there) > 0 {
		return fmt.Errorf("write manifests into %s: %w", dir, fs.ErrExist)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".manifests-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	keys := filepath.Join(temp, secrets)
	v, _ := o.values() // checked by Files
	pin, err := control.MakeKeys(keys, "sixnines-control", "sixnines-control."+v.Namespace+".svc")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(keys, "pin"), []byte(pin), 0o600); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(temp, name), files[name], 0o644); err != nil {
			return err
		}
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return err
	}
	return os.Rename(temp, dir)
}
