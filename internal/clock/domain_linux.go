package clock

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// boot returns the boot id, false where it cannot be known.
func boot() (string, bool) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	id := strings.TrimSpace(string(b))
	return id, err == nil && id != ""
}

// sharedDomain returns the domain's name, false where it cannot be known.
func sharedDomain() (string, bool) {
	id, ok := boot()
	if !ok {
		return "", false
	}
	ns, err := os.Readlink("/proc/self/ns/time")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		ns = "time:[none]" // a kernel without time namespaces: nothing to differ in
	case err != nil:
		return "", false
	}
	return "boot:" + id + " " + ns, true
}
