package schedule

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxTrace is the largest number of instants of a trace in a window. They are kept
// in memory, 8 bytes each.
const maxTrace = 1 << 25

// maxTraceLine is longer than any instant.
const maxTraceLine = 4096

// readTrace reads the instants in [0, window) from the named file.
func readTrace(name string, window time.Duration) ([]int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	return parseTrace(name, f, window)
}

// parseTrace reads instants, one a line, as nanoseconds or as a duration with
// its unit ("1.5ms"), ascending; equal ones are due together. Empty lines and
// lines that begin with # are skipped. Reading ends at the first instant that
// is not in [0, window). Errors begin with name:line.
func parseTrace(name string, r io.Reader, window time.Duration) ([]int64, error) {
	var instants []int64
	last := int64(0)
	line := 0
	fail := func(format string, args ...any) error {
		return fmt.Errorf("trace: %s:%d: %s", name, line, fmt.Sprintf(format, args...))
	}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, maxTraceLine), maxTraceLine)
	for in.Scan() {
		line++
		text := strings.TrimSpace(in.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		t, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			d, err := time.ParseDuration(text)
			if err != nil {
				return nil, fail("%.40q is not an instant: write nanoseconds, or a number with its unit such as 1.5ms", text)
			}
			t = int64(d)
		}
		switch {
		case t < 0:
			return nil, fail("the instant %s lies before the window's start", text)
		case t < last:
			return nil, fail("the instant %s comes after a later one (%s): sort the file", text, time.Duration(last))
		case t >= int64(window):
			return instants, nil
		case len(instants) == maxTrace:
			return nil, fail("more than %d instants in the window: shorten it or divide the trace", maxTrace)
		}
		last = t
		instants = append(instants, t)
	}
	if err := in.Err(); err != nil {
		line++
		if errors.Is(err, bufio.ErrTooLong) {
			return nil, fail("the line is longer than %d bytes", maxTraceLine)
		}
		return nil, fail("%v", err)
	}
	return instants, nil
}
