package engine

import (
	"context"
	"testing"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/result"
)

// worker is a driver whose Send takes its time on the processor.
type worker struct {
	stuck
	each int64 // ns
}

func (s *worker) Open(context.Context, driver.Target) (driver.Session, error) { return s, nil }
func (s *worker) Producer(_ context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &workerProducer{acks: a, each: s.each}, nil
}

type workerProducer struct {
	closer
	acks driver.Acks
	each int64
}

func (p *workerProducer) Send(token uint64, _ []byte) error {
	for from := clock.Now(); clock.Now()-from < p.each; {
	}
	p.acks.Done(token, nil)
	return nil
}

// Long sends of many connections are divided among several pacers, up to the largest number
// allowed; no message is lost on the way.
func TestLongSendsHaveSeveralPacers(t *testing.T) {
	for most, want := range map[int]bool{0: true, 1: false} {
		r := inRealTime(t, Config{Pacers: most, Scenario: parse(t, "phases: {warmup: 500ms, duration: 500ms}\nworkload: {pattern: publish, rate: 4000/s, producers: 6}"),
			Entry: driver.Entry{Name: "slow", Driver: &worker{each: 80_000}, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}}})
		c := r.Counters
		if c.Sent != 2000 || c.Acked != 2000 {
			t.Errorf("%+v", c)
		}
		pacers := 0.0
		for _, x := range r.Series {
			pacers = max(pacers, x.Vitals[result.VitalPacerCount])
		}
		// A send that a busy machine holds up is a takeover, with a pacer of its own.
		if divided := pacers > 1+float64(c.Takeovers); divided && !want || pacers == 1 && want {
			t.Errorf("at most %d: %v pacers, %d takeovers", most, pacers, c.Takeovers)
		}
	}
}
