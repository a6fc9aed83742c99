// Command kube tries a fleet of Sixnines on a real Kubernetes, which it brings up on this machine for the trial: etcd, the
// control plane, kubelets and kube-proxies of the named version over Debian's containerd and runc, two nodes in namespaces of
// their own. A fleet measures a broker, an agent is deleted in mid-run of another fleet, and the results are checked. All
// of it is gone afterwards, which is checked, too. It needs Linux and root.
//
// What is built and unpacked once is kept below the user's cache directory: some 400 MB.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

// insideCommand makes this program process 1 of a namespace of its own, and pauseCommand what holds a pod's namespaces.
const (
	insideCommand = "inside"
	pauseCommand  = "pause"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		stop()
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

var errUsage = errors.New("wrong usage")

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case pauseCommand:
			<-ctx.Done()
			return nil
		case nodeCommand:
			return serveNode(ctx, args[1])
		case insideCommand:
			var t trial
			if err := json.Unmarshal([]byte(args[1]), &t); err != nil {
				return err
			}
			return t.inside(ctx)
		}
	}
	var t trial
	flags := flag.NewFlagSet("kube", flag.ContinueOnError)
	flags.StringVar(&t.Image, "image", "", "the release's image, an archive in OCI's layout")
	flags.StringVar(&t.Sixnines, "sixnines", "", "the program, for manifests and for checking results")
	flags.StringVar(&t.Out, "out", "", "the directory for results, manifests and, if the trial fails, logs")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if t.Image == "" || t.Sixnines == "" || t.Out == "" || flags.NArg() > 0 {
		return fmt.Errorf("%w: -image, -sixnines and -out are needed, and nothing but flags", errUsage)
	}
	if os.Getuid() != 0 {
		return errors.New("it makes namespaces, mounts and control groups: run it as root")
	}
	for _, path := range []*string{&t.Image, &t.Sixnines, &t.Out} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	return t.run(ctx)
}

// run makes what the trial needs and carries it out in namespaces of its own.
func (t *trial) run(ctx context.Context) (err error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	cache := filepath.Join(caches, "sixnines", "kube")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	lock, err := os.Create(filepath.Join(cache, "lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("another trial goes on: %w", err)
	}
	if t.Debian, err = runtimeOf(ctx, cache); err != nil {
		return err
	}
	if t.Kubernetes, err = kubernetes(ctx, cache); err != nil {
		return err
	}
	if t.Dir, err = os.MkdirTemp(cache, "run-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(t.Dir)) }()
	if err := os.RemoveAll(t.Out); err != nil {
		return err
	}
	if err := os.MkdirAll(t.Out, 0o755); err != nil {
		return err
	}
	before, err := machineNow(cache)
	if err != nil {
		return err
	}
	err = t.apart(ctx)
	after, looking := machineNow(cache)
	if looking == nil {
		looking = before.same(after)
	}
	if looking == nil {
		say("nothing is left: links, mounts, processes, control groups and kernel settings are as they were")
	}
	return errors.Join(err, looking)
}

// apart runs the trial as process 1 of a namespace, with whose end all of its processes, mounts and links end.
func (t *trial) apart(ctx context.Context) error {
	undo, err := makeCgroups()
	if err != nil {
		return err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return errors.Join(err, undo())
	}
	c := exec.CommandContext(ctx, "/proc/self/exe", insideCommand, string(text))
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL}
	err = c.Run()
	return errors.Join(err, undo())
}

func say(format string, v ...any) { fmt.Printf(format+"\n", v...) }

// output runs a command and returns what it prints. An error has what it said.
func output(c *exec.Cmd) ([]byte, error) {
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("%s: %w\n%s%s", filepath.Base(c.Path), err, out.Bytes(), errs.Bytes())
	}
	return out.Bytes(), nil
}
