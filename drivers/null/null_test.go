package null_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/null"
)

// outcome collects what becomes of messages.
type outcome struct {
	mu   sync.Mutex
	errs map[uint64]error
	done chan uint64
}

func newOutcome() *outcome { return &outcome{errs: map[uint64]error{}, done: make(chan uint64, 1000)} }

func (o *outcome) Done(token uint64, err error) {
	o.mu.Lock()
	o.errs[token] = err
	o.mu.Unlock()
	o.done <- token
}

func (o *outcome) of(token uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.errs[token]
}

func open(t testing.TB, target driver.Target) driver.Session {
	t.Helper()
	target.Run = "test"
	s, err := null.Entry().Driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func TestRefusals(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("+OK I am somebody else\r\n"))
			c.Close()
		}
	}()
	for name, tt := range map[string]struct {
		target driver.Target
		class  error
		word   string
	}{
		"no scheme":     {driver.Target{URL: "127.0.0.1:1"}, driver.ErrOption, "want null://HOST:PORT"},
		"no port":       {driver.Target{URL: "null://127.0.0.1"}, driver.ErrOption, "want null://HOST:PORT"},
		"nobody":        {driver.Target{URL: "null://127.0.0.1:1"}, driver.ErrNotConnected, "127.0.0.1:1"},
		"somebody else": {driver.Target{URL: "null://" + l.Addr().String()}, driver.ErrNotConnected, "is a null broker there?"},
		"encryption":    {driver.Target{URL: "null://127.0.0.1:1", TLS: &driver.TLS{}}, driver.ErrUnsupported, "does not encrypt"},
		"option":        {driver.Target{URL: "null://127.0.0.1:1", Options: map[string]any{"ack": "all"}}, driver.ErrOption, "ack"},
	} {
		_, err := null.Entry().Driver.Open(t.Context(), tt.target)
		if !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.word) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the broker does to messages is said in the semantics.
func TestDelaysAreSaid(t *testing.T) {
	c := start(t, map[string]string{"delay": "rare(delay=1s,every=2)", "seed": "42"})
	s := open(t, driver.Target{URL: c.URL})
	semantics, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}})
	if err != nil {
		t.Fatal(err)
	}
	if semantics.Settings["delay"] != "rare(delay=1s,every=2)" || semantics.Settings["seed"] != "42" || len(semantics.Warnings) != 1 {
		t.Errorf("%+v", semantics)
	}
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}, Ack: driver.ConsumerAck{Mode: driver.AckEach}}, func(driver.Message) {}); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("acknowledging consumers: %v", err)
	}
}

// A server keeps the order, and so does a delay that is the same for all; both are
// said.
func TestServersAreSaid(t *testing.T) {
	for delay, ordering := range map[string]string{"none": "per producer and topic", "1ms": "per producer and topic", "1ms,none@5s": "none: "} {
		c := start(t, map[string]string{"server": "exponential(mean=1us)", "delay": delay})
		semantics, err := open(t, driver.Target{URL: c.URL}).Provision(t.Context(), driver.Topology{Topics: []string{"t0"}})
		if err != nil {
			t.Fatal(err)
		}
		if semantics.Settings["server"] != "exponential(mean=1us)" || !strings.HasPrefix(semantics.Ordering, ordering) ||
			!strings.Contains(semantics.Warnings[0], "exponential(mean=1us)") {
			t.Errorf("%s: %+v", delay, semantics)
		}
	}
}

// A confirmation that is lost with its connection leaves the message unknown,
// and one that waits when the session closes is told so.
func TestLostConfirmations(t *testing.T) {
	c := start(t, map[string]string{"delay": "bimodal(a=9s,b=10s,share=50%)"}) // none comes in time
	var conns []net.Conn
	var mu sync.Mutex
	target := driver.Target{URL: c.URL, Options: map[string]any{"ack": "broker"}, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		mu.Lock()
		conns = append(conns, conn)
		mu.Unlock()
		return conn, err
	}}
	s := open(t, target)
	o := newOutcome()
	p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Send(1, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	conns[len(conns)-1].Close()
	mu.Unlock()
	if <-o.done; !errors.Is(o.of(1), driver.ErrTimeout) {
		t.Errorf("lost with its connection: %v", o.of(1))
	}
	for err = driver.ErrNotConnected; errors.Is(err, driver.ErrNotConnected); time.Sleep(time.Millisecond) {
		err = p.Send(2, []byte("hello"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if <-o.done; !errors.Is(o.of(2), driver.ErrClosed) {
		t.Errorf("unconfirmed at the end: %v", o.of(2))
	}
}

type nothing struct{ n atomic.Int64 }

func (a *nothing) Done(uint64, error) { a.n.Add(1) }

// The hot path allocates nothing: neither sending nor receiving.
func TestNoAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector changes nothing about allocations")
	}
	c := start(t, nil)
	for _, ack := range []string{"none", "broker"} {
		s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"ack": ack}})
		var received atomic.Int64
		if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(driver.Message) { received.Add(1) }); err != nil {
			t.Fatal(err)
		}
		acks := &nothing{}
		p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, acks)
		if err != nil {
			t.Fatal(err)
		}
		payload := make([]byte, 256)
		n := int64(0)
		send := func() {
			n++
			if err := p.Send(1, payload); err != nil {
				t.Fatal(err)
			}
			for limit := time.Now().Add(20 * time.Second); received.Load() < n || acks.n.Load() < n; {
				if time.Now().After(limit) {
					t.Fatalf("%d of %d received, %d done", received.Load(), n, acks.n.Load())
				}
				runtime.Gosched()
			}
		}
		send()
		if a := testing.AllocsPerRun(200, send); a > 0 {
			t.Errorf("ack %s: %v allocations a message", ack, a)
		}
	}
}
