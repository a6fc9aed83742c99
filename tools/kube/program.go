package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// kubernetesVersion is the last minor version whose kubelet starts on cgroup v1 as it is.
const kubernetesVersion = "1.34.4"

//go:embed files/kubernetes.go.txt
var kubernetesSource []byte

// parts are what the program is, each by its name.
func parts() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl"}
}

// kubernetes returns the program with all parts of Kubernetes, which it builds in the cache if it is not there.
func kubernetes(ctx context.Context, cache string) (string, error) {
	dir := filepath.Join(cache, fmt.Sprintf("kubernetes-%s-%x", kubernetesVersion, sha256.Sum256(kubernetesSource))[:len("kubernetes-")+len(kubernetesVersion)+9])
	program := filepath.Join(dir, "kubernetes")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	say("building Kubernetes %s in %s: five minutes on two processors, once", kubernetesVersion, dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	mod, err := kubernetesModule(ctx, dir)
	if err != nil {
		return "", err
	}
	for name, text := range map[string][]byte{"go.mod": mod, "main.go": kubernetesSource} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return "", err
		}
	}
	const version = "k8s.io/component-base/version"
	minor := strings.Split(kubernetesVersion, ".")[1]
	flags := fmt.Sprintf("-s -w -X %[1]s.gitVersion=v%[2]s -X %[1]s.gitMajor=1 -X %[1]s.gitMinor=%[3]s -X %[1]s.gitTreeState=clean -X %[1]s.gitCommit=none", version, kubernetesVersion, minor)
	_, err = inModule(ctx, dir, "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", "kubernetes.new", ".")
	if err != nil {
		return "", err
	}
	return program, os.Rename(filepath.Join(dir, "kubernetes.new"), program)
}

// inModule runs Go in a directory that may have no go.mod yet, without the settings of the module that calls it.
func inModule(ctx context.Context, dir string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
	return output(c)
}

// kubernetesModule is a go.mod that requires what Kubernetes' own does. That one requires its staging modules at v0.0.0 and
// replaces them by directories of its repository; published they are at v0.MINOR.PATCH.
func kubernetesModule(ctx context.Context, dir string) ([]byte, error) {
	out, err := inModule(ctx, dir, "mod", "download", "-json", "k8s.io/kubernetes@v"+kubernetesVersion)
	if err != nil {
		return nil, err
	}
	var module struct{ GoMod string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	its, err := os.ReadFile(module.GoMod)
	if err != nil {
		return nil, err
	}
	staged := "v0." + strings.TrimPrefix(kubernetesVersion, "1.")
	var mod bytes.Buffer
	fmt.Fprintf(&mod, "module kubernetes\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v%s\n\n", kubernetesVersion)
	zero := regexp.MustCompile(`(?m)^(\tk8s\.io/[a-z-]+) v0\.0\.0( // indirect)?$`)
	for _, block := range regexp.MustCompile(`(?ms)^require \(.*?^\)`).FindAll(its, -1) {
		fmt.Fprintf(&mod, "%s\n\n", zero.ReplaceAll(block, []byte("$1 "+staged)))
	}
	mod.WriteString("replace (\n")
	for _, name := range regexp.MustCompile(`(?m)^\s+(k8s\.io/[a-z-]+) => \./staging`).FindAllSubmatch(its, -1) {
		fmt.Fprintf(&mod, "\t%s => %[1]s %s\n", name[1], staged)
	}
	mod.WriteString(")\n")
	return mod.Bytes(), nil
}
