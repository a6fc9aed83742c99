package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The cluster's addresses. It is in a network of its own.
const (
	apiAddress   = "10.200.0.254"
	services     = "10.96.0.0/16"
	firstService = "10.96.0.1"
	allPods      = "10.244.0.0/16"
	wire         = "wire" // the bridge between nodes and API
)

// cluster is a Kubernetes whose processes end with this one, which is process 1 of their namespace.
type cluster struct {
	dir     string // of this cluster alone
	program string // all parts of Kubernetes
	keys    *keys
	nodes   []*node
}

func (c *cluster) part(name string) string { return filepath.Join(c.dir, "bin", name) }

// start makes process name of this cluster, which logs to a file. It ends with the namespace of processes that it is in.
func start(dir, name string, args ...string) (*exec.Cmd, error) {
	log, err := os.Create(filepath.Join(dir, "log", name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := exec.Command(args[0], args[1:]...)
	p.Stdout, p.Stderr = log, log
	return p, p.Start()
}

// up starts the control plane and the nodes, and returns when all are ready.
func (c *cluster) up(ctx context.Context) error {
	began := time.Now()
	for _, dir := range []string{"bin", "log"} {
		if err := os.MkdirAll(filepath.Join(c.dir, dir), 0o755); err != nil {
			return err
		}
	}
	for _, part := range parts() {
		if err := os.Symlink(c.program, c.part(part)); err != nil {
			return err
		}
	}
	if err := c.place(ctx); err != nil {
		return err
	}
	var names []string
	for _, n := range c.nodes {
		names = append(names, n.Name)
	}
	var err error
	if c.keys, err = makeKeys(filepath.Join(c.dir, "keys"), apiAddress, names); err != nil {
		return err
	}
	if err := c.control(ctx); err != nil {
		return err
	}
	say("the API answers after %.1f s", time.Since(began).Seconds())
	for _, n := range c.nodes {
		if err := n.start(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	for _, n := range c.nodes {
		if err := c.until(ctx, time.Minute, func() bool {
			ready, err := c.kubectl(ctx, "get", "node", n.Name, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
			return err == nil && ready == "True"
		}); err != nil {
			return fmt.Errorf("%s is not ready: %w", n.Name, err)
		}
	}
	// Without it no pod is admitted.
	if err := c.until(ctx, time.Minute, func() bool {
		_, err := c.kubectl(ctx, "get", "serviceaccount", "default")
		return err == nil
	}); err != nil {
		return fmt.Errorf("there is no service account: %w", err)
	}
	say("%d nodes are ready after %.1f s", len(c.nodes), time.Since(began).Seconds())
	return nil
}

// place makes the file systems and the network in which the cluster runs. What the kubelets would change of the kernel for
// all processes they see as they want it.
func (c *cluster) place(ctx context.Context) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for name, value := range map[string]string{"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1"} {
		file := filepath.Join(c.dir, "sysctl-"+filepath.Base(name))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := syscall.Mount(file, "/proc/sys/"+name, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("lay a file over %s: %w", name, err)
		}
	}
	return ip(ctx, "link set lo up", "link add "+wire+" type bridge", "addr add "+apiAddress+"/24 dev "+wire, "link set "+wire+" up")
}

// ip runs commands of ip(8).
func ip(ctx context.Context, commands ...string) error {
	for _, c := range commands {
		if _, err := output(exec.CommandContext(ctx, "ip", strings.Fields(c)...)); err != nil {
			return err
		}
	}
	return nil
}

// control starts etcd and the control plane.
func (c *cluster) control(ctx context.Context) error {
	k := c.keys
	if _, err := start(c.dir, "etcd", c.part("etcd"), "--data-dir", filepath.Join(c.dir, "etcd"), "--unsafe-no-fsync", "--log-level", "warn",
		"--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
		"--listen-peer-urls", "http://127.0.0.1:2380", "--initial-advertise-peer-urls", "http://127.0.0.1:2380", "--initial-cluster", "default=http://127.0.0.1:2380"); err != nil {
		return err
	}
	api, err := start(c.dir, "kube-apiserver", c.part("kube-apiserver"), "--etcd-servers=http://127.0.0.1:2379",
		"--bind-address="+apiAddress, "--advertise-address="+apiAddress, "--secure-port=6443",
		"--tls-cert-file="+k.file("api.crt"), "--tls-private-key-file="+k.file("api.key"), "--cert-dir="+k.dir,
		"--token-auth-file="+k.file("tokens.csv"), "--authorization-mode=Node,RBAC", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+k.file("accounts.pub"), "--service-account-signing-key-file="+k.file("accounts.key"),
		"--service-cluster-ip-range="+services, "--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate="+k.file("kubelet-client.crt"), "--kubelet-client-key="+k.file("kubelet-client.key"), "--enable-priority-and-fairness=false")
	if err != nil {
		return err
	}
	if err := c.until(ctx, time.Minute, func() bool {
		_, err := c.kubectl(ctx, "get", "--raw", "/readyz")
		return err == nil
	}); err != nil {
		return fmt.Errorf("the API, process %d, does not answer: %w", api.Process.Pid, err)
	}
	if _, err := start(c.dir, "kube-controller-manager", c.part("kube-controller-manager"), "--kubeconfig="+k.kubeconfig("kube-controller-manager"),
		"--leader-elect=false", "--use-service-account-credentials", "--bind-address=127.0.0.1", "--cert-dir="+k.dir,
		"--service-account-private-key-file="+k.file("accounts.key"), "--root-ca-file="+k.file("ca.crt")); err != nil {
		return err
	}
	_, err = start(c.dir, "kube-scheduler", c.part("kube-scheduler"), "--kubeconfig="+k.kubeconfig("kube-scheduler"), "--leader-elect=false", "--bind-address=127.0.0.1", "--cert-dir="+k.dir)
	return err
}

// kubectl runs kubectl and returns what it prints.
func (c *cluster) kubectl(ctx context.Context, args ...string) (string, error) {
	p := exec.CommandContext(ctx, c.part("kubectl"), append([]string{"--kubeconfig", c.keys.kubeconfig("admin"), "--cache-dir", filepath.Join(c.dir, "kubectl")}, args...)...)
	out, err := output(p)
	return strings.TrimSpace(string(out)), err
}

var errTime = errors.New("it took too long")

// until waits until done returns true.
func (c *cluster) until(ctx context.Context, patience time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%w: longer than %s", errTime, patience))
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}
