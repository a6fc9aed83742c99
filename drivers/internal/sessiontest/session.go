// Package sessiontest has what tests of drivers do again and again beside the
// conformance suite: open a session, send and consume on it, count what comes of
// that, and wait for it. What must work for a test to go on ends the test if it
// does not.
package sessiontest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
)

// Patience limits every wait. It decides only how long a failure takes.
const Patience = time.Minute

// patience returns a context for one call of a driver.
func patience() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), Patience)
}

// Open opens a session of run "test", unless the target names another, and
// closes it when the test ends.
func Open(t testing.TB, d driver.Driver, target driver.Target) driver.Session {
	t.Helper()
	if target.Run == "" {
		target.Run = "test"
	}
	ctx, cancel := patience()
	defer cancel()
	s, err := d.Open(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := patience()
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Produce returns a producer for topic t0.
func Produce(t testing.TB, s driver.Session, acks driver.Acks) driver.Producer {
	t.Helper()
	ctx, cancel := patience()
	defer cancel()
	p, err := s.Producer(ctx, driver.ProducerSpec{Topic: "t0"}, acks)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Consume returns a consumer for topic t0, unless spec names others.
func Consume(t testing.TB, s driver.Session, spec driver.ConsumerSpec, deliver driver.Deliver) driver.Consumer {
	t.Helper()
	if spec.Topics == nil {
		spec.Topics = []string{"t0"}
	}
	ctx, cancel := patience()
	defer cancel()
	c, err := s.Consumer(ctx, spec, deliver)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Works opens a session, which must acknowledge and deliver a message, and
// returns the semantics that it reports.
func Works(t testing.TB, d driver.Driver, target driver.Target) driver.Semantics {
	t.Helper()
	s := Open(t, d, target)
	ctx, cancel := patience()
	defer cancel()
	defer s.Close(ctx)
	semantics, err := s.Provision(ctx, driver.Topology{Topics: []string{"t0"}, Producers: 1, Consumers: 1, MaxSize: 64})
	if err != nil {
		t.Fatal(err)
	}
	var got, acks Counter
	Consume(t, s, driver.ConsumerSpec{}, func(m driver.Message) {
		if string(m.Payload) != "hello" {
			t.Errorf("got %q", m.Payload)
		}
		got.Deliver(m)
	})
	if err := Produce(t, s, &acks).Send(1, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	got.Await(t, 1)
	if failed := acks.Await(t, 1); failed != nil {
		t.Error(failed)
	}
	return semantics
}

// Refused opens a session, which must fail with the class and say the words, in
// one line for each address.
func Refused(t testing.TB, d driver.Driver, target driver.Target, class error, words ...string) {
	t.Helper()
	ctx, cancel := patience()
	defer cancel()
	if target.Run == "" {
		target.Run = "test"
	}
	s, err := d.Open(ctx, target)
	if err == nil {
		s.Close(ctx)
		t.Fatal("the session opens")
	}
	if !errors.Is(err, class) {
		t.Errorf("error %q does not wrap %q", err, class)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	if strings.Count(err.Error(), "\n") > strings.Count(target.URL, ",") {
		t.Errorf("error %q has more lines than the target has addresses", err)
	}
}

// Allocations returns how many allocations a round of n messages makes, from Send
// until all of them are acknowledged and delivered, each once: of the sender, of who
// reads the answers and of the consumer together. Buffers have grown before it counts.
func Allocations(t testing.TB, p driver.Producer, acks, got *Counter, n int) float64 {
	t.Helper()
	payload := make([]byte, 256)
	acked, delivered := acks.Count(), got.Count()
	round := func() {
		acked, delivered = acked+n, delivered+n
		for range n {
			if err := p.Send(1, payload); err != nil {
				t.Fatal(err)
			}
		}
		if f, ok := p.(driver.Flusher); ok {
			if err := f.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		acks.Await(t, acked)
		got.Await(t, delivered)
	}
	for range 30 {
		round()
	}
	allocations := testing.AllocsPerRun(50, round)
	if a, d := acks.Count(), got.Count(); a != acked || d != delivered {
		t.Errorf("%d acknowledged and %d delivered, want %d and %d", a, d, acked, delivered)
	}
	return allocations
}
