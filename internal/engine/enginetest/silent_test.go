package enginetest

import (
	"context"
	"testing"

	"sixnines/driver"
	"sixnines/semantics"
)

// silenced is a driver one of whose consumers receives a number of messages and then no more, without an error,
// like one behind a firewall that has forgotten its connection.
type silenced struct {
	driver.Driver
	after int
}

// Open implements driver.Driver.
func (d silenced) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return silencedSession{s, d.after}, err
}

type silencedSession struct {
	driver.Session
	after int
}

// Consumer implements driver.Session.
func (s silencedSession) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if spec.ID != 0 {
		return s.Session.Consumer(ctx, spec, deliver)
	}
	came := 0
	return s.Session.Consumer(ctx, spec, func(m driver.Message) {
		if came++; came <= s.after {
			deliver(m)
		}
	})
}

// What was handed to a consumer that receives no more without an error comes again when the broker notices: that the
// others have received later messages proves of it alone that it was lost before.
func TestASilentConsumersMessagesAreNotProvenLost(t *testing.T) {
	for name, tt := range map[string]struct {
		delivery semantics.Delivery
		lost     bool
	}{
		"at least once": {semantics.AtLeastOnce, false},
		"at most once":  {semantics.AtMostOnce, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := Verified(t, Load{Change: func(e *driver.Entry) {
				Stating(func(s *driver.Semantics) { s.Levels.Delivery = tt.delivery })(e)
				e.Driver = silenced{e.Driver, 50}
			}, Scenario: `
target: {options: {ack: broker, delay: 1ms, lose_acked: 4, every: 10}}
workload: {rate: 100/s, consumers: 2, groups: 1}
phases: {warmup: 0s, duration: 2s, drain: 2s}
`})
			c := &r.Summary.Counters
			const before, silent = 4, 49 // of 196 that are delivered, each consumer has the half
			lost := int64(before)
			if tt.lost {
				lost = c.Missing
			}
			if c.Missing < before+silent-2 || c.Missing > before+silent+2 || c.LostAcked != lost || c.Undelivered != c.Missing-lost {
				t.Errorf("%d missing, %d of them lost, %d undelivered", c.Missing, c.LostAcked, c.Undelivered)
			}
			if least, most := r.LostAcked(); least != lost || most != c.Missing {
				t.Errorf("%d to %d of %d are lost", least, most, c.Missing)
			}
		})
	}
}
