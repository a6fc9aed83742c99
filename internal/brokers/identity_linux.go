package brokers

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// startOf returns a word that distinguishes the process from any other that has had, or
// will have, its number since the machine was started: the instant it was made.
// The error wraps [os.ErrNotExist] if there is no such process, or only a zombie.
func startOf(pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrNotExist
	}
	if err != nil {
		return "", err
	}
	s, err := parseStat(text)
	if err != nil {
		return "", err
	}
	if s.state == 'Z' || s.state == 'X' {
		return "", os.ErrNotExist
	}
	return strconv.FormatInt(s.started, 10), nil
}

// bootOf returns a word that distinguishes one start of the machine from the next.
func bootOf() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}
