package kit

import (
	"errors"
	"sync"
	"testing"
)

// TestOneOfTheTwo lets a sender and the end of its connection race for each
// message: exactly one of the two must get it, and the payload is the sender's
// until then, which the race detector watches.
func TestOneOfTheTwo(t *testing.T) {
	var m Mark
	lost := errors.New("lost")
	for tag := uint64(1); tag <= 5000; tag++ {
		payload := []byte("payload")
		resolved := 0
		m.Begin(tag)
		var ended sync.WaitGroup
		ended.Go(func() {
			if !m.Leave(tag, lost) {
				payload[0]++
				resolved++
			}
		})
		_ = string(payload)
		why := m.End(tag)
		if why == nil {
			ended.Wait() // it resolves the message, or has found it answered
		} else {
			payload[0]++
			resolved++
			ended.Wait()
		}
		if resolved != 1 || why != nil && why != lost {
			t.Fatalf("message %d: resolved %d times, %v", tag, resolved, why)
		}
	}
}

func TestLeavesNothingElse(t *testing.T) {
	var m Mark
	if m.Leave(1, errors.New("lost")) {
		t.Error("left without a Send")
	}
	m.Begin(2)
	if m.Leave(1, errors.New("lost")) {
		t.Error("another message was left")
	}
	if err := m.End(2); err != nil {
		t.Error(err)
	}
}
