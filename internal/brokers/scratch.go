package brokers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sixnines/internal/pid"
)

// scratch makes a temporary directory for a broker that ends with this process.
// It also removes the directories of processes that were killed before they could
// do so. The name identifies the owner:
//
//	sixnines-PRODUCT-MACHINE-PID-START-RANDOM
//
// MACHINE identifies the boot and the PID namespace, so that a directory of a
// process that is not visible from here is never removed.
func scratch(product string) (string, error) {
	start, err := pid.Start(os.Getpid())
	if err != nil {
		start = "0" // start times are not available, so abandoned directories stay
	}
	start = strings.NewReplacer(" ", "", ":", "", "-", "").Replace(start)
	machine := pid.Machine()
	if start != "0" {
		sweep(os.TempDir(), machine)
	}
	return os.MkdirTemp("", fmt.Sprintf("sixnines-%s-%s-%d-%s-*", product, machine, os.Getpid(), start))
}

// sweep removes the directories of processes of this machine that have ended. A
// directory that cannot be removed stays: it may belong to another user.
func sweep(dir, machine string) {
	paths, err := filepath.Glob(filepath.Join(dir, "sixnines-*-"+machine+"-*-*-*"))
	if err != nil {
		return
	}
	for _, path := range paths {
		words := strings.Split(filepath.Base(path), "-")
		number, err := strconv.Atoi(words[len(words)-3])
		if err != nil || number <= 1 {
			continue
		}
		start, err := pid.Start(number)
		if err != nil && !isGone(err) {
			continue
		}
		if err != nil || strings.NewReplacer(" ", "", ":", "", "-", "").Replace(start) != words[len(words)-2] {
			os.RemoveAll(path)
		}
	}
}
