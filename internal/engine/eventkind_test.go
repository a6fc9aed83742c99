package engine

import (
	"slices"
	"testing"

	"sixnines/driver"
	"sixnines/result"
)

// Each kind of event that a driver reports has a name that package result knows.
func TestDriversEventsAreThoseOfResults(t *testing.T) {
	n := 0
	for kind := driver.Disconnected; kind.String() != "unknown"; kind++ {
		n++
		if !slices.ContainsFunc(result.Events(), func(p result.EventProperties) bool { return string(p.Kind) == kind.String() }) {
			t.Errorf("result.Events has no row for %q", kind)
		}
	}
	if n != int(driver.GivenUp) {
		t.Errorf("%d kinds have a name, and the last is %d", n, driver.GivenUp)
	}
}
