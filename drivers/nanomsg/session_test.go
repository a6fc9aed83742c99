package nanomsg_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/nanomsg"
	"sixnines/internal/brokers/brokertest"
)

// counter counts what it is told of.
type counter struct {
	n    atomic.Int64
	last atomic.Pointer[error]
}

func (c *counter) Done(_ uint64, err error) {
	c.n.Add(1)
	c.last.Store(&err)
}

func (c *counter) deliver(driver.Message) { c.n.Add(1) }

func (c *counter) await(t testing.TB, n int64) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); c.n.Load() < n; time.Sleep(50 * time.Microsecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d instead of %d", c.n.Load(), n)
		}
	}
}

func open(t testing.TB, e driver.Entry, target driver.Target) driver.Session {
	t.Helper()
	target.Run = "test"
	s, err := e.Driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func consume(t testing.TB, s driver.Session, spec driver.ConsumerSpec, deliver driver.Deliver) driver.Consumer {
	t.Helper()
	if spec.Topics == nil {
		spec.Topics = []string{"t0"}
	}
	c, err := s.Consumer(t.Context(), spec, deliver)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func produce(t testing.TB, s driver.Session, acks driver.Acks) driver.Producer {
	t.Helper()
	p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, acks)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBadTargets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	certs := brokertest.NewCertificates(t)
	for _, tt := range []struct {
		name   string
		target driver.Target
		class  error
		hint   string
	}{
		{"a port that is taken", driver.Target{URL: "tcp://" + l.Addr().String()}, driver.ErrNotConnected, "taken"},
		{"another machine's address", driver.Target{URL: "tcp://192.0.2.1:0"}, driver.ErrNotConnected, "this machine"},
		{"no directory", driver.Target{URL: "ipc://" + filepath.Join(t.TempDir(), "no", "s")}, driver.ErrNotConnected, "does not exist"},
		{"another scheme", driver.Target{URL: "nats://127.0.0.1:4222"}, driver.ErrOption, "want tcp, tls+tcp, inproc, ipc"},
		{"no certificate to bind with", driver.Target{TLS: certs.Client(false)}, driver.ErrOption, "server_cert"},
		{"tls without files", driver.Target{URL: "tls+tcp://127.0.0.1:0"}, driver.ErrOption, "target.tls"},
		{"tls over ipc", driver.Target{URL: "ipc://", TLS: certs.Client(true)}, driver.ErrUnsupported, "only over tcp"},
		{"a queue of none", driver.Target{Options: map[string]any{"queue": 0}}, driver.ErrOption, "from 1"},
	} {
		tt.target.Run = "test"
		s, err := nanomsg.Entry().Driver.Open(t.Context(), tt.target)
		if err == nil {
			s.Close(t.Context())
		}
		if !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.hint) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want class %q with %q", tt.name, err, tt.class, tt.hint)
		}
	}
}

// The side that connects does not trust the certificate that it is shown.
func TestWrongCertificate(t *testing.T) {
	ours, theirs := brokertest.NewCertificates(t), brokertest.NewCertificates(t)
	s := open(t, nanomsg.Entry(), driver.Target{TLS: theirs.Client(false),
		Options: map[string]any{"server_cert": ours.ServerCert, "server_key": ours.ServerKey}})
	produce(t, s, &counter{})
	_, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, new(counter).deliver)
	if !errors.Is(err, driver.ErrUnauthorized) || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("%v; want not authorised, for an unknown authority", err)
	}
}

func TestEncryptedWithClientCertificates(t *testing.T) {
	certs := brokertest.NewCertificates(t)
	s := open(t, nanomsg.Entry(), driver.Target{TLS: certs.Client(true),
		Options: map[string]any{"server_cert": certs.ServerCert, "server_key": certs.ServerKey}})
	sem, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Producers: 1, Consumers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if sem.Transport != "tcp, tls" || sem.Settings["authentication"] != "client certificate" {
		t.Errorf("transport %q, authentication %q", sem.Transport, sem.Settings["authentication"])
	}
	var got, done counter
	consume(t, s, driver.ConsumerSpec{}, got.deliver)
	if err := produce(t, s, &done).Send(1, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	got.await(t, 1)
}

// A URL with a port gives the first socket that one, and the next the next.
func TestPortsFollow(t *testing.T) {
	port := func() int {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().(*net.TCPAddr).Port
	}()
	address := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String()
	s := open(t, nanomsg.Entry(), driver.Target{URL: "tcp://" + address})
	produce(t, s, &counter{})
	if _, err := net.Listen("tcp", address); err == nil {
		t.Error("nothing listens at the port that the URL names")
	}
}

// A subscriber in its Deliver does not hold up the others when it is known to
// take its time.
func TestSlowConsumerHoldsUpNobody(t *testing.T) {
	s := open(t, nanomsg.Entry(), driver.Target{})
	release := make(chan struct{})
	var slow, quick, done counter
	consume(t, s, driver.ConsumerSpec{Slow: true}, func(m driver.Message) {
		<-release
		slow.deliver(m)
	})
	consume(t, s, driver.ConsumerSpec{ID: 1, Conn: 1}, quick.deliver)
	p := produce(t, s, &done)
	const n = 400
	payload := make([]byte, 64<<10) // more than the kernel takes
	for i := range uint64(n) {
		if err := p.Send(i, payload); err != nil {
			t.Fatal(err)
		}
	}
	quick.await(t, n)
	if slow.n.Load() != 0 {
		t.Error("the slow one is not slow")
	}
	close(release)
	slow.await(t, n)
}

func TestNobodyPulls(t *testing.T) {
	for _, sockets := range []string{"direct", "library"} {
		s := open(t, nanomsg.PipelineEntry(), driver.Target{Options: map[string]any{"sockets": sockets}})
		var done counter
		p := produce(t, s, &done)
		if err := p.Send(1, []byte("x")); err != nil || done.n.Load() != 1 || !errors.Is(*done.last.Load(), driver.ErrNotConnected) {
			t.Errorf("%s: Send says %v, Done %d times", sockets, err, done.n.Load())
		}
		for _, topology := range []driver.Topology{
			{Topics: []string{"t0"}, Groups: []string{"a", "b"}, Consumers: 2},
			{Topics: []string{"t0"}},
		} {
			if _, err := s.Provision(t.Context(), topology); !errors.Is(err, driver.ErrUnsupported) {
				t.Errorf("%s: %+v: %v", sockets, topology, err)
			}
		}
		s.Close(t.Context())
	}
}

func TestLibrarySocketsWarn(t *testing.T) {
	s := open(t, nanomsg.Entry(), driver.Target{Options: map[string]any{"sockets": "library"}})
	sem, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Consumers: 1})
	if err != nil || len(sem.Warnings) != 1 || !strings.Contains(sem.Warnings[0], "128") {
		t.Errorf("%v, %q; want a warning of queues of 128", err, sem.Warnings)
	}
}

// Producers that close and come again while others send disturb nobody.
func TestComingAndGoing(t *testing.T) {
	s := open(t, nanomsg.Entry(), driver.Target{})
	var got counter
	consume(t, s, driver.ConsumerSpec{}, got.deliver)
	var all sync.WaitGroup
	var sent atomic.Int64
	for id := range 4 {
		all.Go(func() {
			for range 10 {
				p, err := s.Producer(t.Context(), driver.ProducerSpec{ID: id, Conn: id % 2, Topic: "t0"}, &counter{})
				if err != nil {
					t.Error(err)
					return
				}
				before := got.n.Load()
				if err := p.Send(1, []byte("x")); err != nil {
					t.Error(err)
				}
				sent.Add(1)
				got.await(t, before+1)
				p.Close(t.Context())
			}
		})
	}
	all.Wait()
	got.await(t, sent.Load())
}

func BenchmarkSend(b *testing.B) {
	for _, sockets := range []string{"direct", "library"} {
		b.Run(sockets, func(b *testing.B) {
			s := open(b, nanomsg.PipelineEntry(), driver.Target{Options: map[string]any{"sockets": sockets}})
			var got counter
			consume(b, s, driver.ConsumerSpec{}, got.deliver)
			p := produce(b, s, &counter{})
			payload := make([]byte, 256)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
			}
			got.await(b, int64(b.N))
		})
	}
}

// BenchmarkPingPong times one message at a time from Send to Deliver and back to
// the sender by a channel.
func BenchmarkPingPong(b *testing.B) {
	for _, sockets := range []string{"direct", "library"} {
		b.Run(sockets, func(b *testing.B) {
			s := open(b, nanomsg.Entry(), driver.Target{Options: map[string]any{"sockets": sockets}})
			got := make(chan struct{}, 1)
			consume(b, s, driver.ConsumerSpec{}, func(driver.Message) { got <- struct{}{} })
			p := produce(b, s, &counter{})
			payload := make([]byte, 256)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
				<-got
			}
		})
	}
}
