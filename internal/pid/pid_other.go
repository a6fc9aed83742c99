//go:build !linux

package pid

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Start returns a word that distinguishes the process from any other that has had, or
// will have, its number: the second in which it was made. The error wraps
// [os.ErrNotExist] if there is no such process.
func Start(number int) (string, error) {
	if runtime.GOOS == "windows" {
		return "", fmt.Errorf("%w: telling one process from another", ErrUnavailable)
	}
	text, err := exec.Command("ps", "-o", "state=", "-o", "lstart=", "-p", strconv.Itoa(number)).Output()
	state, start, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if start = strings.TrimSpace(start); start == "" || strings.HasPrefix(state, "Z") {
		if _, missing := err.(*exec.Error); missing {
			return "", err
		}
		return "", os.ErrNotExist
	}
	return start, nil
}

// Boot returns an empty word here: Start's calendar time distinguishes processes
// of different boots.
func Boot() (string, error) { return "", nil }
