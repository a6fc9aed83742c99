package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// packages are Debian's packages of the container runtime and of what kube-proxy calls.
func packages() []string {
	return strings.Fields(`containerd runc containernetworking-plugins iptables libip4tc2 libip6tc2 libxtables12
		libnetfilter-conntrack3 libnfnetlink0 libnftnl11 libmnl0 libseccomp2 conntrack nftables libnftables1 libjansson4 libedit2 libbsd0 libmd0`)
}

// runtime returns a directory with containerd, runc, the CNI plugins and iptables, unpacked from Debian's packages. Nothing
// is installed.
func runtimeOf(ctx context.Context, cache string) (string, error) {
	dir := filepath.Join(cache, "debian")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	say("unpacking Debian's containerd, runc, CNI plugins and iptables in %s", dir)
	temp, err := os.MkdirTemp(cache, "debian-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	root := filepath.Join(temp, "root")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	download := exec.CommandContext(ctx, "apt-get", append([]string{"download", "-o", "APT::Sandbox::User=root"}, packages()...)...)
	download.Dir = temp
	if _, err := output(download); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(temp, "*.deb"))
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if _, err := output(exec.CommandContext(ctx, "dpkg", "-x", file, root)); err != nil {
			return "", err
		}
	}
	for _, name := range strings.Fields("iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore") {
		link := filepath.Join(root, "usr/sbin", name)
		if err := os.RemoveAll(link); err != nil {
			return "", err
		}
		if err := os.Symlink("xtables-legacy-multi", link); err != nil {
			return "", err
		}
	}
	return dir, os.Rename(root, dir)
}
