package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// machine is what of this machine a trial must leave as it was, each by its name.
type machine map[string][]string

// machineNow looks at the machine. Of its links, mounts and processes only those are there that can be a cluster's, whose
// files are in cache: others come and go.
func machineNow(cache string) (machine, error) {
	m := machine{}
	links, err := output(exec.Command("ip", "-brief", "link"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(links)) {
		name, _, _ := strings.Cut(strings.Fields(line)[0], "@")
		if name == wire || name == "pods" || slices.Contains(nodeNames(), name) {
			m["links"] = append(m["links"], name)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, cache) || strings.Contains(line, cgroupName) {
			m["mounts"] = append(m["mounts"], strings.TrimSpace(line))
		}
	}
	for _, name := range []string{"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "net/ipv4/ip_forward"} {
		value, err := os.ReadFile("/proc/sys/" + name)
		if err != nil {
			return nil, err
		}
		m["kernel settings"] = append(m["kernel settings"], name+"="+strings.TrimSpace(string(value)))
	}
	if m["control groups"], err = filepath.Glob(cgroups + "/*/" + cgroupName); err != nil {
		return nil, err
	}
	programs, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return nil, err
	}
	for _, exe := range programs {
		program, err := os.Readlink(exe)
		if err != nil {
			continue // it has ended, or is the kernel's
		}
		if name := filepath.Base(program); slices.Contains([]string{"kubernetes", "containerd", "containerd-shim-runc-v2", "runc"}, name) {
			m["processes"] = append(m["processes"], strings.TrimSuffix(exe, "/exe")+" "+name)
		}
	}
	return m, nil
}

// same returns an error that names what is different in after.
func (m machine) same(after machine) error {
	var all []error
	for _, what := range []string{"links", "mounts", "kernel settings", "control groups", "processes"} {
		for _, x := range after[what] {
			if !slices.Contains(m[what], x) {
				all = append(all, fmt.Errorf("left over in %s: %s", what, x))
			}
		}
		for _, x := range m[what] {
			if !slices.Contains(after[what], x) {
				all = append(all, fmt.Errorf("gone from %s: %s", what, x))
			}
		}
	}
	return errors.Join(all...)
}

// cgroups is where control groups are, and cgroupName the parent of all that nodes make.
const (
	cgroups    = "/sys/fs/cgroup"
	cgroupName = "sixnines-kube"
)

// makeCgroups makes the parents of the nodes' control groups, one in each hierarchy. undo removes them with all below.
func makeCgroups() (undo func() error, err error) {
	hierarchies, err := filepath.Glob(cgroups + "/*/cgroup.procs")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(cgroups + "/cgroup.controllers"); err == nil {
		hierarchies = []string{cgroups + "/cgroup.procs"} // version 2
	}
	var made []string
	undo = func() error {
		var all []error
		for _, dir := range made {
			all = append(all, removeCgroup(dir))
		}
		return errors.Join(all...)
	}
	for _, h := range hierarchies {
		dir := filepath.Join(filepath.Dir(h), cgroupName)
		if err := removeCgroup(dir); err != nil { // that of a trial that was killed
			return nil, errors.Join(err, undo())
		}
		made = append(made, dir)
		for _, n := range nodeNames() {
			if err := os.MkdirAll(filepath.Join(dir, n), 0o755); err != nil {
				return nil, errors.Join(err, undo())
			}
			// Without them no process can be put into a group of this hierarchy.
			for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
				if err := inherit(filepath.Dir(h), []string{cgroupName, n}, name); err != nil {
					return nil, errors.Join(err, undo())
				}
			}
		}
	}
	return undo, nil
}

// inherit gives control groups below each other the value of the first one's parent, where that has one.
func inherit(parent string, below []string, name string) error {
	value, err := os.ReadFile(filepath.Join(parent, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, b := range below {
		parent = filepath.Join(parent, b)
		if err := os.WriteFile(filepath.Join(parent, name), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeCgroup removes a control group and those below it. Processes that have just ended may still be in them.
func removeCgroup(dir string) error {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var groups []string
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				groups = append(groups, path)
			}
			return err
		})
		if errors.Is(err, fs.ErrNotExist) && len(groups) == 0 {
			return nil
		}
		slices.Reverse(groups)
		for _, g := range groups {
			err = errors.Join(err, syscall.Rmdir(g))
		}
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("control groups below %s cannot be removed: %w", dir, err)
		}
	}
}
