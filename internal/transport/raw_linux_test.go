package transport

import (
	"testing"
	"time"
)

// A wall clock that was set between two reads does not produce a latency.
func TestStampAcrossAStep(t *testing.T) {
	c, other := pair(t)
	var s seen
	c.Observe(&s)
	p := make([]byte, 1)
	known := func() bool {
		_, _ = other.Write(p)
		if _, err := c.Read(p); err != nil {
			t.Fatal(err)
		}
		return s.waited.Load() >= 0
	}
	// The kernel takes a moment to switch its stamps on for the first socket.
	awaitKnown := func() {
		for deadline := time.Now().Add(10 * time.Second); !known(); {
			if time.Now().After(deadline) {
				t.Fatal("no read is known")
			}
		}
	}
	if known() {
		t.Error("the first read knows no step of the clock")
	}
	awaitKnown()
	c.raw.offset -= int64(time.Hour) // as if it had been set meanwhile
	if known() {
		t.Error("a step became a latency")
	}
	awaitKnown()
}
