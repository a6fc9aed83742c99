//go:build zeromq && cgo && !windows

package zeromq_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/zeromq"
)

func TestBadTargets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tt := range []struct {
		name   string
		target driver.Target
		class  error
		hint   string
	}{
		{"a port that is taken", driver.Target{URL: "tcp://" + l.Addr().String()}, driver.ErrNotConnected, "taken"},
		{"another machine's address", driver.Target{URL: "tcp://192.0.2.1:0"}, driver.ErrNotConnected, "this machine"},
		{"no directory", driver.Target{URL: "ipc://" + filepath.Join(t.TempDir(), "no", "s")}, driver.ErrNotConnected, "does not exist"},
		{"another scheme", driver.Target{URL: "nats://127.0.0.1:4222"}, driver.ErrOption, "want tcp, ipc, inproc"},
		{"tls", driver.Target{TLS: &driver.TLS{}}, driver.ErrUnsupported, "security=curve"},
		{"curve in memory", driver.Target{URL: "inproc://", Options: map[string]any{"security": "curve"}}, driver.ErrOption, "CURVE"},
		{"no threads", driver.Target{Options: map[string]any{"io_threads": 0}}, driver.ErrOption, "(1 to 64)"},
	} {
		t.Run(tt.name, func(t *testing.T) { sessiontest.Refused(t, zeromq.Entry().Driver, tt.target, tt.class, tt.hint) })
	}
}

// The first socket has the URL's port, the next the next, and that one may be
// somebody else's.
func TestPortsFollow(t *testing.T) {
	var base int
	var next net.Listener
	for next == nil { // until the port behind a free one is ours
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		base = l.Addr().(*net.TCPAddr).Port
		next, _ = net.Listen("tcp", (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: base + 1}).String())
		l.Close()
	}
	defer next.Close()
	s := sessiontest.Open(t, zeromq.Entry().Driver, driver.Target{URL: "tcp://" + (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: base}).String()})
	sessiontest.Produce(t, s, &sessiontest.Counter{})
	_, err := s.Producer(t.Context(), driver.ProducerSpec{ID: 1, Conn: 1, Topic: "t0"}, &sessiontest.Counter{})
	if !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), "taken") {
		t.Errorf("%v; want not connected, for a port that is taken", err)
	}
}

// Publishers wait for a subscriber that has stopped taking, unless told to drop.
func TestHighWaterMark(t *testing.T) {
	const n = 2000
	for _, full := range []string{"block", "drop"} {
		t.Run(full, func(t *testing.T) {
			s := sessiontest.Open(t, zeromq.Entry().Driver, driver.Target{Options: map[string]any{"full": full,
				"send_hwm": 10, "receive_hwm": 10, "send_buffer": "4KiB", "receive_buffer": "4KiB"}})
			sem, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Consumers: 1})
			if err != nil || (full == "drop") != (len(sem.Warnings) == 1) {
				t.Errorf("%v, warnings %q", err, sem.Warnings)
			}
			release := make(chan struct{})
			let := sync.OnceFunc(func() { close(release) })
			defer let()
			var got, done sessiontest.Counter
			sessiontest.Consume(t, s, driver.ConsumerSpec{}, func(m driver.Message) {
				<-release
				got.Deliver(m)
			})
			p := sessiontest.Produce(t, s, &done)
			sent := make(chan error, 1)
			go func() {
				payload := make([]byte, 8<<10)
				for i := range uint64(n) {
					if err := p.Send(i, payload); err != nil {
						sent <- err
						return
					}
				}
				sent <- nil
			}()
			if full == "drop" { // all are sent while nobody takes any
				if err := <-sent; err != nil {
					t.Fatal(err)
				}
				let()
				got.Await(t, 1)
				if got.Count() == n {
					t.Error("nothing was dropped")
				}
				return
			}
			done.Await(t, 10)
			let()
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
			got.Await(t, n)
		})
	}
}

// A sender that waits for room gives up when its session closes.
func TestCloseFreesWhoWaits(t *testing.T) {
	s := sessiontest.Open(t, zeromq.PipelineEntry().Driver, driver.Target{Options: map[string]any{"send_hwm": 1, "receive_hwm": 1}})
	var delivering atomic.Bool
	release := make(chan struct{})
	sessiontest.Consume(t, s, driver.ConsumerSpec{}, func(driver.Message) { delivering.Store(true); <-release })
	p := sessiontest.Produce(t, s, &sessiontest.Counter{})
	sent := make(chan error, 1)
	var tries atomic.Int64
	go func() {
		payload := make([]byte, 64<<10)
		for {
			tries.Add(1)
			if err := p.Send(1, payload); err != nil {
				sent <- err
				return
			}
		}
	}()
	for tries.Load() < 3 || !delivering.Load() {
		time.Sleep(time.Millisecond)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Close(short); !errors.Is(err, driver.ErrTimeout) {
		t.Errorf("Close says %v while a Deliver does not return", err)
	}
	if err := <-sent; !errors.Is(err, driver.ErrClosed) {
		t.Errorf("Send says %v", err)
	}
	close(release)
}

// Go sends its threads signals, which end what a call of libzmq waits for.
func TestSignalsEndNothing(t *testing.T) {
	var stop atomic.Bool
	var signals sync.WaitGroup
	signals.Go(func() {
		for !stop.Load() {
			syscall.Kill(syscall.Getpid(), syscall.SIGURG)
		}
	})
	defer signals.Wait()
	defer stop.Store(true)
	for range 30 {
		s := sessiontest.Open(t, zeromq.PipelineEntry().Driver, driver.Target{URL: "ipc://"})
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, func(driver.Message) {})
		for range 4 {
			sessiontest.Produce(t, s, &sessiontest.Counter{})
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNobodyPulls(t *testing.T) {
	s := sessiontest.Open(t, zeromq.PipelineEntry().Driver, driver.Target{})
	var done sessiontest.Counter
	p := sessiontest.Produce(t, s, &done)
	if err := p.Send(1, []byte("x")); err != nil || done.Count() != 1 || !errors.Is(errors.Join(done.Failed()...), driver.ErrNotConnected) {
		t.Errorf("Send says %v, Done %d times", err, done.Count())
	}
	for _, topology := range []driver.Topology{
		{Topics: []string{"t0"}, Groups: []string{"a", "b"}, Consumers: 2},
		{Topics: []string{"t0"}},
		{Topics: []string{"a\x00b"}, Consumers: 1},
	} {
		if _, err := s.Provision(t.Context(), topology); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%+v: %v", topology, err)
		}
	}
}

// Replies wake a requester although its own sends take in what would have told
// of them.
func TestManyRequestsAtATime(t *testing.T) {
	s := sessiontest.Open(t, zeromq.Entry().Driver, driver.Target{}).(driver.RequestReplier)
	const n = 20000
	if _, err := s.Responder(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(m driver.Message) []byte { return m.Payload }); err != nil {
		t.Fatal(err)
	}
	var replies, done sessiontest.Counter
	p, err := s.Requester(t.Context(), driver.ProducerSpec{Topic: "t0"}, &done, replies.Deliver)
	if err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, 64)
	for i := range n {
		if err := p.Send(uint64(i), payload); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 { // let it go to sleep
			replies.Await(t, i+1)
		}
	}
	replies.Await(t, n)
}

// A subscription is in effect when Consumer returns: no message sent after it is
// lost, whoever came first.
func TestNoSlowJoiner(t *testing.T) {
	for round := range 50 {
		s := sessiontest.Open(t, zeromq.Entry().Driver, driver.Target{Options: map[string]any{"bind": []string{"producers", "consumers"}[round%2]}})
		var early, late, done sessiontest.Counter
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, early.Deliver)
		p := sessiontest.Produce(t, s, &done)
		if err := p.Send(1, []byte("first")); err != nil {
			t.Fatal(err)
		}
		sessiontest.Consume(t, s, driver.ConsumerSpec{ID: 1}, late.Deliver)
		if err := p.Send(2, []byte("second")); err != nil {
			t.Fatal(err)
		}
		early.Await(t, 2)
		late.Await(t, 1)
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
