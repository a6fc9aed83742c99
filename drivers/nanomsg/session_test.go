package nanomsg_test

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/nanomsg"
	"sixnines/internal/brokers/brokertest"
)

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
		{"a queue of none", driver.Target{Options: map[string]any{"queue": 0}}, driver.ErrOption, "(1 to"},
	} {
		t.Run(tt.name, func(t *testing.T) { sessiontest.Refused(t, nanomsg.Entry().Driver, tt.target, tt.class, tt.hint) })
	}
}

// The side that connects does not trust the certificate that it is shown.
func TestWrongCertificate(t *testing.T) {
	ours, theirs := brokertest.NewCertificates(t), brokertest.NewCertificates(t)
	s := sessiontest.Open(t, nanomsg.Entry().Driver, driver.Target{TLS: theirs.Client(false),
		Options: map[string]any{"server_cert": ours.ServerCert, "server_key": ours.ServerKey}})
	sessiontest.Produce(t, s, &sessiontest.Counter{})
	_, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, new(sessiontest.Counter).Deliver)
	if !errors.Is(err, driver.ErrUnauthorized) || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("%v; want not authorised, for an unknown authority", err)
	}
}

func TestEncryptedWithClientCertificates(t *testing.T) {
	certs := brokertest.NewCertificates(t)
	s := sessiontest.Open(t, nanomsg.Entry().Driver, driver.Target{TLS: certs.Client(true),
		Options: map[string]any{"server_cert": certs.ServerCert, "server_key": certs.ServerKey}})
	sem, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Producers: 1, Consumers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if sem.Transport != "tcp, tls" || sem.Settings["authentication"] != "client certificate" {
		t.Errorf("transport %q, authentication %q", sem.Transport, sem.Settings["authentication"])
	}
	var got, done sessiontest.Counter
	sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
	if err := sessiontest.Produce(t, s, &done).Send(1, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	got.Await(t, 1)
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
	s := sessiontest.Open(t, nanomsg.Entry().Driver, driver.Target{URL: "tcp://" + address})
	sessiontest.Produce(t, s, &sessiontest.Counter{})
	if _, err := net.Listen("tcp", address); err == nil {
		t.Error("nothing listens at the port that the URL names")
	}
}

// A subscriber in its Deliver does not hold up the others when it is known to
// take its time.
func TestSlowConsumerHoldsUpNobody(t *testing.T) {
	s := sessiontest.Open(t, nanomsg.Entry().Driver, driver.Target{})
	release := make(chan struct{})
	var slow, quick, done sessiontest.Counter
	sessiontest.Consume(t, s, driver.ConsumerSpec{Slow: true}, func(m driver.Message) {
		<-release
		slow.Deliver(m)
	})
	sessiontest.Consume(t, s, driver.ConsumerSpec{ID: 1, Conn: 1}, quick.Deliver)
	p := sessiontest.Produce(t, s, &done)
	const n = 400
	payload := make([]byte, 64<<10) // more than the kernel takes
	for i := range uint64(n) {
		if err := p.Send(i, payload); err != nil {
			t.Fatal(err)
		}
	}
	quick.Await(t, n)
	if slow.Count() != 0 {
		t.Error("the slow one is not slow")
	}
	close(release)
	slow.Await(t, n)
}

func TestNobodyPulls(t *testing.T) {
	for _, sockets := range []string{"direct", "library"} {
		s := sessiontest.Open(t, nanomsg.PipelineEntry().Driver, driver.Target{Options: map[string]any{"sockets": sockets}})
		var done sessiontest.Counter
		p := sessiontest.Produce(t, s, &done)
		if err := p.Send(1, []byte("x")); err != nil || done.Count() != 1 || !errors.Is(errors.Join(done.Failed()...), driver.ErrNotConnected) {
			t.Errorf("%s: Send says %v, Done %d times", sockets, err, done.Count())
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
	s := sessiontest.Open(t, nanomsg.Entry().Driver, driver.Target{Options: map[string]any{"sockets": "library"}})
	sem, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Consumers: 1})
	if err != nil || len(sem.Warnings) != 1 || !strings.Contains(sem.Warnings[0], "128") {
		t.Errorf("%v, %q; want a warning of queues of 128", err, sem.Warnings)
	}
}

// Producers that close and come again while others send disturb nobody.
func TestComingAndGoing(t *testing.T) {
	s := sessiontest.Open(t, nanomsg.Entry().Driver, driver.Target{})
	var got sessiontest.Counter
	sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
	var all sync.WaitGroup
	var sent atomic.Int64
	for id := range 4 {
		all.Go(func() {
			for range 10 {
				p, err := s.Producer(t.Context(), driver.ProducerSpec{ID: id, Conn: id % 2, Topic: "t0"}, &sessiontest.Counter{})
				if err != nil {
					t.Error(err)
					return
				}
				before := got.Count()
				if err := p.Send(1, []byte("x")); err != nil {
					t.Error(err)
				}
				sent.Add(1)
				got.Await(t, before+1)
				p.Close(t.Context())
			}
		})
	}
	all.Wait()
	got.Await(t, int(sent.Load()))
}

func BenchmarkSend(b *testing.B) {
	for _, sockets := range []string{"direct", "library"} {
		b.Run(sockets, func(b *testing.B) {
			s := sessiontest.Open(b, nanomsg.PipelineEntry().Driver, driver.Target{Options: map[string]any{"sockets": sockets}})
			var got sessiontest.Counter
			sessiontest.Consume(b, s, driver.ConsumerSpec{}, got.Deliver)
			p := sessiontest.Produce(b, s, &sessiontest.Counter{})
			payload := make([]byte, 256)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := p.Send(uint64(i), payload); err != nil {
					b.Fatal(err)
				}
			}
			got.Await(b, b.N)
		})
	}
}

// BenchmarkPingPong times one message at a time from Send to Deliver and back to
// the sender by a channel.
func BenchmarkPingPong(b *testing.B) {
	for _, sockets := range []string{"direct", "library"} {
		b.Run(sockets, func(b *testing.B) {
			s := sessiontest.Open(b, nanomsg.Entry().Driver, driver.Target{Options: map[string]any{"sockets": sockets}})
			got := make(chan struct{}, 1)
			sessiontest.Consume(b, s, driver.ConsumerSpec{}, func(driver.Message) { got <- struct{}{} })
			p := sessiontest.Produce(b, s, &sessiontest.Counter{})
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
