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
	if start != "0" {
		for _, path := range Abandoned() {
			_ = os.RemoveAll(path) // one that cannot be removed stays: it may belong to another user
		}
	}
	return os.MkdirTemp("", fmt.Sprintf("sixnines-%s-%s-%d-%s-*", product, pid.Machine(), os.Getpid(), start))
}

// Abandoned returns the paths of directories of brokers whose process of this machine was killed before it could remove
// them, in order. They are in the directory for temporary files.
func Abandoned() (all []string) {
	paths, err := filepath.Glob(filepath.Join(os.TempDir(), "sixnines-*-"+pid.Machine()+"-*-*-*"))
	if err != nil {
		return nil
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
			all = append(all, path)
		}
	}
	return all
}
