package engine

import (
	"context"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/result"
)

// A driver that loses 17, corrupts 3, duplicates 5 and reorders 9 messages, no
// message twice: each is found, exactly, and the 20 that never arrived whole
// stay in the distribution.
func TestEveryLieIsCaught(t *testing.T) {
	r := measure(t, `
phases: {warmup: 200ms, duration: 500ms, drain: 1s}
target:
  driver: mem
  options: {lose: 17, duplicate: 5, reorder: 9, corrupt: 3}
workload: {rate: 2000/s}
record: {raw: true}
`, mem.Entry(), "")
	c := r.Counters
	if c.Missing != 17 || c.Corrupted != 3 || c.Duplicated != 5 || c.Reordered != 9 || c.Censored != 20 || c.Late != 0 || c.Foreign != 0 {
		t.Errorf("%+v", c)
	}
	if n := r.Metrics[result.DeliveryResponse].Censored.Count(); n != 20 {
		t.Errorf("%d censored values", n)
	}
	if d := r.Summary.Histograms[result.DeliveryResponse]; !d.Figures["99"].AtLeast {
		t.Errorf("20 of 1,000 are missing, and p99 is not a lower bound: %+v", d)
	}
}

// A consumer that is too slow is overload, though the broker acknowledges at
// once, and the messages that wait for it are not lost.
func TestSlowConsumersAreOverload(t *testing.T) {
	r := measure(t, `
target: {driver: mem, options: {ack: broker, queue: 100000}}
phases: {warmup: 200ms, duration: 2s, drain: 500ms}
workload: {rate: 2000/s, consumer: {work: 5ms}}
record: {interval: 250ms}
`, mem.Entry(), "")
	c := r.Counters
	if c.Acked != 4000 || c.LostAcked != 0 || c.Undelivered == 0 || c.Undelivered != c.Missing {
		t.Errorf("what is queued: %s", show(r))
	}
	if s := r.Summary.Verdict.Status; s != result.Unstable && s != result.Invalid { // on a busy machine
		t.Errorf("overload: %s", show(r))
	}
}

// Lost messages are no overload, however many they are, though nothing returns.
func TestLossIsNoOverload(t *testing.T) {
	judgesFigures(t)
	r := measure(t, `
target: {driver: mem, options: {ack: broker, lose_acked: 300, after: 2500, every: 4}}
phases: {warmup: 200ms, duration: 2s, drain: 2s}
workload: {rate: 2000/s}
record: {interval: 250ms}
`, mem.Entry(), "")
	c := r.Counters
	if c.Missing != 300 || c.LostAcked != 300 || c.Undelivered != 0 {
		t.Errorf("what is lost: %s", show(r))
	}
	if s := r.Summary.Verdict.Status; s == result.Unstable {
		t.Errorf("loss: %s", show(r))
	}
}

// lossy is a driver that loses what drop tells by the message's number, from the
// window's first on.
type lossy struct {
	driver.Driver
	drop func(n int) bool
}

func (l lossy) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := l.Driver.Open(ctx, t)
	return lossySession{s, l.drop}, err
}

type lossySession struct {
	driver.Session
	drop func(n int) bool
}

func (s lossySession) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.Session.Producer(ctx, spec, acks)
	return &lossyProducer{Producer: p, acks: acks, drop: s.drop}, err
}

type lossyProducer struct {
	driver.Producer
	acks driver.Acks
	drop func(n int) bool
	n    int // of its next message
	in   bool
}

// WindowBegins implements driver.WindowWatcher.
func (p *lossyProducer) WindowBegins() { p.in = true }

func (p *lossyProducer) Send(token uint64, payload []byte) error {
	if p.in {
		p.n++
		if p.drop(p.n - 1) {
			p.acks.Done(token, nil) // which says only that the payload may be used again
			return nil
		}
	}
	return p.Producer.Send(token, payload)
}

// A broker that loses messages and acknowledges nothing is not overloaded either:
// a message that later ones have overtaken is lost and not queued. The messages that do
// arrive take 50 ms, so that some are always in flight.
func TestLossWithoutAcknowledgementsIsNoOverload(t *testing.T) {
	for name, drop := range map[string]func(n int) bool{
		"one in ten":             func(n int) bool { return n%10 == 3 },
		"50 of every 51":         func(n int) bool { return n%51 != 0 },
		"one in 50":              func(n int) bool { return n%50 == 7 },
		"all":                    func(int) bool { return true },
		"all but the first ones": func(n int) bool { return n >= 300 },
		"only in the last third": func(n int) bool { return n >= 2700 && n%2 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			if name != "one in ten" {
				variant(t)
			}
			e := mem.Entry()
			e.Driver = lossy{e.Driver, drop}
			r := measure(t, `
target: {driver: mem, options: {delay: 50ms}}
phases: {warmup: 100ms, duration: 2s, drain: 300ms}
workload: {rate: 2000/s}
record: {interval: 250ms}
`, e, "")
			var lost, want int64
			for _, s := range r.Lost {
				lost += s[1]
			}
			for n := range 4000 {
				if drop(n) {
					want++
				}
			}
			// Those that nothing overtook are not known to be lost.
			known := want - 50
			if name == "all but the first ones" {
				known = 0 // the broker may hang
			}
			if c := r.Counters; c.Missing != want || c.MissingUnknown != want || lost > want || lost < known {
				t.Errorf("%d lost, %d known to be: %s", want, lost, show(r))
			}
			if r.Summary.Verdict.Status == result.Unstable {
				t.Error(show(r))
			}
		})
	}
}

// Without acknowledgements a consumer that is slower than the load is overload
// all the same, whatever is lost besides.
func TestSlowConsumersAreOverloadWithoutAcknowledgements(t *testing.T) {
	judgesFigures(t)
	for name, drop := range map[string]func(n int) bool{
		"nothing lost": func(int) bool { return false },
		"a tenth lost": func(n int) bool { return n%10 == 3 },
	} {
		t.Run(name, func(t *testing.T) {
			e := mem.Entry()
			e.Driver = lossy{e.Driver, drop}
			r := measure(t, `
target: {driver: mem, options: {queue: 100000}}
phases: {warmup: 200ms, duration: 2s, drain: 500ms}
workload: {rate: 2000/s, consumer: {work: 5ms}}
record: {interval: 250ms}
`, e, "")
			if s := r.Summary.Verdict.Status; s != result.Unstable && s != result.Invalid { // on a busy machine
				t.Errorf("overload: %s", show(r))
			}
		})
	}
}
