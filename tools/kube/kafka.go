package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// kafkaAddress is where clients reach the Kafka: an address of [services].
const kafkaAddress = "10.96.0.92"

// program is a directory of this machine that a pod has.
type program struct {
	Name string // of the volume
	Here string // on this machine
	In   string // in the pod
}

// kafka starts a Kafka beside the other broker, from what this machine has installed, and returns its address.
func (t *trial) kafka(ctx context.Context, c *cluster) (string, error) {
	value := struct {
		Image, Address, Java string
		Programs             []program
	}{Image: t.image(), Address: kafkaAddress}
	dir, err := t.installed(ctx, "kafka")
	if err != nil {
		return "", err
	}
	path, err := exec.LookPath("java")
	if err == nil {
		value.Java, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("java: %w: install it with make brokers", err)
	}
	value.Programs = []program{{"usr", "/usr", "/usr"}, {"lib", "/usr/lib", "/lib"}, {"lib64", "/usr/lib64", "/lib64"}, {"kafka", dir, "/kafka"}}
	settings, err := filepath.Glob("/etc/java-*") // of Debian's packages, which the machine's directories lead to
	if err != nil {
		return "", err
	}
	for i, s := range settings {
		value.Programs = append(value.Programs, program{fmt.Sprintf("java-%d", i), s, s})
	}
	if err := c.apply(ctx, "kafka.yaml", value); err != nil {
		return "", err
	}
	_, err = c.kubectl(ctx, "-n", "brokers", "wait", "--for=condition=Ready", "pod/kafka", "--timeout=120s")
	return kafkaAddress, err
}

// installed returns the directory of a broker that make brokers has installed.
func (t *trial) installed(ctx context.Context, name string) (string, error) {
	text, err := output(exec.CommandContext(ctx, t.Sixnines, "broker", "list", "--json"))
	if err != nil {
		return "", err
	}
	var all []struct{ Name, Path string }
	if err := json.Unmarshal(text, &all); err != nil {
		return "", err
	}
	for _, b := range all {
		if b.Name == name && b.Path != "" {
			return b.Path, nil
		}
	}
	return "", errors.New(name + " is not installed: run make brokers")
}
