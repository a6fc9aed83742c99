package engine

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/drivers/nats"
	"sixnines/internal/clock"
	"sixnines/internal/clock/clocktest"
	"sixnines/internal/integrity"
	"sixnines/result"
)

// little is what a result says of Little's law.
type little struct {
	sampled, expected, tolerance, looks float64
}

// holds reports whether what was seen in flight is what the stamps say.
func (l little) holds() bool { return math.Abs(l.sampled-l.expected) <= l.tolerance*l.expected }

// assess reads what a result says of Little's law; false if there is none.
func assess(t *testing.T, r *result.Run) (little, bool) {
	t.Helper()
	v := r.Series[len(r.Series)-1].Vitals
	if _, ok := v["little.l_sampled"]; !ok {
		return little{}, false
	}
	sum := 0.0
	r.Metrics[r.Header.InFlightMetric()].Hist.Buckets(func(low, high, n int64) {
		sum += float64(n) * float64(low+high) / 2
	})
	return little{v["little.l_sampled"], sum / v["little.span"], v["little.tolerance"], v["little.samples"]}, true
}

// shifted is a broker whose messages say that they were sent later than they
// were: by a tenth of the delay, as if the clocks of both sides did not agree.
type shifted struct{ driver.Driver }

type shiftedSession struct{ driver.Session }

func (d shifted) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return shiftedSession{s}, err
}

func (s shiftedSession) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	var own []byte
	return s.Session.Consumer(ctx, spec, func(m driver.Message) {
		own = append(own[:0], m.Payload...)
		var e integrity.Envelope
		if e.Get(own, true) == integrity.Good && e.Kind == integrity.Data {
			e.Lag += (clock.Now() - e.Intended - e.Lag) / 10
			e.Put(own, integrity.BodySum(own))
			m.Payload = own
		}
		deliver(m)
	})
}

const manyInFlight = `
phases: {warmup: 100ms, duration: 1s}
target: {driver: mem, options: {delay: 20ms, queue: 4000}}
workload: {rate: 2000/s, consumers: 2}
`

// Where nothing is wrong the sampler agrees with the stamps, whatever ends a
// message's time in flight.
func TestLittlesLawHolds(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	for _, tt := range []struct {
		name, text string
		entry      driver.Entry
	}{
		{"many in flight, to two consumers", manyInFlight, mem.Entry()},
		{"acknowledgements", `
phases: {warmup: 100ms, duration: 1s}
target: {driver: mem, options: {ack: broker, ack_delay: 10ms}}
workload: {rate: 2000/s, producers: 3}
`, mem.Entry()},
		{"requests in virtual time", `
phases: {warmup: 100ms, duration: 1s}
target: {driver: mem, options: {delay: 2ms, jitter: 5ms}}
workload: {rate: 1000/s, pattern: request-reply}
`, mem.Entry()},
		{"a closed loop in virtual time", `
phases: {warmup: 100ms, duration: 1s}
target: {driver: mem, options: {delay: 2ms, jitter: 5ms}}
workload: {loop: closed, outstanding: 8}
`, mem.Entry()},
		{"a broker", "phases: {warmup: 100ms, duration: 1s}\nworkload: {rate: 2000/s, producers: 2}", nats.Entry()},
		{"requests", "phases: {warmup: 100ms, duration: 1s}\nworkload: {rate: 1000/s, pattern: request-reply}", nats.Entry()},
		{"a closed loop", "phases: {warmup: 100ms, duration: 1s}\nworkload: {loop: closed, outstanding: 8}", nats.Entry()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l little
			if tt.entry.Name != "mem" {
				t.Parallel()
			}
			// With a real broker the kernel may take a thread's processor between the stamp and
			// the count of a message, for as long as other programs want it: by that the two
			// differ beyond chance. In virtual time nothing comes between them.
			tries := 4
			if tt.entry.Name == "mem" {
				tries = 1
			}
			for range tries {
				var ok bool
				if l, ok = assess(t, measure(t, tt.text, tt.entry, urlFor(tt.entry, b.URL))); !ok {
					t.Fatal("nothing was sampled")
				}
				if l.holds() || testing.Short() { // a figure, which the race detector blurs
					return
				}
			}
			t.Errorf("%+v", l)
		})
	}
}

func urlFor(e driver.Entry, nats string) string {
	if e.Name == "mem" {
		return ""
	}
	return nats
}

// A clock that is wrong on one side by a tenth of the delay breaks it.
func TestLittlesLawFindsAWrongClock(t *testing.T) {
	judgesFigures(t)
	e := mem.Entry()
	e.Driver = shifted{e.Driver}
	if l, _ := assess(t, measure(t, manyInFlight, e, "")); l.holds() || l.expected >= l.sampled*0.95 {
		t.Errorf("a clock that is 10 %% off passes: %+v", l)
	}
}

// A count of what is in flight that misses the end of ten messages in eighty
// breaks it.
func TestLittlesLawFindsALeak(t *testing.T) {
	judgesFigures(t)
	c := Config{Scenario: parse(t, manyInFlight+"record: {interval: 250ms}\n"), Entry: mem.Entry(), File: filepath.Join(t.TempDir(), "run.jsonl")}
	var (
		r   *run
		res *result.Run
	)
	leaked := false
	c.Observer = func(p Progress) {
		switch {
		case p.Phase == result.PhaseMeasure && !leaked:
			r.loads[0].receiving.Consumers[0].Received.Add(-10)
			leaked = true
		case p.Phase == result.PhaseDrain && leaked: // or the run would wait for them
			r.loads[0].receiving.Consumers[0].Received.Add(10)
			leaked = false
		}
	}
	synctest.Test(t, func(t *testing.T) {
		c.Virtual = clocktest.New()
		var err error
		if r, err = newRun(c); err == nil {
			res, err = r.execute(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if l, _ := assess(t, res); l.holds() || l.sampled <= l.expected*1.05 {
		t.Errorf("ten of eighty in flight that never end pass: %+v", l)
	}
}

// Loads whose messages have no time in flight are not sampled.
func TestLittlesLawWhereItDoesNotApply(t *testing.T) {
	for _, text := range []string{
		"phases: {warmup: 0s}\ntarget: {options: {delay: 1ms}}\nworkload: {rate: max, messages: 5000}",
		"phases: {warmup: 50ms, duration: 300ms}\nworkload: {rate: 1000/s, pattern: publish}",
		"phases: {warmup: 50ms, duration: 300ms, drain: 100ms}\ntarget: {options: {lose: 3}}\nworkload: {rate: 1000/s}",
		"phases: {warmup: 50ms, duration: 300ms, drain: 100ms}\ntarget: {options: {duplicate: 3}}\nworkload: {rate: 1000/s}",
		"phases: {warmup: 50ms, duration: 300ms, drain: 100ms}\ntarget: {options: {ack: broker, nack: 3}}\nworkload: {rate: 1000/s, pattern: publish}",
		"phases: {warmup: 50ms, duration: 300ms, drain: 100ms}\ntarget: {options: {ack: broker, lose: 3}}\nworkload: {rate: 1000/s, pattern: publish}",
		"phases: {warmup: 50ms, duration: 300ms}\nworkload: {rate: 1000/s, topics: 2, consumers: 3}",
	} {
		if l, ok := assess(t, measure(t, text, mem.Entry(), "")); ok {
			t.Errorf("%s: %+v", text, l)
		}
	}
}

// flushing is a broker whose producers, when they are closed, wait for a second, in which answers still come.
type flushing struct{ driver.Driver }

type flushingSession struct{ driver.Session }

type flushingProducer struct{ driver.Producer }

func (d flushing) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return flushingSession{s}, err
}

func (s flushingSession) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.Session.Producer(ctx, spec, acks)
	return flushingProducer{p}, err
}

func (p flushingProducer) Close(ctx context.Context) error {
	time.Sleep(time.Second)
	return p.Producer.Close(ctx)
}

// Answers that come after the drain, while the producers close, have times in flight of which nothing was
// counted: they are in the distribution, and the law does not apply.
func TestLittlesLawDoesNotApplyToAnswersAfterTheDrain(t *testing.T) {
	const text = `
phases: {warmup: 100ms, duration: 1s, drain: 100ms}
target: {driver: mem, options: {ack: broker, ack_delay: 500ms}}
workload: {rate: 1000/s, pattern: publish}
`
	e := mem.Entry()
	e.Driver = flushing{e.Driver}
	r := measure(t, text, e, "")
	if r.Counters.Acked != 1000 {
		t.Errorf("%d of 1,000 acknowledged", r.Counters.Acked)
	}
	if l, ok := assess(t, r); ok {
		t.Errorf("%+v", l)
	}
}
