package engine

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/result"
)

// slow is a driver that acknowledges each message after a time drawn anew.
type slow struct{ stuck }

func (s *slow) Open(context.Context, driver.Target) (driver.Session, error) { return s, nil }
func (s *slow) Producer(_ context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &slowProducer{acks: a}, nil
}

type slowProducer struct {
	closer
	acks driver.Acks
}

func (p *slowProducer) Send(token uint64, _ []byte) error {
	time.AfterFunc(5*time.Millisecond+rand.N(5*time.Millisecond), func() { p.acks.Done(token, nil) })
	return nil
}

func slowEntry() driver.Entry {
	return driver.Entry{Name: "slow", Driver: &slow{}, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}}
}

// The window goes on, beyond its least length, until the percentile is known, and
// what was due by then is accounted for; else it ends at its greatest length; and
// an interruption ends it before, as always.
func TestUntilEndsTheWindow(t *testing.T) {
	const load = "\nworkload: {pattern: publish, rate: 300/s}\nrecord: {interval: 100ms}"
	for _, tt := range []struct {
		name, phases string
		interrupt    bool
		ended        string
	}{
		{"narrow", "{warmup: 100ms, duration: 500ms, until: publish.response p50 ±60%, at_most: 5m}", false, result.EndedNarrow},
		{"at most", "{warmup: 100ms, duration: 300ms, until: publish.response p50 ±60%, at_most: 1s}", false, result.EndedAtMost},
		{"interrupted", "{warmup: 100ms, duration: 1h, until: publish.response p50 ±60%}", true, result.EndedInterrupted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var cancel context.CancelFunc
			var told atomic.Bool
			s := parse(t, "phases: "+tt.phases+load)
			r := inVirtualTime(t, Config{Scenario: s, Entry: slowEntry(), Observer: func(p Progress) {
				if p.Phase == result.PhaseMeasure {
					told.Store(strings.HasPrefix(p.Until, "p50 ") && strings.HasSuffix(p.Until, ", asked ±60%"))
					if tt.interrupt {
						cancel()
					}
				}
			}}, func(ctx context.Context) context.Context {
				ctx, cancel = context.WithCancel(ctx)
				return ctx
			})
			cancel()
			u, c := r.Summary.Until, r.Counters
			if u == nil || u.Ended != tt.ended || r.Summary.Interrupted != tt.interrupt || r.Header.Until != u.Text {
				t.Fatalf("%+v\n%s", u, show(r))
			}
			if !told.Load() {
				t.Error("the progress does not say how exactly it is known")
			}
			narrow := tt.ended == result.EndedNarrow
			if !narrow && u.Narrow || narrow && (r.Summary.End <= int64(s.Phases.Duration) || r.Summary.End >= int64(s.Phases.AtMost)) {
				t.Errorf("a window of %v: %+v", time.Duration(r.Summary.End), u)
			}
			if due := int64(float64(r.Summary.End) / 1e9 * 300); c.Scheduled < due-3 || c.Scheduled > due+3 || c.NotSent != 0 {
				t.Errorf("%d scheduled in %v, want %d\n%+v", c.Scheduled, time.Duration(r.Summary.End), due, c)
			}
			if r.Header.Window != s.Phases.AtMost {
				t.Errorf("planned for %v", r.Header.Window)
			}
		})
	}
}
