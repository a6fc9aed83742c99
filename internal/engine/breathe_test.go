package engine

import (
	"testing"

	"sixnines/internal/clock"
)

// A thread that has worked for long gives way and then works on, but not for ever.
func TestBreath(t *testing.T) {
	soon := clock.Now() + 1e9 // it has not begun, however slow the machine is
	b := breath{soon, soon}
	if b.take(); b.since != soon {
		t.Error("it gave way at once")
	}
	now := clock.Now()
	b.since = now - 2*atOnceNs
	if b.take(); b.since < now+giveWayNs {
		t.Errorf("it worked on %d ns later, want at least %d", b.since-now, giveWayNs)
	}
	late := clock.Now() - breathMost
	b = breath{late, late}
	if b.take(); b.since != late {
		t.Error("it gave way though it has taken long")
	}
}
