package kit

import (
	"context"
	"errors"
	"testing"

	"sixnines/driver"
)

func TestGate(t *testing.T) {
	calls, running, leave := 0, make(chan struct{}), make(chan struct{})
	g := NewGate(func(driver.Message) {
		calls++
		close(running)
		<-leave
	})
	go g.Deliver(driver.Message{})
	<-running
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Shut(over); !errors.Is(err, driver.ErrTimeout) {
		t.Errorf("shut while a call runs: %v", err)
	}
	close(leave)
	if err := g.Shut(t.Context()); err != nil {
		t.Error(err)
	}
	if g.Deliver(driver.Message{}) || calls != 1 {
		t.Errorf("%d calls", calls)
	}
}
