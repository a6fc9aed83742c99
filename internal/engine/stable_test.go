package engine

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/result"
)

// coldDriver takes long for its first messages: 8 ms for the first, and 2 % less
// for each that follows.
type coldDriver struct {
	driver.Driver
	sent *atomic.Int64 // messages
}

func (c coldDriver) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := c.Driver.Open(ctx, t)
	return coldSession{s, c}, err
}

type coldSession struct {
	driver.Session
	c coldDriver
}

func (s coldSession) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.Session.Producer(ctx, spec, acks)
	return coldProducer{p, s.c}, err
}

type coldProducer struct {
	driver.Producer
	c coldDriver
}

func (p coldProducer) Send(token uint64, payload []byte) error {
	n := p.c.sent.Add(1)
	time.Sleep(time.Duration(8e6 * math.Pow(0.98, float64(n))))
	return p.Producer.Send(token, payload)
}

// A broker that was started for the run is warm when the load begins, unless
// the scenario says how long to warm up.
func TestManagedBrokersSettleFirst(t *testing.T) {
	for _, tt := range []struct {
		name, phases, managed string
		settles               bool
	}{
		{"started for the run", "{duration: 300ms}", "for the test", true},
		{"somebody else's", "{duration: 300ms}", "", false},
		{"a warm-up that was asked for", "{warmup: 2s, duration: 300ms}", "for the test", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !tt.settles {
				variant(t)
			}
			var sent atomic.Int64
			e := mem.Entry()
			e.Driver = coldDriver{e.Driver, &sent}
			before := int64(-1)
			r := measureConfig(t, Config{Scenario: parse(t, "target: {driver: mem}\nphases: "+tt.phases+"\nworkload: {rate: 20/s}"), Entry: e, Managed: tt.managed,
				Observer: func(p Progress) {
					if p.Phase == result.PhaseMeasure && before < 0 {
						before = sent.Load()
					}
				}})
			said := false
			for _, c := range r.Header.SetupTimes {
				said = said || strings.HasPrefix(c.Name, "until the p50 of single messages was stable") && c.Duration > 0
			}
			if said != tt.settles {
				t.Errorf("cold figures %+v", r.Header.SetupTimes)
			}
			// 40 messages of the warm-up leave the half of 8 ms; settling a tenth.
			if tt.settles != (before > 100) {
				t.Errorf("%d messages were sent before the window", before)
			}
			if d := r.Summary.Histograms[result.DeliveryService]; tt.settles && d.Figures["50"].Value > 4e6 {
				t.Errorf("p50 %v", time.Duration(d.Figures["50"].Value))
			}
		})
	}
}
