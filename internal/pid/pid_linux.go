package pid

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Start returns a word that distinguishes the process from any other that has had, or
// will have, its number since the machine was started: the instant it was made.
// The error wraps [os.ErrNotExist] if there is no such process, or only a zombie.
func Start(number int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", number))
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrNotExist
	}
	if err != nil {
		return "", err
	}
	state, started, err := parseStat(text)
	if err != nil {
		return "", err
	}
	if state == 'Z' || state == 'X' {
		return "", os.ErrNotExist
	}
	return strconv.FormatInt(started, 10), nil
}

// parseStat returns two fields of /proc/PID/stat, see proc_pid_stat(5): the state, and when the process
// was made, in ticks since the machine was started.
func parseStat(text []byte) (state byte, started int64, err error) {
	// The second field is the program's name in parentheses, which may itself hold spaces and
	// parentheses; the fields after it begin with the third.
	end := bytes.LastIndexByte(text, ')')
	fields := bytes.Fields(text[end+1:])
	if end < 0 || len(fields) < 22-2 || len(fields[0]) != 1 {
		return 0, 0, fmt.Errorf("%q is not what /proc/PID/stat holds", text)
	}
	if started, err = strconv.ParseInt(string(fields[22-3]), 10, 64); err != nil {
		return 0, 0, fmt.Errorf("field 22 of /proc/PID/stat: %w", err)
	}
	return fields[0][0], started, nil
}

// Boot returns a word that distinguishes one start of the machine from the next.
func Boot() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}
