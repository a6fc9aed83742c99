package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/drivers/nats"
	"sixnines/internal/clock/clocktest"
	"sixnines/internal/engine/plan"
	"sixnines/result"
)

// stuck is a driver one of whose connections blocks for a while in Send.
type stuck struct {
	conn  int // which one
	after int // messages sent on it before it blocks, once
	time.Duration

	sent atomic.Int64
}

func (s *stuck) Open(context.Context, driver.Target) (driver.Session, error) { return s, nil }
func (s *stuck) Provision(context.Context, driver.Topology) (driver.Semantics, error) {
	return driver.Semantics{Transport: "none"}, nil
}
func (s *stuck) Consumer(_ context.Context, _ driver.ConsumerSpec, d driver.Deliver) (driver.Consumer, error) {
	return closer{}, nil
}
func (s *stuck) Producer(_ context.Context, p driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &stuckProducer{owner: s, acks: a, conn: p.Conn}, nil
}
func (s *stuck) Deprovision(context.Context) error { return nil }
func (s *stuck) Close(context.Context) error       { return nil }

type closer struct{}

func (closer) Close(context.Context) error { return nil }

type stuckProducer struct {
	closer
	owner *stuck
	acks  driver.Acks
	conn  int
	n     int
}

func (p *stuckProducer) Send(token uint64, _ []byte) error {
	if p.conn == p.owner.conn {
		if p.n++; p.n == p.owner.after {
			time.Sleep(p.owner.Duration)
		}
	}
	p.owner.sent.Add(1)
	p.acks.Done(token, nil)
	return nil
}

// While one producer's connection blocks, the others on the same pacer go on.
func TestBlockedSendDoesNotHoldUpOthers(t *testing.T) {
	const stall = 400 * time.Millisecond
	d := &stuck{conn: 2, after: 60, Duration: stall}
	r := measureConfig(t, Config{Pacers: 1, Scenario: parse(t, "phases: {warmup: 200ms, duration: 2s}\nworkload: {pattern: publish, rate: 1000/s, producers: 4}"),
		Entry: driver.Entry{Name: "stuck", Driver: d, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}}})
	c := r.Counters
	if c.Sent != 2000 || c.Acked != 2000 || c.Takeovers != 1 {
		t.Fatalf("%+v", c)
	}
	// A quarter of the load is on the blocked connection: 100 messages come
	// due during the stall. What the others wait is the supervisor's delay.
	late := int64(0)
	for v := range buckets(r.Metrics[result.PublishResponse]) {
		if v.value > int64(stall)/4 {
			late += v.count
		}
	}
	if due := int64(stall.Seconds() * 250 * 3 / 4); late != due {
		t.Errorf("%d messages waited for more than a quarter of the stall, and %d were due on the blocked connection then\n%s", late, due, show(r))
	}
	if blocked := r.Summary.Histograms[result.LagBlocked]; blocked.Max < int64(stall)*9/10 {
		t.Errorf("blocked for at most %v", time.Duration(blocked.Max))
	}
}

type bucket struct{ value, count int64 }

func buckets(m *result.Merged) func(func(bucket) bool) {
	return func(yield func(bucket) bool) {
		whole := true
		m.Hist.Buckets(func(low, _, n int64) { whole = whole && yield(bucket{low, n}) })
	}
}

// An interruption ends the window: later messages are not part of it, and every message that
// was due is accounted for.
func TestInterruptEndsTheWindow(t *testing.T) {
	var cancel context.CancelFunc
	r := inVirtualTime(t, Config{Scenario: parse(t, "target: {driver: mem, options: {delay: 300us}}\nphases: {warmup: 200ms, duration: 1h}\nworkload: {rate: 2000/s, producers: 3}"),
		Entry: mem.Entry(),
		Observer: func(p Progress) {
			if p.Phase == result.PhaseMeasure {
				cancel()
			}
		}}, func(ctx context.Context) context.Context {
		ctx, cancel = context.WithCancel(ctx)
		return ctx
	})
	if !r.Summary.Interrupted || r.Counters.NotSent != 0 || r.Counters.Missing != 0 {
		t.Errorf("%s", show(r))
	}
	// One interval and a little more, as the clock of the run itself has it.
	if want := int64(float64(r.Summary.End) / 1e9 * 2000); r.Counters.Scheduled < want-3 || r.Counters.Scheduled > want+3 {
		t.Errorf("%d scheduled in %v, want %d", r.Counters.Scheduled, time.Duration(r.Summary.End), want)
	}
}

// A second interruption ends the run at once; what was written can be read.
func TestAbort(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	abort := make(chan struct{})
	once := sync.OnceFunc(func() { close(abort) })
	file := t.TempDir() + "/run.jsonl"
	_, err := Run(t.Context(), Config{Scenario: parse(t, "phases: {warmup: 200ms, duration: 1h}\nworkload: {rate: 2000/s}"),
		Entry: nats.Entry(), URL: b.URL, File: file, Abort: abort,
		Observer: func(p Progress) {
			if p.Phase == result.PhaseMeasure {
				once()
			}
		}})
	if err == nil || !strings.Contains(err.Error(), plan.ErrAborted.Error()) {
		t.Fatalf("error %v", err)
	}
	r, err := result.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Summary.Aborted || r.Summary.Verdict.Status == result.Valid {
		t.Errorf("%s", show(r))
	}
}

// A run ends every goroutine and thread that it starts.
func TestNothingIsLeftRunning(t *testing.T) {
	b := startNATS(t)
	before := runtime.NumGoroutine()
	for _, w := range []string{"{rate: 500/s, producers: 4, consumers: 4}", "{loop: closed}", "{pattern: request-reply}"} {
		measure(t, "phases: {warmup: 100ms, duration: 100ms}\nworkload: "+w, nats.Entry(), b.URL)
	}
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		runtime.Gosched()
	}
}

// Before the window there is nothing to write: the run ends at once and leaves
// no file.
func TestInterruptInTheWarmUp(t *testing.T) {
	for _, workload := range []string{"{rate: 500/s}", "{loop: closed}", "{rate: max, in_flight: {messages: 20}}"} {
		s := parse(t, "target: {driver: mem, options: {delay: 1ms, ack: broker, ack_delay: 1ms}}\nphases: {warmup: 1h}\nworkload: "+workload)
		file := t.TempDir() + "/run.jsonl"
		synctest.Test(t, func(t *testing.T) {
			virtual := clocktest.New()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := Run(ctx, Config{Scenario: s, Entry: mem.Entry(), Virtual: virtual, File: file,
				Observer: func(p Progress) { time.AfterFunc(200*time.Millisecond, cancel) }})
			if !errors.Is(err, plan.ErrAborted) {
				t.Errorf("%s: error %v", workload, err)
			}
		})
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the file stayed: %v", workload, err)
		}
	}
}

// An interruption while the run waits for first messages is not reported as the broker's fault.
func TestInterruptBeforeTheFirstMessageArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := parse(t, "target: {driver: mem, options: {delay: 5s}}\nworkload: {rate: 10/s}")
		virtual := clocktest.New()
		time.AfterFunc(time.Second, cancel)
		if _, err := Run(ctx, Config{Scenario: s, Entry: mem.Entry(), Virtual: virtual}); !errors.Is(err, ErrAborted) {
			t.Errorf("%v", err)
		}
	})
}
