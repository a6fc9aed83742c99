package vitals

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
)

// tracking is chrony's state of the system clock: chronyc -c tracking.
type tracking struct {
	stratum int
	offset  time.Duration // of the system's clock from chrony's estimate
	bound   time.Duration // of the error of offset: root dispersion + half the root delay
	leap    string        // "Normal", or "Not synchronised"
}

// synchronised reports whether chrony follows any source.
func (t tracking) synchronised() bool { return t.leap != "Not synchronised" }

// String describes it in a line.
func (t tracking) String() string {
	if !t.synchronised() {
		return "not synchronised"
	}
	return fmt.Sprintf("stratum %d, off by %s, within %s", t.stratum, spell.Duration(t.offset), spell.Duration(t.bound))
}

// chronyLimit bounds the wait for chrony's answer, which comes over a local socket.
const chronyLimit = time.Second

// askChrony runs chronyc. It returns an error if that is not installed or does not answer.
func askChrony() (tracking, error) {
	file, err := exec.LookPath("chronyc")
	if err != nil {
		return tracking{}, errors.New("chronyc is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), chronyLimit)
	defer cancel()
	text, err := exec.CommandContext(ctx, file, "-c", "tracking").Output()
	if err != nil {
		return tracking{}, fmt.Errorf("chronyc -c tracking: %w", err)
	}
	return parseTracking(string(text))
}

// parseTracking reads the comma-separated line: reference, its address, stratum,
// reference time, offset of the system's clock, last offset, its root mean
// square, frequency, residual, skew, root delay, root dispersion, update
// interval, leap status (chronyc(1)).
func parseTracking(text string) (tracking, error) {
	column := strings.Split(strings.TrimSpace(text), ",")
	if len(column) != 14 {
		return tracking{}, fmt.Errorf("chronyc: %d columns instead of 14", len(column))
	}
	stratum, err := strconv.Atoi(column[2])
	if err != nil {
		return tracking{}, fmt.Errorf("chronyc: stratum %q is not a number", column[2])
	}
	var seconds [3]float64
	for i, n := range []int{4, 10, 11} {
		if seconds[i], err = strconv.ParseFloat(column[n], 64); err != nil {
			return tracking{}, fmt.Errorf("chronyc: column %d, %q, is not a number", n+1, column[n])
		}
	}
	second := float64(time.Second)
	return tracking{stratum: stratum, offset: time.Duration(seconds[0] * second),
		bound: time.Duration((seconds[1]/2 + seconds[2]) * second), leap: column[13]}, nil
}
