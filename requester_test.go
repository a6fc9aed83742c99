package sixnines_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sixnines"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
	"sixnines/scenario"
)

// parse reads a scenario.
func parse(t testing.TB, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// request runs a scenario with Requesters, and checks what holds of every run:
// the accounts close, and the file says the same as the run.
func request(t *testing.T, text string, create func() (sixnines.Requester, error)) *result.Run {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.jsonl")
	r, err := sixnines.RunRequester(t.Context(), parse(t, text), create, sixnines.WithFile(file))
	if err != nil {
		t.Fatal(err)
	}
	judgetest.Verified(t, r, file)
	return r
}

func always(f func(ctx context.Context) error) func() (sixnines.Requester, error) {
	return func() (sixnines.Requester, error) { return sixnines.RequesterFunc(f), nil }
}

// stallingServer answers at once, except that from its nth request on it does
// not for a while.
type stallingServer struct {
	*httptest.Server
	requests atomic.Int64
	stalled  chan time.Duration // how long it was, when it is over
}

func startStalling(t *testing.T, nth int64, d time.Duration) *stallingServer {
	s := &stallingServer{stalled: make(chan time.Duration, 1)}
	over := make(chan struct{})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := s.requests.Add(1)
		if n == nth {
			began := time.Now()
			time.AfterFunc(d, func() {
				s.stalled <- time.Since(began)
				close(over)
			})
		}
		if n >= nth {
			<-over
		}
		_, _ = io.WriteString(w, "done")
	}))
	t.Cleanup(s.Close)
	return s
}

// httpRequester has a connection of its own.
type httpRequester struct {
	client    *http.Client
	transport *http.Transport
	url       string
}

func (r *httpRequester) Request(ctx context.Context) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return err
	}
	a, err := r.client.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, a.Body); err != nil {
		return err
	}
	if a.StatusCode != http.StatusOK {
		return errors.New(a.Status)
	}
	return nil
}

func (r *httpRequester) Teardown(context.Context) error {
	r.transport.CloseIdleConnections()
	return nil
}

func (s *stallingServer) requester() (sixnines.Requester, error) {
	tr := &http.Transport{}
	return &httpRequester{client: &http.Client{Transport: tr}, transport: tr, url: s.URL}, nil
}

// A service that stands still for D in a window of T makes 1−p of the requests
// wait longer than x_p = D − (1−p)·T; the closed loop beside it asks once,
// waits, and finds that hardly any request was slow.
func TestHTTPStallFollowsTheOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("figures, which the race detector would only blur")
	}
	const T, D = 4 * time.Second, time.Second
	for _, tt := range []struct{ name, workload string }{
		{"a worker for each request", "{rate: 100/s, in_flight: {messages: 200}}"},
		{"too few workers", "{rate: 100/s, in_flight: {messages: 8}}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			few := strings.Contains(tt.name, "few")
			var off string
			for range 4 {
				s := startStalling(t, 150, D)
				r := request(t, "phases: {warmup: 500ms, duration: 4s, drain: 5s}\nworkload: "+tt.workload, s.requester)
				d := <-s.stalled
				if c := r.Counters; c.Acked != c.Scheduled || c.Acked != 400 {
					t.Fatalf("a stall fails nothing: %+v", c)
				}
				if off = offHTTPOracle(r, d, T, few); off == "" {
					return
				}
				t.Log(off)
			}
			t.Error(off)
		})
	}
	t.Run("closed loop", func(t *testing.T) {
		s := startStalling(t, 250, D)
		r := request(t, "phases: {warmup: 500ms, duration: 4s, drain: 5s}\nworkload: {loop: closed, think: 4ms}", s.requester)
		d := <-s.stalled
		got := r.Summary.Histograms[result.RoundTripResponse]
		if p99 := got.Figures["99"].Value; p99 > int64(d)/4 || got.Max < int64(d)*9/10 {
			t.Errorf("one request of %d saw the stall of %v: p99 %v, max %v", got.Count, d, time.Duration(p99), time.Duration(got.Max))
		}
		if r.Header.Mode != result.ModeClosed {
			t.Errorf("mode %q", r.Header.Mode)
		}
	})
}

// offHTTPOracle tells what of a stall of d is not as arithmetic has it, if
// anything.
func offHTTPOracle(r *result.Run, d, window time.Duration, few bool) string {
	got := r.Summary.Histograms[result.RoundTripResponse]
	for p, label := range map[float64]string{0.9: "90", 0.99: "99"} {
		want := d.Seconds() - (1-p)*window.Seconds()
		most := 1.05 * want
		if few {
			most = 1.05 * d.Seconds() // working the queue off takes them a while
		}
		if have := float64(got.Figures[result.Percentile(label)].Value) / 1e9; have < 0.95*want || have > most {
			return fmt.Sprintf("p%s is %.4f s, the oracle says %.4f", label, have, want)
		}
	}
	if blocked := r.Summary.Histograms[result.LagBlocked].Max; (blocked > int64(d)/2) != few {
		return fmt.Sprintf("requests waited %v for a worker", time.Duration(blocked))
	}
	if few {
		// Nine in ten were sent after the stall; their service times know
		// nothing of it.
		if p95 := r.Summary.Histograms[result.RoundTripService].Figures["95"].Value; p95 > int64(d)/4 {
			return fmt.Sprintf("p95 of the service time is %v", time.Duration(p95))
		}
	}
	return ""
}

// The timeout is longer than a machine that is busy may keep a request from its thread:
// what was so late would time out as well.
func TestFailuresAreCountedAndTimeoutsCensored(t *testing.T) {
	var n, missed, cut atomic.Int64
	r := request(t, "record: {raw: true}\nphases: {warmup: 0s, duration: 2s, drain: 3s}\nworkload: {rate: 500/s, timeout: 500ms, in_flight: {messages: 500}}",
		always(func(ctx context.Context) error {
			if d, ok := ctx.Deadline(); !ok || time.Until(d) > 500*time.Millisecond {
				t.Errorf("deadline %v, %v", d, ok)
			}
			switch n.Add(1) % 10 {
			case 0:
				return errors.New("out of order")
			case 5:
				<-ctx.Done()
				missed.Add(1)
				if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
					cut.Add(1) // the run was over first
				}
				return ctx.Err()
			}
			return nil
		}))
	c := r.Counters
	// The load goes on after the window, and which requests are measured ones
	// is the schedule's business: of 1,000 in a row, 100 are of each kind.
	if c.Nacked+c.Acked+c.Unknown != 1000 || near(c.Nacked, 100) || near(c.Unknown, 100) || c.Censored != c.Unknown {
		t.Errorf("%+v", c)
	}
	if missed.Load()-cut.Load() < 90 { // the run's end cuts off only what was due after the window
		t.Errorf("of %d contexts %d did not end for the deadline", missed.Load(), cut.Load())
	}
	d := r.Summary.Histograms[result.RoundTripResponse]
	if !d.Figures["95"].AtLeast || d.Figures["75"].AtLeast {
		t.Errorf("a tenth timed out, so p95 is a lower bound: %+v", d)
	}
	if !d.Figures["95"].Refused || d.Figures["75"].Refused || d.Refusals != c.Nacked {
		t.Errorf("a tenth was refused, which is slower than what timed out: %+v", d)
	}
	// What is known of a request that timed out is its timeout, and not how long
	// the run went on: those bounds would be spread over its length.
	if median := time.Duration(r.Metrics[result.RoundTripResponse].Censored.Percentile(50)); median > time.Second {
		t.Errorf("with a timeout of 500ms in a run of two seconds half of the bounds are above %v", median)
	}
}

// near reports whether n is further from want than workers in parallel explain.
func near(n, want int64) bool { return n < want-8 || n > want+8 }

// staged notes what is done to it.
type staged struct {
	mu                        *sync.Mutex
	setups, requests, removed int
	busy                      atomic.Bool
	fail                      error // of Setup
}

func (s *staged) Setup(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setups++
	return s.fail
}

func (s *staged) Request(context.Context) error {
	if !s.busy.CompareAndSwap(false, true) {
		return errors.New("two requests at a time")
	}
	defer s.busy.Store(false)
	s.requests++
	return nil
}

func (s *staged) Teardown(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed++
	return nil
}

func TestEachWorkerIsSetUpAndTornDownOnce(t *testing.T) {
	for _, tt := range []struct {
		workload string
		workers  int
	}{
		{"{rate: 2000/s}", sixnines.DefaultWorkers},
		{"{rate: 2000/s, in_flight: {messages: 3}, producers: 2}", 3},
		{"{loop: closed, producers: 2, outstanding: 5}", 10},
		{"{rate: max, in_flight: {messages: 7}}", 7},
	} {
		t.Run(tt.workload, func(t *testing.T) {
			before := runtime.NumGoroutine()
			var mu sync.Mutex
			var all []*staged
			r := request(t, "phases: {warmup: 200ms, duration: 500ms, drain: 2s}\nworkload: "+tt.workload, func() (sixnines.Requester, error) {
				all = append(all, &staged{mu: &mu})
				return all[len(all)-1], nil
			})
			if len(all) != tt.workers || r.Header.Semantics.Settings["workers"] != fmt.Sprint(tt.workers) {
				t.Errorf("%d Requesters were made, want %d: %v", len(all), tt.workers, r.Header.Semantics.Settings)
			}
			for i, s := range all {
				if s.setups != 1 || s.removed != 1 || s.requests == 0 {
					t.Errorf("Requester %d: %d setups, %d requests, %d teardowns", i, s.setups, s.requests, s.removed)
				}
			}
			if c := r.Counters; c.Nacked != 0 || c.Unknown != 0 || c.Acked == 0 || c.Violations != 0 {
				t.Errorf("%+v", c)
			}
			until(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before })
		})
	}
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestFailingSetupEndsTheRun(t *testing.T) {
	bad := errors.New("no such service")
	var mu sync.Mutex
	var all []*staged
	_, err := sixnines.RunRequester(t.Context(), parse(t, "workload: {in_flight: {messages: 40}}"), func() (sixnines.Requester, error) {
		s := &staged{mu: &mu}
		if len(all) == 20 {
			s.fail = bad
		}
		all = append(all, s)
		return s, nil
	})
	if !errors.Is(err, bad) || !strings.Contains(err.Error(), "set up worker 20") {
		t.Errorf("%v", err)
	}
	for i, s := range all {
		want := s.setups
		if i == 20 {
			want = 0
		}
		if s.removed != want || s.setups > 1 {
			t.Errorf("Requester %d: %d setups, %d teardowns", i, s.setups, s.removed)
		}
	}
	_, err = sixnines.RunRequester(t.Context(), parse(t, "{}"), func() (sixnines.Requester, error) { return nil, bad })
	if !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
}

func TestRequesterRefusesWhatItCannotHave(t *testing.T) {
	for _, tt := range []struct{ text, says string }{
		{"target: {driver: nats}", "target.driver"},
		{"target: {options: {a: b}}", "target.options"},
		{"target: {url: 'http://x', tls: {ca: f}}", "target.tls"},
		{"workload: {pattern: deliver}", "workload.pattern"},
		{"workload: {topics: 2, producers: 2}", "workload.topics"},
		{"workload: {groups: 1}", "workload.groups"},
		{"workload: {producers: 4, connections: {producers: 2}}", "workload.connections"},
		{"workload: {producers: 4, in_flight: {each: 1}}", "workload.in_flight.each"},
		{"workload: {think: 1s}", "think time"},
	} {
		_, err := sixnines.RunRequester(t.Context(), parse(t, tt.text), always(func(context.Context) error { return nil }))
		if !errors.Is(err, sixnines.ErrUsage) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
	if _, err := sixnines.RunRequester(t.Context(), nil, always(nil)); !errors.Is(err, sixnines.ErrUsage) {
		t.Errorf("no scenario: %v", err)
	}
	if _, err := sixnines.RunRequester(t.Context(), &scenario.Scenario{}, nil); !errors.Is(err, sixnines.ErrUsage) {
		t.Errorf("no Requester: %v", err)
	}
}

func TestMessagesEndTheWindow(t *testing.T) {
	for _, load := range []string{"{rate: max, messages: 5000}", "{loop: closed, messages: 5000, outstanding: 3}"} {
		r := request(t, "phases: {warmup: 0s}\nworkload: "+load, always(func(context.Context) error { return nil }))
		if r.Counters.Acked != 5000 {
			t.Errorf("%s: %+v", load, r.Counters)
		}
	}
}

func TestContextEndsTheWindowEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var n atomic.Int64
	r, err := sixnines.RunRequester(ctx, parse(t, "phases: {warmup: 0s, duration: 1h}"), always(func(context.Context) error {
		if n.Add(1) == 500 {
			cancel()
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Summary.Interrupted || r.Counters.Acked < 400 || r.Counters.Acked != r.Counters.Scheduled {
		t.Errorf("interrupted %v: %+v", r.Summary.Interrupted, r.Counters)
	}
}

// A run is ended at once by its context's cause, and by a channel also after its context
// has ended.
func TestAbortEndsAtOnce(t *testing.T) {
	for name, way := range map[string]func(cancel context.CancelCauseFunc, abort chan struct{}){
		"by the cause":   func(cancel context.CancelCauseFunc, _ chan struct{}) { cancel(sixnines.ErrAborted) },
		"by the channel": func(_ context.CancelCauseFunc, abort chan struct{}) { close(abort) },
		"by the channel while it drains": func(cancel context.CancelCauseFunc, abort chan struct{}) {
			cancel(nil)
			close(abort)
		},
	} {
		t.Run(name, func(t *testing.T) {
			abort := make(chan struct{})
			run, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var calls atomic.Int32
			r, err := sixnines.RunRequester(run, parse(t, "phases: {warmup: 0s, duration: 1h, drain: 1h}"), always(func(ctx context.Context) error {
				switch calls.Add(1) {
				case 1: // which is tried before the window
					return nil
				case 2:
					way(cancel, abort)
				}
				<-ctx.Done() // the run's end; the timeout is the drain limit
				return ctx.Err()
			}), sixnines.WithAbort(abort))
			if !errors.Is(err, sixnines.ErrAborted) {
				t.Fatal(err)
			}
			if r == nil || r.Counters.Unknown == 0 || r.Counters.Nacked != 0 {
				t.Errorf("requests that were cut off have no outcome: %+v", r)
			}
		})
	}
}
