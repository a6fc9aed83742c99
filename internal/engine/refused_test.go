package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/result"
)

// A refused message is slower than any latency, whether Send or the broker refused it:
// in the latencies of publishing, and of the deliveries that never were, once for each
// group that waits for one. Those that succeeded have figures of their own.
func TestRefusedIsSlowerThanAnyLatency(t *testing.T) {
	for name, tt := range map[string]struct {
		options, workload string
		publish, delivery int64 // refused
		of                int64 // deliveries a message
	}{
		"by the broker":       {"{ack: broker, nack: 500, every: 2}", "{rate: 2000/s}", 500, 500, 1},
		"by the client":       {"{ack: broker, reject: 500, every: 2}", "{rate: 2000/s}", 500, 500, 1},
		"yet delivered":       {"{ack: broker, misreport: 500, every: 2}", "{rate: 2000/s}", 500, 0, 1},
		"of a fan-out":        {"{ack: broker, nack: 250, reject: 250, every: 2}", "{rate: 2000/s, consumers: 3}", 500, 1500, 3},
		"not acknowledged":    {"{reject: 500, every: 2}", "{rate: 2000/s}", 0, 500, 1},
		"published":           {"{ack: broker, nack: 500, every: 2}", "{rate: 2000/s, pattern: publish}", 500, 0, 0},
		"round trips":         {"{reject: 500, every: 2}", "{rate: 2000/s, pattern: roundtrip}", 0, 500, 1},
		"half in closed loop": {"{ack: broker, nack: 500, every: 2}", "{loop: closed, pattern: publish, messages: 1000}", 500, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains([]string{"of a fan-out", "round trips", "half in closed loop"}, name) {
				variant(t)
			}
			options := strings.Replace(tt.options, "{", "{delay: 1ms, ", 1)
			if strings.Contains(options, "ack: broker") {
				options = strings.Replace(options, "{", "{ack_delay: 1ms, ", 1)
			}
			phases := "{warmup: 0s, duration: 500ms, drain: 1s}"
			if name == "half in closed loop" {
				phases = "{warmup: 0s, drain: 1s}"
			}
			r := measure(t, `
target: {driver: mem, options: `+options+`}
phases: `+phases+`
workload: `+tt.workload, mem.Entry(), "")
			check := func(m result.Metric, refused, all int64) {
				d := r.Summary.Histograms[m]
				switch {
				case all == 0:
					return
				case d == nil || d.Refusals != refused || d.Total() != all:
					t.Errorf("%s: %d of %d should be refused: %+v", m, refused, all, d)
				case refused == 0:
					if d.MaxRefused || d.Succeeded != nil {
						t.Errorf("%s: nothing was refused: %+v", m, d)
					}
				default:
					// The median of the half that succeeded is the quarter of all.
					if !d.Figures["75"].Refused || !d.Figures["99"].Refused || !d.MaxRefused || !d.Figures["99"].AtLeast {
						t.Errorf("%s: half was refused: %+v", m, d)
					}
					if s := d.Succeeded; s == nil || s.Total() != all-refused || s.MaxRefused || s.Figures["95"].Value == 0 {
						t.Errorf("%s, succeeded: %+v", m, s)
					}
				}
			}
			service, response := result.DeliveryService, result.DeliveryResponse
			if name == "round trips" {
				service, response = result.RoundTripService, result.RoundTripResponse
			}
			if tt.publish > 0 {
				check(result.PublishResponse, tt.publish, 1000)
				check(result.PublishService, tt.publish, 1000)
			}
			check(response, tt.delivery, 1000*tt.of)
			check(service, tt.delivery, 1000*tt.of)
			if tt.of > 1 {
				check(result.DeliveryLast, tt.delivery/tt.of, 1000)
			}
			if v := r.Summary.Verdict; slices.ContainsFunc(v.Reasons, func(x result.Reason) bool { return x.Code == "refused" && x.Status != result.Valid }) {
				t.Errorf("a refusal is a fact of the system and makes the run not suspect: %+v", v)
			}
		})
	}
}

// An objective on a percentile that refused messages reach is missed, however
// fast the others were.
func TestRefusedMissObjectives(t *testing.T) {
	judgesFigures(t)
	r := measure(t, `
target: {driver: mem, options: {reject: 1000, every: 2}}
phases: {warmup: 0s, duration: 2s, drain: 1s}
workload: {rate: 1000/s}
objectives: [delivery.response p99 < 1h, delivery.response max < 1h, delivery.response p90 > 1s]
`, mem.Entry(), "")
	for i, want := range []string{"missed", "missed", "met"} {
		if o := r.Summary.Objectives[i]; o.Outcome != want && o.Outcome != "meaningless" { // on a busy machine
			t.Errorf("%+v, want %s", o, want)
		}
	}
}

// The lower bound of a message that was given up ends at the instant of giving up, not at the
// end of the run.
func TestGivenUpIsBoundedByWhenItWas(t *testing.T) {
	judgesFigures(t)
	r := measure(t, `
phases: {warmup: 0s, duration: 3s, drain: 1s}
target: {driver: mem, options: {ack: broker, lose: 60, every: 49, give_up: 50ms}}
workload: {rate: 1000/s, pattern: publish}
`, mem.Entry(), "")
	x, d := r.Metrics[result.PublishResponse], r.Summary.Histograms[result.PublishResponse]
	if d.Censored != 60 || !d.Figures["99"].AtLeast || r.Counters.Unknown != 60 {
		t.Fatalf("%s", show(r))
	}
	if least := time.Duration(x.Censored.Min()); least < 49*time.Millisecond {
		t.Errorf("given up after 50ms at the earliest, the bound is %v", least)
	}
	// Bounds that count to the end of the run are spread over its length.
	if median := time.Duration(x.Censored.Percentile(50)); median > 700*time.Millisecond {
		t.Errorf("given up after 50ms, half of the bounds are above %v in a run of 3s", median)
	}
}

// lagging is a driver whose second consumer gets everything after a while.
type lagging struct {
	driver.Driver
	by time.Duration
}

func (l lagging) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := l.Driver.Open(ctx, t)
	return &laggingSession{Session: s, by: l.by}, err
}

type laggingSession struct {
	driver.Session
	by      time.Duration
	waiting sync.WaitGroup
}

type held struct {
	m  driver.Message
	at time.Time
}

func (s *laggingSession) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if spec.ID != 1 {
		return s.Session.Consumer(ctx, spec, deliver)
	}
	queue := make(chan held, 1<<16)
	ended := make(chan struct{})
	s.waiting.Go(func() {
		for {
			select {
			case h := <-queue:
				select {
				case <-time.After(time.Until(h.at)):
					deliver(h.m)
				case <-ended:
					return
				}
			case <-ended:
				return
			}
		}
	})
	first := true
	c, err := s.Session.Consumer(ctx, spec, func(m driver.Message) {
		if first { // the probe
			first = false
			deliver(m)
			return
		}
		m.Payload = slices.Clone(m.Payload)
		queue <- held{m, time.Now().Add(s.by)}
	})
	return &laggingConsumer{c, s, ended, sync.Once{}}, err
}

type laggingConsumer struct {
	driver.Consumer
	s     *laggingSession
	ended chan struct{}
	once  sync.Once
}

func (c *laggingConsumer) Close(ctx context.Context) error {
	err := c.Consumer.Close(ctx)
	c.once.Do(func() { close(c.ended) })
	c.s.waiting.Wait()
	return err
}

// A consumer far behind is in the latencies of the last consumer, for all arrivals: the memory
// of a fan-out is as long as the busiest stretch needs.
func TestLastConsumerFarBehindIsRemembered(t *testing.T) {
	for name, arrivals := range map[string]string{
		"ramp":  "{kind: ramp, from: 4000/s, to: 8000/s}",
		"step":  "{kind: step, steps: [{rate: 4000/s, for: 1s}, {rate: 8000/s, for: 1s}]}",
		"burst": "{kind: burst, count: 600, period: 100ms}",
	} {
		t.Run(name, func(t *testing.T) {
			if name != "burst" {
				variant(t)
			}
			e := mem.Entry()
			e.Driver = lagging{e.Driver, time.Second}
			r := measure(t, `
target: {driver: mem, options: {queue: 65536}}
phases: {warmup: 0s, duration: 2s, drain: 5s}
workload: {consumers: 2, arrivals: `+arrivals+`}`, e, "")
			d := r.Summary.Histograms[result.DeliveryLast]
			if r.Counters.Missing != 0 || d == nil || d.Count != r.Counters.Sent || r.Counters.LastUnknown != 0 {
				t.Errorf("%+v\n%s", d, show(r))
			}
		})
	}
}

// Messages for which the memory was too short are counted and reported, and stay in the
// distribution as lower bounds.
func TestLastConsumerBeyondMemoryIsSaid(t *testing.T) {
	e := mem.Entry()
	e.Driver = lagging{e.Driver, 3 * time.Second}
	r := measure(t, `
target: {driver: mem, options: {queue: 65536}}
phases: {warmup: 0s, duration: 3600ms, drain: 100ms}
workload: {rate: 1800/s, consumers: 2}`, e, "")
	d, c := r.Summary.Histograms[result.DeliveryLast], r.Counters
	if c.LastUnknown == 0 || d.Total() != c.Sent || d.Censored < c.LastUnknown {
		t.Errorf("%+v\n%s", d, show(r))
	}
	if !slices.ContainsFunc(r.Summary.Verdict.Reasons, func(x result.Reason) bool { return x.Code == "last-unknown" }) {
		t.Errorf("%+v", r.Summary.Verdict)
	}
}

// Events say why messages were refused, in the same words for each class of errors.
func TestRefusalsAreTold(t *testing.T) {
	r := measure(t, `
target: {driver: mem, options: {ack: broker, lose: 2, nack: 3, reject: 4, every: 2}}
phases: {warmup: 0s, duration: 200ms, drain: 200ms}
workload: {rate: 1000/s}
`, mem.Entry(), "")
	told := slices.DeleteFunc(slices.Clone(r.Events), func(e result.Event) bool { return e.Kind != "refused" })
	var n int64
	for _, e := range told {
		if n += e.Count; e.Detail != told[0].Detail {
			t.Errorf("%q, and %q", e.Detail, told[0].Detail)
		}
	}
	if c := r.Counters; n == 0 || n != c.Nacked+c.Rejected || !strings.Contains(told[0].Detail, driver.ErrRejected.Error()) {
		t.Errorf("%+v of %d refused by the broker and %d by the client", told, c.Nacked, c.Rejected)
	}
}
