// Package beat finds servers that are gone without having said so, by what
// RabbitMQ's protocols have for it: each side writes at least a heartbeat in an
// interval that both have agreed on.
package beat

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Agree returns the interval that follows from what this side asks for, 0: none,
// and what the server offers, 0: it has no opinion. It is in whole seconds, of
// which the protocols count.
func Agree(asked, offered time.Duration) time.Duration {
	if asked <= 0 {
		return 0
	}
	agreed := max(asked.Truncate(time.Second), time.Second)
	if offered > 0 {
		agreed = min(agreed, offered)
	}
	return agreed
}

// Monitor is told by the goroutine that reads a connection what comes from the
// server. The zero value has seen nothing.
type Monitor struct {
	frames  atomic.Uint64 // that have come
	handing atomic.Bool   // one is being dealt with
}

// Came tells that a frame has come. Until Rest is called the server is not to
// the cause if nothing follows: whoever takes what came delays it.
func (m *Monitor) Came() {
	m.frames.Add(1)
	m.handing.Store(true)
}

// Rest tells that what has come is dealt with and more is awaited.
func (m *Monitor) Rest() { m.handing.Store(false) }

// Watch calls beat, to write a heartbeat, twice in each interval. It returns nil
// when stop is closed, and an error when the server has been silent for two
// intervals. The interval is not 0.
func (m *Monitor) Watch(interval time.Duration, stop <-chan struct{}, beat func()) error {
	tick := time.NewTicker(interval / 2)
	defer tick.Stop()
	silent, seen := 0, m.frames.Load()
	for {
		select {
		case <-stop:
			return nil
		case <-tick.C:
		}
		if now := m.frames.Load(); now != seen || m.handing.Load() {
			silent, seen = 0, now
		} else if silent++; silent >= 4 {
			return fmt.Errorf("no heartbeat from the server in %v", 2*interval)
		}
		beat()
	}
}
