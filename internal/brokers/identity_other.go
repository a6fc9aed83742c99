//go:build !linux

package brokers

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// startOf returns a word that distinguishes the process from any other that has had, or
// will have, its number: the second in which it was made. The error wraps
// [os.ErrNotExist] if there is no such process.
func startOf(pid int) (string, error) {
	if runtime.GOOS == "windows" {
		return "", fmt.Errorf("%w: telling one process from another", ErrUnavailable)
	}
	text, err := exec.Command("ps", "-o", "state=", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	state, start, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if start = strings.TrimSpace(start); start == "" || strings.HasPrefix(state, "Z") {
		if _, missing := err.(*exec.Error); missing {
			return "", err
		}
		return "", os.ErrNotExist
	}
	return start, nil
}

// bootOf returns an empty word here: startOf's calendar time distinguishes processes
// of different boots.
func bootOf() (string, error) { return "", nil }
