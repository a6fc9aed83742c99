package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
)

// rounds is a driver that acknowledges nothing, and whose round trips fail from the
// second on.
type rounds struct {
	stuck
	n atomic.Int64
}

func (d *rounds) Open(context.Context, driver.Target) (driver.Session, error) { return d, nil }
func (d *rounds) Producer(_ context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &rounder{of: d, acks: a}, nil
}

type rounder struct {
	closer
	of   *rounds
	acks driver.Acks
}

func (p *rounder) Send(token uint64, _ []byte) error {
	p.acks.Done(token, nil)
	return nil
}

func (p *rounder) Sync(context.Context) error {
	if p.of.n.Add(1) > 1 {
		return driver.ErrNotConnected
	}
	return nil
}

// Where the round trip after the last message fails, the clock stops with the sends, and
// not with the round trip after the warm-up.
func TestFloodWithoutItsRoundTrip(t *testing.T) {
	const window = 100 * time.Millisecond
	r := measure(t, "phases: {warmup: 20ms, duration: 100ms, drain: 1s}\nworkload: {rate: max, pattern: publish}",
		driver.Entry{Name: "rounds", Driver: &rounds{}, Capabilities: driver.Capabilities{Ack: driver.AckKindNone}}, "")
	if x := r.Summary.Throughput; x.Elapsed < window/2 || x.Until != "the last send returned" {
		t.Errorf("%d messages in %v, until %s", x.Messages, x.Elapsed, x.Until)
	}
}

// The clock of a flood that is over before the other workloads stops with a round trip of
// its own.
func TestFloodBesideALongerLoad(t *testing.T) {
	const window = 2 * time.Second
	r := measure(t, `
target: {driver: mem}
phases: {warmup: 0s, duration: 2s}
workloads:
  events: {rate: 200/s}
  bulk: {rate: max, pattern: publish, for: 100ms}
`, mem.Entry(), "")
	for _, w := range r.Workloads {
		if x := w.Summary.Throughput; w.Header.Workload == "bulk" && (x == nil || x.Elapsed > window/2) {
			t.Errorf("a flood of 100ms has %+v", x)
		}
	}
}
