package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/plan"
	"sixnines/internal/integrity"
	"sixnines/internal/transport"
	"sixnines/result"
	"sixnines/scenario"
)

// loopback is the least that a driver can do: Send delivers at once, on the
// caller's thread.
type loopback struct {
	acks    driver.Acks
	deliver driver.Deliver
}

func (l *loopback) Send(token uint64, payload []byte) error {
	if cap(payload) != len(payload) {
		return errors.New("what is appended to the payload is written over the slot's body")
	}
	if l.deliver != nil {
		l.deliver(driver.Message{Payload: payload})
	}
	l.acks.Done(token, nil)
	return nil
}

func (l *loopback) Close(context.Context) error { return nil }

// newLoadOf plans the load of a run that is not executed.
func newLoadOf(c Config) (*load, error) {
	return newLoad(plan.NewControl(settingsOf(c), c.Virtual, func(result.Event) {}), scenario.Part{Scenario: c.Scenario})
}

// loopRun returns a load whose one lane sends to a loopback, ready to send.
func loopRun(tb testing.TB, ack driver.AckKind) (*load, func(due int64) bool) {
	tb.Helper()
	return loopRunOf(tb, ack, "size: 256B")
}

// loopRunOf is loopRun of a workload that has these keys besides its rate.
func loopRunOf(tb testing.TB, ack driver.AckKind, workload string) (*load, func(due int64) bool) {
	tb.Helper()
	s, err := scenario.Parse("bench", []byte("seed: 7\nphases: {duration: 1h}\nworkload: {rate: 1000000/s, "+workload+"}"))
	if err != nil {
		tb.Fatal(err)
	}
	s.Normalise()
	ld, err := newLoadOf(Config{Scenario: s, Entry: driver.Entry{Name: "loopback", Capabilities: driver.Capabilities{Ack: ack}}})
	if err != nil {
		tb.Fatal(err)
	}
	ld.Flow.Closes = flow.OnDelivery
	ld.session.Main = fakeSession{}
	ld.session.Dialers = []*transport.Dialer{transport.NewDialer(false)}
	if err := ld.connect(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	l := ld.sending.Lanes[0]
	st := ld.sending.Streams[0]
	st.Producer = &loopback{acks: l.Acks, deliver: ld.receiving.Consumers[0].Deliver}
	ld.Start.Store(clock.Now() - int64(time.Second))
	ld.End.Store(ld.Start.Load() + int64(time.Hour))
	return ld, ld.sending.Direct()
}

type fakeSession struct{}

func (fakeSession) Provision(context.Context, driver.Topology) (driver.Semantics, error) {
	return driver.Semantics{}, nil
}
func (fakeSession) Producer(_ context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &keyedLoopback{loopback: loopback{acks: a}}, nil
}
func (fakeSession) Consumer(context.Context, driver.ConsumerSpec, driver.Deliver) (driver.Consumer, error) {
	return nil, nil
}
func (fakeSession) Deprovision(context.Context) error { return nil }
func (fakeSession) Close(context.Context) error       { return nil }

// sendOne returns a function that sends a message which is due.
func sendOne(t *testing.T, send func(due int64) bool) func() {
	return func() {
		if !send(clock.Now()) {
			t.Fatal("no credit")
		}
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	for _, ack := range []driver.AckKind{driver.AckKindNone, driver.AckKindBroker} {
		ld, send := loopRun(t, ack)
		if ack == driver.AckKindBroker {
			// As if there were a connection, and every stage seen.
			ld.sending.Lanes[0].Conn, ld.receiving.Consumers[0].Conn = &transport.Conn{}, &transport.Conn{}
			ld.recording.Stages.Why = ""
			ld.startStages()
		}
		if n := testing.AllocsPerRun(20_000, sendOne(t, send)); n != 0 {
			t.Errorf("ack %s: %v allocations a message", ack, n)
		}
	}
}

// BenchmarkMessage is our whole work for one message: pace, stamp, send,
// acknowledge where there is one, receive, check, record. It reports what is
// left when the clock's readings and the body's checksum are taken away.
func BenchmarkMessage(b *testing.B) {
	readings := map[driver.AckKind]float64{driver.AckKindNone: 3, driver.AckKindBroker: 4}
	for _, ack := range []driver.AckKind{driver.AckKindNone, driver.AckKindBroker} {
		b.Run("ack="+string(ack), func(b *testing.B) {
			_, send := loopRun(b, ack)
			now := clock.Now()
			b.ReportAllocs()
			for b.Loop() {
				now += 100
				send(min(now, clock.Now()))
			}
			per := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			payload := make([]byte, 256)
			const n = 100_000
			from := clock.Now()
			for range n {
				integrity.BodySum(payload)
			}
			sum := float64(clock.Now()-from) / n
			// One more reading is this loop's own.
			b.ReportMetric(per-(readings[ack]+1)*clockCost()-sum, "own-ns/op")
		})
	}
}
