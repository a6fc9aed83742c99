package sixnines

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
)

// outcomes takes acknowledgements.
type outcomes struct {
	done chan error
	n    atomic.Int64
}

func (o *outcomes) Done(_ uint64, err error) {
	o.n.Add(1)
	o.done <- err
}

// open returns a session with its workers at hand, and a producer.
func open(tb testing.TB, d requesterDriver) (*workers, driver.Producer, *outcomes) {
	tb.Helper()
	s, err := d.Open(tb.Context(), driver.Target{})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := s.Provision(tb.Context(), driver.Topology{}); err != nil {
		tb.Fatal(err)
	}
	o := &outcomes{done: make(chan error, 2*d.workers)}
	p, err := s.Producer(tb.Context(), driver.ProducerSpec{}, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s.(*workers), p, o
}

func function(f RequesterFunc) func() (Requester, error) {
	return func() (Requester, error) { return f, nil }
}

func TestRequestsAllocateNothing(t *testing.T) {
	for _, threads := range []bool{true, false} {
		_, p, o := open(t, requesterDriver{workers: 2, timeout: time.Minute, threads: threads,
			create: function(func(context.Context) error { return nil })})
		if n := testing.AllocsPerRun(2000, func() {
			if err := p.Send(1, nil); err != nil {
				t.Error(err)
			}
			if err := <-o.done; err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("by wake pipe %v: %v allocations a request", threads, n)
		}
	}
}

// A Request that ignores its context keeps its worker; Close returns by its own
// deadline, tears down everybody else, and nothing is reported any more.
func TestCloseGivesUpOnWhatDoesNotReturn(t *testing.T) {
	release := make(chan struct{})
	entered := make(chan struct{}, 1)
	w, p, o := open(t, requesterDriver{workers: 1, timeout: time.Millisecond, threads: true,
		create: function(func(context.Context) error {
			entered <- struct{}{}
			<-release
			return nil
		})})
	if err := p.Send(1, nil); err != nil {
		t.Fatal(err)
	}
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Close(ctx); err == nil || !strings.Contains(err.Error(), "worker 0: Request has not returned") {
		t.Errorf("%v", err)
	}
	close(release)
	<-w.all[0].ended
	if n := o.n.Load(); n != 0 {
		t.Errorf("%d outcomes were reported after Close", n)
	}
}

func TestTimeoutsBecomeTheContractsClass(t *testing.T) {
	own := errors.New("own")
	for _, tt := range []struct {
		name    string
		request RequesterFunc
		want    error
	}{
		{"deadline", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, driver.ErrTimeout},
		{"deadline of a derived context", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-ctx.Done()
			return fmt.Errorf("derived: %w", ctx.Err())
		}, driver.ErrTimeout},
		{"other error at the deadline", func(ctx context.Context) error { <-ctx.Done(); return own }, driver.ErrTimeout},
		{"own class", func(context.Context) error { return driver.ErrThrottled }, driver.ErrThrottled},
		{"own error", func(context.Context) error { return own }, own},
		{"late success", func(ctx context.Context) error { <-ctx.Done(); return nil }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p, o := open(t, requesterDriver{workers: 1, timeout: 5 * time.Millisecond, create: function(tt.request)})
			for range 3 { // a missed deadline must not be the next request's
				if err := p.Send(1, nil); err != nil {
					t.Fatal(err)
				}
				if err := <-o.done; !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
			}
		})
	}
}

func TestContextsAreReusedUntilMissed(t *testing.T) {
	d := newDeadline(t.Context(), time.Hour)
	first := d.begin()
	until, _ := first.Deadline()
	if d.end() {
		t.Fatal("an hour has passed")
	}
	if again := d.begin(); again != first {
		t.Error("the context was not used again")
	} else if later, _ := again.Deadline(); later.Before(until) {
		t.Errorf("its deadline is %v, and was %v", later, until)
	}
	d.timer.Reset(0)
	<-first.Done()
	if err := first.Err(); err != context.DeadlineExceeded {
		t.Errorf("the error is %v", err)
	}
	if !d.end() {
		t.Error("the deadline was not missed")
	}
	next := d.begin()
	if next == first || next.Err() != nil {
		t.Errorf("the next request's context has ended: %v", next.Err())
	}
	d.close()
	if err := next.Err(); err != context.Canceled {
		t.Errorf("closed: %v", err)
	}
}

// What a request derives from its context costs no goroutine.
func TestDerivedContextsNeedNoGoroutine(t *testing.T) {
	d := newDeadline(t.Context(), time.Hour)
	defer d.close()
	before := runtime.NumGoroutine()
	for range 100 {
		_, cancel := context.WithCancel(d.begin())
		defer cancel()
		d.end()
	}
	if n := runtime.NumGoroutine(); n > before+10 {
		t.Errorf("%d goroutines, and %d before", n, before)
	}
}

// BenchmarkHandOff is one request after the other from Send to Done, its own
// work nothing: by the wakePipe as for pacers, and by a channel alone as for closed
// loops and flat out. Mind what wakePipe says: from a pacer's thread it is the other
// way round.
func BenchmarkHandOff(b *testing.B) {
	for _, threads := range []bool{true, false} {
		b.Run(fmt.Sprintf("pipe=%v", threads), func(b *testing.B) {
			_, p, o := open(b, requesterDriver{workers: DefaultWorkers, timeout: time.Minute, threads: threads,
				create: function(func(context.Context) error { return nil })})
			b.ReportAllocs()
			for b.Loop() {
				_ = p.Send(1, nil)
				<-o.done
			}
		})
	}
}

func BenchmarkDeadline(b *testing.B) {
	d := newDeadline(b.Context(), time.Minute)
	defer d.close()
	b.ReportAllocs()
	for b.Loop() {
		d.begin()
		d.end()
	}
}
