package rabbitmq_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// A broker that is short of memory or disk answers no publish. That is told at
// once, and what was made until then can still be removed.
func TestAlarm(t *testing.T) {
	if testing.Short() {
		t.Skip("a broker of its own takes long to start")
	}
	b := &broker{brokertest.Start(t, "rabbitmq", brokers.Options{User: user, Password: password, Settings: map[string]string{"vm_memory_high_watermark.absolute": "1MB"}})}
	topology := driver.Topology{Topics: []string{"t0"}, MaxSize: 100}
	var err error
	for range 100 { // the broker looks at its memory now and then
		s := b.open(t, nil, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		_, err = s.Provision(ctx, topology)
		cancel()
		if e := s.Deprovision(t.Context()); e != nil {
			t.Fatalf("the broker is left with what was made: %v", e)
		}
		if err != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !errors.Is(err, driver.ErrThrottled) || !strings.Contains(err.Error(), "memory") {
		t.Errorf("with an alarm: %v", err)
	}
}

// A broker since 3.0 refuses immediate messages by closing the connection. That is
// told before the run, and not by the loss of each connection in it.
func testImmediate(t *testing.T, b *broker) {
	s := b.open(t, map[string]any{"immediate": true}, nil)
	_, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: 100})
	if !errors.Is(err, driver.ErrUnsupported) || !strings.Contains(err.Error(), "immediate") {
		t.Error(err)
	}
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
}
