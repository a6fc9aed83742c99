package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// trial is what is tried. Paths are absolute.
type trial struct {
	Image      string // archive with the release's image
	Sixnines   string // the program
	Out        string // for results
	Dir        string // of the cluster, gone afterwards
	Kubernetes string // the program with all parts
	Debian     string // containerd, runc and the like
}

// image is the name that the release's image gets.
func (t *trial) image() string {
	name := strings.TrimSuffix(filepath.Base(t.Image), "_oci.tar")
	return imageName + ":" + strings.TrimPrefix(name, "sixnines_")
}

func nodeNames() []string { return []string{"node-1", "node-2"} }

// inside is the trial as process 1 of its namespace.
func (t *trial) inside(ctx context.Context) (err error) {
	pause := filepath.Join(t.Dir, "pause.tar")
	if err := writePause(pause); err != nil {
		return err
	}
	c := &cluster{dir: t.Dir, program: t.Kubernetes}
	for i, name := range nodeNames() {
		c.nodes = append(c.nodes, &node{Name: name, Dir: filepath.Join(t.Dir, name), IP: fmt.Sprintf("10.200.0.%d", i+1), Pods: fmt.Sprintf("10.244.%d.0/24", i+1),
			Cgroup: "/" + cgroupName + "/" + name, Debian: t.Debian, Bin: filepath.Join(t.Dir, "bin"), Keys: filepath.Join(t.Dir, "keys"),
			Pause: pauseImage, Images: []string{pause, t.Image}, Routes: map[string]string{}})
	}
	for _, n := range c.nodes {
		for _, other := range c.nodes {
			if other != n {
				n.Routes[other.Pods] = other.IP
			}
		}
	}
	defer func() {
		if err != nil {
			c.keepLogs(context.WithoutCancel(ctx), filepath.Join(t.Out, "logs"))
		}
	}()
	if err := c.up(ctx); err != nil {
		return err
	}
	return t.fleets(ctx, c)
}

// keepLogs copies what the processes of the cluster and of the fleet's pods said.
func (c *cluster) keepLogs(ctx context.Context, to string) {
	dirs := map[string]string{"control": c.dir}
	for _, n := range c.nodes {
		dirs[n.Name] = n.Dir
	}
	for name, dir := range dirs {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(dir, "log"))); err != nil {
			say("the logs of %s are not kept: %v", name, err)
		}
	}
	for _, of := range []string{namespace, "brokers"} {
		pods, err := c.kubectl(ctx, "-n", of, "get", "pods", "-o", "jsonpath={.items[*].metadata.name}")
		if err != nil {
			return // the API does not answer
		}
		for _, pod := range strings.Fields(pods) {
			log, err := c.kubectl(ctx, "-n", of, "logs", pod, "--all-containers")
			if err == nil {
				err = os.WriteFile(filepath.Join(to, pod+".log"), []byte(log), 0o644)
			}
			if err != nil {
				say("the log of %s is not kept: %v", pod, err)
			}
		}
	}
	say("logs are in %s", to)
}
