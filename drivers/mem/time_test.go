package mem_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
)

// arrival is a message and when it came, in the bubble's own time.
type arrival struct {
	key
	at time.Duration
}

// arrivals is what a consumer got.
type arrivals struct {
	mu  sync.Mutex
	all []arrival
}

// deliver returns the Deliver that takes down what comes, from now on.
func (a *arrivals) deliver() driver.Deliver {
	start := time.Now()
	return func(m driver.Message) {
		k, _ := read(m.Payload)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.all = append(a.all, arrival{k, time.Since(start)})
	}
}

func (a *arrivals) list() []arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all)
}

func sendOne(t *testing.T, p driver.Producer, seq uint64) {
	t.Helper()
	k := key{0, seq}
	if err := p.Send(token(k), k.write()); err != nil {
		t.Fatal(err)
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, pace = 200, 10 * time.Millisecond
		s := open(t, mem.New(), map[string]any{"delay": "5ms", "jitter": "3ms"})
		var first, second arrivals
		subscribe(t, s, 0, "", first.deliver())
		subscribe(t, s, 1, "", second.deliver())
		p := connect(t, s, 0, discard{})
		for seq := range uint64(n) {
			sendOne(t, p, seq)
			time.Sleep(pace)
		}
		synctest.Wait()
		one, two := first.list(), second.list()
		if len(one) != n || len(two) != n {
			t.Fatalf("%d and %d messages arrived", len(one), len(two))
		}
		shortest, longest := time.Hour, time.Duration(0)
		for seq, a := range one {
			took := a.at - time.Duration(seq)*pace
			if took < 5*time.Millisecond || took >= 8*time.Millisecond {
				t.Errorf("message %d took %v", seq, took)
			}
			shortest, longest = min(shortest, took), max(longest, took)
			if a != two[seq] {
				t.Errorf("one consumer got %+v, the other %+v", a, two[seq])
			}
		}
		if longest-shortest < time.Millisecond {
			t.Errorf("all took %v to %v: there is no jitter in this", shortest, longest)
		}
	})
}

// From a message on, each takes longer.
func TestSlowDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, pace = 10, 10 * time.Millisecond
		s := open(t, mem.New(), map[string]any{"delay": "1ms", "slow_after": n / 2, "slow_delay": "5ms"})
		var came arrivals
		subscribe(t, s, 0, "", came.deliver())
		p := connect(t, s, 0, discard{})
		for seq := range uint64(n) {
			sendOne(t, p, seq)
			time.Sleep(pace)
		}
		synctest.Wait()
		for seq, a := range came.list() {
			want := time.Millisecond
			if seq >= n/2 {
				want = 5 * time.Millisecond
			}
			if took := a.at - time.Duration(seq)*pace; took != want {
				t.Errorf("message %d took %v, want %v", seq, took, want)
			}
		}
		if got := len(came.list()); got != n {
			t.Errorf("%d messages arrived", got)
		}
	})
}

// What is drawn at random and what is counted begins anew with the window, however much
// was sent before.
func TestTheBeginningIsThatOfTheWindow(t *testing.T) {
	after := func(warmup uint64) (took []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			const n, pace = 40, 100 * time.Millisecond
			s := open(t, mem.New(), map[string]any{"begin": "window", "jitter": "3ms", "slow_after": 30, "slow_delay": "5ms", "stall_after": 20, "stall_for": "40ms"})
			var came arrivals
			subscribe(t, s, 0, "", came.deliver())
			p := connect(t, s, 0, discard{})
			for seq := range warmup {
				sendOne(t, p, seq)
			}
			time.Sleep(pace)
			synctest.Wait()
			from := time.Duration(0)
			p.(driver.WindowWatcher).WindowBegins()
			for seq := range uint64(n) {
				sendOne(t, p, warmup+seq)
				time.Sleep(pace)
			}
			synctest.Wait()
			for seq, a := range came.list()[warmup:] {
				if seq == 0 {
					from = a.at.Truncate(pace)
				}
				took = append(took, a.at-from-time.Duration(seq)*pace)
			}
		})
		return took
	}
	without, with := after(0), after(13)
	if !slices.Equal(without, with) {
		t.Errorf("without a warm-up messages took %v, after one %v", without, with)
	}
	if without[19] >= 3*time.Millisecond || without[20] != 40*time.Millisecond || without[29] >= 3*time.Millisecond || without[30] < 5*time.Millisecond {
		t.Errorf("message 20 is not stalled, or message 30 not slow: %v", without)
	}
}

// Messages on their way at the same time do not overtake each other, nor wait
// for each other longer than it takes.
func TestJitterKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 500
		s := open(t, mem.New(), map[string]any{"delay": "5ms", "jitter": "3ms"})
		var came arrivals
		subscribe(t, s, 0, "", came.deliver())
		p := connect(t, s, 0, discard{})
		for seq := range uint64(n) {
			sendOne(t, p, seq)
		}
		time.Sleep(8 * time.Millisecond)
		synctest.Wait()
		got := came.list()
		if len(got) != n {
			t.Fatalf("%d messages arrived", len(got))
		}
		for seq, a := range got {
			if a.seq != uint64(seq) {
				t.Fatalf("message %d came in place of %d", a.seq, seq)
			}
		}
	})
}

func TestAckDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, mem.New(), map[string]any{"ack": "broker", "ack_delay": "7ms"})
		v := newVerdicts()
		sendOne(t, connect(t, s, 0, v), 1)
		time.Sleep(7*time.Millisecond - time.Nanosecond)
		synctest.Wait()
		if v.total() != 0 {
			t.Error("acknowledged too early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if v.total() != 1 {
			t.Error("not acknowledged in time")
		}
	})
}

func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const before, length = 10, time.Second
		b := mem.New()
		s := open(t, b, map[string]any{"ack": "broker", "stall_after": before, "stall_for": length.String()})
		var came arrivals
		subscribe(t, s, 0, "", came.deliver())
		v := newVerdicts()
		p := connect(t, s, 0, v)
		for seq := range uint64(before) {
			sendOne(t, p, seq)
		}
		synctest.Wait()
		for seq := range uint64(before) {
			sendOne(t, p, before+seq)
		}
		synctest.Wait()
		if got := came.list(); len(got) != before || v.total() != before {
			t.Errorf("%d delivered and %d acknowledged when the broker stalls, want %d", len(got), v.total(), before)
		}
		time.Sleep(length)
		synctest.Wait()
		got := came.list()
		if len(got) != 2*before || v.total() != 2*before {
			t.Fatalf("%d delivered and %d acknowledged after the stall, want %d", len(got), v.total(), 2*before)
		}
		for _, a := range got[before:] {
			if a.at != length {
				t.Errorf("message %d was held up for %v", a.seq, a.at)
			}
		}
	})
}

// A session that closes takes its stall along.
func TestStallEndsWithSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		s := open(t, b, map[string]any{"stall_after": 0, "stall_for": "1h"})
		sendOne(t, connect(t, s, 0, discard{}), 0)
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		open(t, b, nil) // would hang
	})
}

// A frozen broker takes what its queues hold; then Send blocks.
func TestFreezeBlocksSend(t *testing.T) {
	for _, options := range []map[string]any{{"queue": 4}, {"queue": 4, "ack": "broker"}, {"sync": true}} {
		synctest.Test(t, func(t *testing.T) {
			const n = 20
			b := mem.New()
			s := open(t, b, options)
			var came arrivals
			subscribe(t, s, 0, "", came.deliver())
			v := newVerdicts()
			p := connect(t, s, 0, v)
			b.Freeze()
			b.Freeze()
			var sent atomic.Int64
			go func() {
				for seq := range uint64(n) {
					sendOne(t, p, seq)
					sent.Add(1)
				}
			}()
			synctest.Wait()
			// Besides the queue, the consumer has one in its hands.
			want := int64(5)
			if options["sync"] == true {
				want = 0
			}
			if sent.Load() != want || len(came.list()) != 0 {
				t.Errorf("%v: frozen, %d are sent and %d delivered; want %d and 0", options, sent.Load(), len(came.list()), want)
			}
			if options["ack"] != nil && v.total() > 0 {
				t.Errorf("%v: frozen, %d are acknowledged", options, v.total())
			}
			b.Thaw()
			synctest.Wait()
			if len(came.list()) != 0 {
				t.Errorf("%v: delivered although one of two freezes lasts", options)
			}
			b.Thaw()
			synctest.Wait()
			if sent.Load() != n || len(came.list()) != n || v.total() != n {
				t.Errorf("%v: thawed, %d are sent, %d delivered, %d done", options, sent.Load(), len(came.list()), v.total())
			}
		})
	}
}

// Whoever wants an answer of a frozen broker waits as long as its context.
func TestFrozenBrokerAnswersNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		s := open(t, b, nil)
		p := connect(t, s, 0, discard{})
		b.Freeze()
		why := errors.New("long enough")
		for what, call := range map[string]func(ctx context.Context) error{
			"Open": func(ctx context.Context) error {
				_, err := b.Entry().Driver.Open(ctx, driver.Target{Run: "r"})
				return err
			},
			"Provision":   func(ctx context.Context) error { _, err := s.Provision(ctx, driver.Topology{}); return err },
			"Deprovision": s.Deprovision,
			"Producer": func(ctx context.Context) error {
				_, err := s.Producer(ctx, driver.ProducerSpec{ID: 1, Topic: "t0"}, discard{})
				return err
			},
			"Consumer": func(ctx context.Context) error {
				_, err := s.Consumer(ctx, driver.ConsumerSpec{Topics: []string{"t0"}}, nil)
				return err
			},
			"Requester": func(ctx context.Context) error {
				_, err := s.(driver.RequestReplier).Requester(ctx, driver.ProducerSpec{ID: 1, Topic: "t0"}, discard{}, nil)
				return err
			},
			"Sync": p.(driver.Syncer).Sync,
		} {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, why)
			if err := call(ctx); !errors.Is(err, why) || driver.Class(err) == nil {
				t.Errorf("%s returns %v", what, err)
			}
			cancel()
		}
	})
}

func TestThawWithoutFreeze(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("thawing what is not frozen goes unnoticed")
		}
	}()
	mem.New().Thaw()
}

// A Send that some consumers have had when its producer closes was a Send: it
// returns nil and its Done says what happened.
func TestCloseDuringSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, mem.New(), map[string]any{"queue": 1})
		var came arrivals
		subscribe(t, s, 0, "", came.deliver())
		release := make(chan struct{})
		subscribe(t, s, 1, "", func(driver.Message) { <-release })
		v := newVerdicts()
		p := connect(t, s, 0, v)
		result := make(chan error, 1)
		go func() {
			_, err := send(p, 0, 3) // one in Deliver, one in the queue, one too many
			result <- err
		}()
		synctest.Wait()
		if v.total() != 2 {
			t.Errorf("%d messages are sent before Send blocks, want 2", v.total())
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-result; err != nil {
			t.Errorf("the blocked Send returns %v", err)
		}
		close(release)
		synctest.Wait()
		if len(came.list()) != 3 || v.count(1, driver.ErrClosed) != 1 || v.total() != 3 {
			t.Errorf("%d delivered, %d closed of %d done; want 3, 1 and 3", len(came.list()), v.count(1, driver.ErrClosed), v.total())
		}
		if err := p.(driver.Syncer).Sync(t.Context()); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("Sync of a closed producer returns %v", err)
		}
	})
}
