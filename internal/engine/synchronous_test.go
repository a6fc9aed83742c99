package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/engine/plan"
	"sixnines/internal/integrity"
	"sixnines/result"
)

// asked is a driver that looks at what its requesters have under way. It does not
// count probes.
type asked struct {
	driver.Driver
	unanswered int // the requester whose replies it keeps; −1: none

	mu        sync.Mutex
	out, most map[int]int
	sent      map[int][]int64 // instants
}

// asking is the driver mem, looked at.
func asking(unanswered int) (*asked, driver.Entry) {
	e := mem.Entry()
	a := &asked{Driver: e.Driver, unanswered: unanswered, out: map[int]int{}, most: map[int]int{}, sent: map[int][]int64{}}
	e.Driver = a
	return a, e
}

func (a *asked) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := a.Driver.Open(ctx, t)
	return &askedSession{s, a}, err
}

type askedSession struct {
	driver.Session
	of *asked
}

func (s *askedSession) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(driver.Message) []byte) (driver.Consumer, error) {
	return s.Session.(driver.RequestReplier).Responder(ctx, spec, respond)
}

func (s *askedSession) Requester(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (driver.Producer, error) {
	p, err := s.Session.(driver.RequestReplier).Requester(ctx, spec, acks, func(m driver.Message) {
		if _, is := loadOf(m.Payload, integrity.Reply); is {
			if spec.ID == s.of.unanswered {
				return
			}
			s.of.mu.Lock()
			s.of.out[spec.ID]-- // before the engine is told, and sends again
			s.of.mu.Unlock()
		}
		replies(m)
	})
	return &askedProducer{p, spec.ID, s.of}, err
}

type askedProducer struct {
	driver.Producer
	id int
	of *asked
}

func (p *askedProducer) Send(token uint64, payload []byte) error {
	if e, is := loadOf(payload, integrity.Data); is {
		p.of.mu.Lock()
		p.of.sent[p.id] = append(p.of.sent[p.id], e.Intended+e.Lag)
		p.of.out[p.id]++
		p.of.most[p.id] = max(p.of.most[p.id], p.of.out[p.id])
		p.of.mu.Unlock()
	}
	return p.Producer.Send(token, payload)
}

// loadOf returns the envelope of a message, if it is of that kind.
func loadOf(payload []byte, kind integrity.Kind) (e integrity.Envelope, is bool) {
	return e, e.Get(payload, false) == integrity.Good && e.Kind == kind
}

// A requester that may have one request out, or two, never has more, though replies
// come more slowly than requests are due, and whether or not the broker acknowledges
// requests at once.
func TestRequesterWaitsForItsReply(t *testing.T) {
	for _, ack := range []string{"none", "broker"} {
		for _, each := range []int{1, 2} {
			t.Run(fmt.Sprintf("%d, ack %s", each, ack), func(t *testing.T) {
				a, e := asking(-1)
				r := measure(t, fmt.Sprintf(`
phases: {warmup: 0s, duration: 200ms, drain: 20s}
target: {driver: mem, options: {delay: 2ms, ack: %s}}
workload: {pattern: request-reply, rate: 2000/s, producers: 4, in_flight: {each: %d}}
`, ack, each), e, "")
				if c := r.Counters; c.Sent != 400 || c.Received != 400 || c.TimedOut != 0 {
					t.Errorf("%+v", c)
				}
				for id := range 4 {
					if a.most[id] != each {
						t.Errorf("requester %d had %d requests out", id, a.most[id])
					}
				}
				y := r.Header.Synchronous
				if (y != nil) != (each == 1) || y != nil && (y.Metric != result.RoundTripService || y.Interval != 2e6 || y.Mean) {
					t.Errorf("synchronous: %+v", y)
				}
			})
		}
	}
}

// A requester whose replies do not come waits for them until they time out, and sends
// the next one then. Others do not wait for it.
func TestRequesterWaitsForItsOwnReply(t *testing.T) {
	const timeout = 50 * time.Millisecond
	a, e := asking(0)
	r := measure(t, `
phases: {warmup: 0s, duration: 1s, drain: 300ms}
target: {driver: mem}
workload: {pattern: request-reply, rate: 400/s, producers: 4, timeout: 50ms, in_flight: {each: 1}}
`, e, "")
	if c := r.Counters; c.Received != 300 || c.TimedOut == 0 {
		t.Errorf("three requesters have 100 replies each: %+v", c)
	}
	for id := 1; id < 4; id++ {
		if a.most[id] != 1 {
			t.Errorf("requester %d had %d requests out", id, a.most[id])
		}
	}
	sent := a.sent[0]
	if len(sent) < 3 {
		t.Errorf("the requester without replies sent %d requests", len(sent))
	}
	for i := 1; i < len(sent); i++ {
		if gap := time.Duration(sent[i] - sent[i-1]); gap < timeout {
			t.Errorf("its request %d went out %v after the one before", i, gap)
		}
	}
}

// A request that the broker refuses gets no reply, and the requester does not wait for one.
func TestRefusedRequestIsNotWaitedFor(t *testing.T) {
	r := measure(t, `
phases: {warmup: 0s, duration: 300ms, drain: 1s}
target: {driver: mem, options: {ack: broker, nack: 5, reject: 5}}
workload: {pattern: request-reply, rate: 1000/s, timeout: 1h, in_flight: {each: 1}}
`, mem.Entry(), "")
	if c := r.Counters; c.Nacked != 5 || c.Rejected != 5 || c.NotSent != 0 || c.Received != 290 {
		t.Errorf("%+v", c)
	}
}

// Which loads have producers that wait for each answer, and which answer they wait for.
func TestSynchronous(t *testing.T) {
	for _, tt := range []struct {
		workload, ack string
		want          result.Metric // empty: it is none
	}{
		{"{pattern: publish, in_flight: {messages: 1}}", "broker", result.PublishService},
		{"{pattern: publish, producers: 2, in_flight: {each: 1}, arrivals: poisson}", "broker", result.PublishService},
		{"{pattern: deliver, in_flight: {each: 1}}", "broker", result.PublishService},
		{"{pattern: deliver, in_flight: {each: 1}}", "none", result.DeliveryService},
		{"{pattern: deliver, in_flight: {each: 1}, consumers: 2}", "none", ""}, // waits for the first only
		{"{pattern: roundtrip, in_flight: {each: 1}}", "broker", result.RoundTripService},
		{"{pattern: publish, producers: 2, connections: {producers: 1}, in_flight: {messages: 1}}", "broker", ""},
		{"{pattern: publish, producers: 2, in_flight: {each: 2}}", "broker", ""},
		{"{pattern: publish, rate: max, in_flight: {each: 1}}", "broker", ""},
		{"{pattern: publish}", "broker", ""},
	} {
		r := measure(t, "phases: {warmup: 0s, duration: 100ms, drain: 5s}\ntarget: {driver: mem, options: {delay: 100us, ack: "+tt.ack+map[string]string{"broker": ", ack_delay: 100us"}[tt.ack]+"}}\nworkload: "+tt.workload,
			mem.Entry(), "")
		got, y := result.Metric(""), r.Header.Synchronous
		if y != nil {
			got = y.Metric
			if w := parse(t, "workload: "+tt.workload).Workload; y.Interval != int64(w.Producers)*1e6 || y.Mean != (w.Arrivals.Kind == "poisson") {
				t.Errorf("%s: %+v", tt.workload, y)
			}
		}
		if got != tt.want {
			t.Errorf("%s with ack %s: %q, want %q", tt.workload, tt.ack, got, tt.want)
		}
		for m, d := range r.Summary.Histograms {
			if (d.Corrected != nil) != (m == tt.want) {
				t.Errorf("%s with ack %s: %s corrected: %v", tt.workload, tt.ack, m, d.Corrected != nil)
			}
		}
	}
}

// Where nothing is acknowledged a producer has nothing to wait for. Check says so before a
// broker is started, from the driver's options.
func TestNothingToWaitFor(t *testing.T) {
	for _, load := range []string{"in_flight: {each: 1}", "loop: closed"} {
		text := "target: {driver: mem, options: {ack: %s}}\nworkload: {pattern: publish, " + load + "}"
		if err := Check(parse(t, fmt.Sprintf(text, "broker")), mem.Entry()); err != nil {
			t.Errorf("%s, acknowledged: %v", load, err)
		}
		s := parse(t, fmt.Sprintf(text, "none"))
		if err := Check(s, mem.Entry()); !errors.Is(err, plan.ErrUsage) {
			t.Errorf("%s, not acknowledged: %v", load, err)
		}
		if _, err := Run(t.Context(), Config{Scenario: s, Entry: mem.Entry()}); !errors.Is(err, plan.ErrUsage) {
			t.Errorf("%s, not acknowledged: %v", load, err)
		}
	}
}

// The broker is paused for D. At most a hundredth of the service times show it, since each
// requester had one request out. Response times count from when requests were due, and show it;
// service times that are corrected as other tools do come near.
func TestStallOfSynchronousRequesters(t *testing.T) {
	judgesFigures(t)
	const D, T = 400 * time.Millisecond, 2 * time.Second
	r := measureVirtually(t, `
phases: {warmup: 0s, duration: 2s, drain: 10s}
target: {driver: mem, options: {stall_after: 200, stall_for: 400ms}}
workload: {pattern: request-reply, rate: 400/s, producers: 4, in_flight: {each: 1}}
`, mem.Entry())
	response, service := r.Summary.Histograms[result.RoundTripResponse], r.Summary.Histograms[result.RoundTripService]
	if service.Corrected == nil {
		t.Fatal("nothing is corrected")
	}
	for p, share := range map[string]float64{"90": 0.1, "95": 0.05, "99": 0.01} {
		want := float64(D) - share*float64(T)
		raw, got, corrected := float64(service.Figures[result.Percentile(p)].Value), float64(response.Figures[result.Percentile(p)].Value), float64(service.Corrected.Figures[result.Percentile(p)].Value)
		if raw > float64(D)/4 || math.Abs(got-want) > float64(D)/20 || math.Abs(corrected-got) > float64(D)/8 {
			t.Errorf("p%s: service %v, response %v and not %v, corrected %v", p, time.Duration(raw), time.Duration(got), time.Duration(want), time.Duration(corrected))
		}
	}
	// Each of the four that waited stands for those that were not sent meanwhile.
	if added := service.Corrected.Count - service.Count; added < 4*36 || added > 4*44 {
		t.Errorf("%d values were added", added)
	}
}
