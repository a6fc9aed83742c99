package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

//go:embed files
var files embed.FS

// node is a machine of the cluster: a network and file systems of its own, with containerd, a kubelet and kube-proxy.
type node struct {
	Name, Dir string
	IP, Pods  string // its address, and those of its pods
	Cgroup    string // the parent of its pods' control groups
	Debian    string
	Bin, Keys string
	Pause     string
	Images    []string          // archives
	Routes    map[string]string // by which address which pods of other nodes are reached
}

// Socket is where containerd listens.
func (n *node) Socket() string { return filepath.Join(n.Dir, "containerd.sock") }

// nodeCommand makes this program a node.
const nodeCommand = "node"

// start starts the node as a process, connects it to the others and returns when containerd has its images.
func (n *node) start(ctx context.Context, c *cluster) error {
	if err := os.MkdirAll(filepath.Join(n.Dir, "log"), 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	p := exec.Command("/proc/self/exe", nodeCommand, string(text))
	p.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET}
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	if err := ip(ctx, fmt.Sprintf("link add %s type veth peer name eth0 netns %d", n.Name, p.Process.Pid), fmt.Sprintf("link set %s master %s up", n.Name, wire),
		fmt.Sprintf("route add %s via %s", n.Pods, n.IP)); err != nil {
		return err
	}
	if _, err := in.Write([]byte{1}); err != nil { // the wire is there
		return err
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		return fmt.Errorf("it did not come up, see %s: %w", filepath.Join(n.Dir, "log"), err)
	}
	return nil
}

// serveNode is the process of a node, which ends with the namespace of processes that it is in. It does not end with what its parent
// has of it, such as a pipe: the garbage collector closes what nobody holds.
func serveNode(ctx context.Context, text string) error {
	var n node
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return err
	}
	if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
		return err
	}
	if err := n.up(ctx); err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	if _, err := os.Stdout.Write([]byte{1}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (n *node) up(ctx context.Context) error {
	if err := n.place(ctx); err != nil {
		return err
	}
	libraries, err := filepath.Glob(filepath.Join(n.Debian, "usr/lib/*-linux-gnu"))
	if err != nil {
		return err
	}
	if len(libraries) != 1 {
		return fmt.Errorf("%s has %d directories of libraries", n.Debian, len(libraries))
	}
	for _, v := range [][2]string{{"PATH", n.Debian + "/usr/sbin:" + n.Debian + "/usr/bin:" + os.Getenv("PATH")},
		{"LD_LIBRARY_PATH", libraries[0]}, {"XTABLES_LIBDIR", libraries[0] + "/xtables"}} {
		if err := os.Setenv(v[0], v[1]); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{"containerd.toml": "containerd.toml", "cni.conflist": "cni/10-pods.conflist", "kubelet.yaml": "kubelet.yaml"} {
		if err := fill(name, filepath.Join(n.Dir, to), n); err != nil {
			return err
		}
	}
	if _, err := start(n.Dir, "containerd", filepath.Join(n.Debian, "usr/bin/containerd"), "-c", filepath.Join(n.Dir, "containerd.toml")); err != nil {
		return err
	}
	if err := (&cluster{}).until(ctx, time.Minute, func() bool { return n.ctr(ctx, "version") == nil }); err != nil {
		return fmt.Errorf("containerd does not answer: %w", err)
	}
	for _, archive := range n.Images {
		if err := n.ctr(ctx, "-n", "k8s.io", "images", "import", "--base-name", imageName, archive); err != nil {
			return err
		}
	}
	user := filepath.Join(n.Keys, n.Name+".kubeconfig")
	if _, err := start(n.Dir, "kubelet", filepath.Join(n.Bin, "kubelet"), "--config="+filepath.Join(n.Dir, "kubelet.yaml"), "--kubeconfig="+user,
		"--root-dir="+filepath.Join(n.Dir, "kubelet"), "--hostname-override="+n.Name, "--node-ip="+n.IP); err != nil {
		return err
	}
	_, err = start(n.Dir, "kube-proxy", filepath.Join(n.Bin, "kube-proxy"), "--kubeconfig="+filepath.Join(n.Keys, "kube-proxy.kubeconfig"), "--hostname-override="+n.Name,
		"--proxy-mode=iptables", "--masquerade-all", "--cluster-cidr="+allPods, "--bind-address="+n.IP,
		"--metrics-bind-address="+n.IP+":10249", "--healthz-bind-address="+n.IP+":10256", "--conntrack-max-per-core=0")
	return err
}

// place makes the node's network and file systems. What it writes to /run is gone with it, and what it writes to /var is in
// its directory.
func (n *node) place(ctx context.Context) error {
	commands := []string{"link set lo up", "addr add " + n.IP + "/24 dev eth0", "link set eth0 up", "route add default via " + apiAddress}
	for pods, via := range n.Routes {
		commands = append(commands, "route add "+pods+" via "+via)
	}
	if err := ip(ctx, commands...); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return err
	}
	upper, work := filepath.Join(n.Dir, "var"), filepath.Join(n.Dir, "var-work")
	for _, dir := range []string{upper, work, filepath.Join(n.Dir, "cni")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	if err := os.Mkdir("/run/netns", 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("overlay", "/var", "overlay", 0, "lowerdir=/var,upperdir="+upper+",workdir="+work); err != nil {
		return fmt.Errorf("mount /var: %w", err)
	}
	// Containers see the mounts that the kubelet makes for them later.
	for _, at := range []string{"/run", n.Dir} {
		if at == n.Dir {
			if err := syscall.Mount(at, at, "", syscall.MS_BIND, ""); err != nil {
				return err
			}
		}
		if err := syscall.Mount("", at, "", syscall.MS_REC|syscall.MS_SHARED, ""); err != nil {
			return fmt.Errorf("share %s: %w", at, err)
		}
	}
	return nil
}

func (n *node) ctr(ctx context.Context, args ...string) error {
	_, err := output(exec.CommandContext(ctx, filepath.Join(n.Debian, "usr/bin/ctr"), append([]string{"-a", n.Socket()}, args...)...))
	return err
}
