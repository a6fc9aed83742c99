package main

import (
	"strings"
	"testing"
)

// What a trial leaves, and what it takes away, is named.
func TestTheMachineIsAsBefore(t *testing.T) {
	before := machine{"links": {"eth0"}, "mounts": {"/a"}, "kernel settings": {"kernel/panic=0"}}
	if err := before.same(machine{"links": {"eth0"}, "mounts": {"/a"}, "kernel settings": {"kernel/panic=0"}}); err != nil {
		t.Error(err)
	}
	err := before.same(machine{"links": {"eth0", "pods"}, "kernel settings": {"kernel/panic=10"}, "processes": {"/proc/7 runc"}})
	for _, want := range []string{"left over in links: pods", "gone from mounts: /a", "left over in kernel settings: kernel/panic=10", "gone from kernel settings: kernel/panic=0", "left over in processes: /proc/7 runc"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestTheImageIsTheReleases(t *testing.T) {
	if got := (&trial{Image: "/dist/sixnines_1.2.3_linux_amd64_oci.tar"}).image(); got != "localhost/sixnines:1.2.3_linux_amd64" {
		t.Error(got)
	}
}
