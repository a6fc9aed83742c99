// Package hunttest says how much a test that draws cases at random draws: a sample in
// continuous integration, and a whole night's under make hunt.
package hunttest

import (
	"os"
	"strconv"
	"testing"
)

// Variable is the environment's name for how many cases a hunt draws.
const Variable = "SIXNINES_HUNT"

// Cases returns how many cases to draw: few, or the number that the environment sets,
// most of them at most. most 0 is no limit. It fails the test where the environment has
// no number.
func Cases(t testing.TB, few, most int) int {
	t.Helper()
	text := os.Getenv(Variable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number of cases", Variable, text)
	}
	if most > 0 {
		n = min(n, most)
	}
	return max(n, few)
}
