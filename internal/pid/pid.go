// Package pid tells processes apart. The system gives the number of a process that has ended to
// another one, so a file that holds a number also holds the process's start time, and
// in which start of the machine.
package pid

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime"
)

// ErrUnavailable says that this operating system does not support the operation.
var ErrUnavailable = errors.New("not available on " + runtime.GOOS)

// Alive reports whether the process has not ended and is the one for which [Start] returned start in
// this start of the machine, not a later one with its number.
func Alive(number int, start string) bool {
	is, err := Start(number)
	return err == nil && is == start
}

// Machine returns a word that identifies the numbers in use: this start of this host, or of a
// container on it.
func Machine() string {
	host, _ := os.Hostname()
	boot, _ := Boot()
	return fmt.Sprintf("%.4x", sha256.Sum256([]byte(host+"\n"+boot+"\n"+Space())))
}

// Space returns the namespace that numbers of processes are of, as /proc names it; an empty word where
// the system has no such namespaces.
func Space() string {
	space, _ := os.Readlink("/proc/self/ns/pid")
	return space
}
