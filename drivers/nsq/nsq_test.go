package nsq_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/nsq"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

const patience = 30 * time.Second

func open(t testing.TB, target driver.Target) driver.Session {
	t.Helper()
	target.Run = "test"
	s, err := nsq.Entry().Driver.Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// refused opens a session, which must fail with the class and say the word.
func refused(t *testing.T, target driver.Target, class error, word string) {
	t.Helper()
	target.Run = "test"
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := nsq.Entry().Driver.Open(ctx, target)
	if err == nil {
		s.Close(ctx)
		t.Fatal("the session opens")
	}
	if !errors.Is(err, class) || !strings.Contains(err.Error(), word) {
		t.Errorf("error %q does not wrap %q, or not say %q", err, class, word)
	}
}

func TestWrongOptions(t *testing.T) {
	for name, test := range map[string]struct {
		url     string
		options map[string]any
		class   error
		word    string
	}{
		"misspelt":         {options: map[string]any{"rdy": 1}, class: driver.ErrOption, word: "max_in_flight"},
		"client":           {options: map[string]any{"client": "nsqjs"}, class: driver.ErrOption, word: "library"},
		"hasty library":    {options: map[string]any{"client": "library", "reconnect_wait": "1ms"}, class: driver.ErrOption, word: "10ms"},
		"both compress":    {options: map[string]any{"snappy": true, "deflate": true}, class: driver.ErrOption, word: "snappy"},
		"deflate directly": {options: map[string]any{"output_buffer_size": -1, "deflate": true}, class: driver.ErrOption, word: "output_buffer_size"},
		"scheme":           {url: "http://localhost", class: driver.ErrOption, word: "http"},
		"several":          {url: "nsq://a,nsq://b", class: driver.ErrUnsupported, word: "several"},
		"user":             {url: "nsq://ada:secret@localhost", class: driver.ErrOption, word: "auth_secret"},
		"parameter":        {url: "nsq://localhost?htp=1", class: driver.ErrOption, word: "htp"},
		"http address":     {url: "nsq://localhost", options: map[string]any{"http_url": "ftp://x"}, class: driver.ErrOption, word: "ftp"},
		"nobody listens":   {url: "nsq://127.0.0.1:1", class: driver.ErrNotConnected, word: "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.url == "" {
				test.url = "nsq://127.0.0.1:1"
			}
			refused(t, driver.Target{URL: test.url, Options: test.options}, test.class, test.word)
		})
	}
}

// A channel that is made when the messages are in others has none of them, and a depth
// of 0 would be none.
func TestChannelsThatNobodyLeft(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{})
	filling := open(t, driver.Target{URL: c.URL})
	kept := driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, Keep: true}
	if _, err := filling.Provision(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if d, err := filling.(driver.DepthTeller).Depth(t.Context(), "t0", driver.ConsumerSpec{Group: "g1"}); err == nil {
		t.Errorf("a channel that is not there has the depth %d", d.Messages)
	}
	for want, groups := range map[error][]string{nil: {"g0"}, driver.ErrNoTopic: {"g0", "g1"}} {
		_, err := open(t, driver.Target{URL: c.URL}).Provision(t.Context(),
			driver.Topology{Topics: []string{"t0"}, Groups: groups, Keep: true, Existing: true})
		if !errors.Is(err, want) {
			t.Errorf("groups %q: %v, want %v", groups, err, want)
		}
	}
}

func TestTLS(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	c := brokertest.Start(t, "nsq", brokers.Options{TLS: certificates.Server(true)})
	full := driver.Target{URL: c.URL, TLS: certificates.Client(true)}
	s := open(t, full)
	sem, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: 64})
	if err != nil || sem.Transport != "tcp, tls" {
		t.Errorf("got %+v, %v", sem, err)
	}
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
	refused(t, driver.Target{URL: c.URL, TLS: certificates.Client(false)}, driver.ErrNotConnected, "tls")
	refused(t, driver.Target{URL: c.URL, TLS: brokertest.NewCertificates(t).Client(true)}, driver.ErrNotConnected, "certificate")
	refused(t, driver.Target{URL: "nsq://" + brokertest.Address(t, c.URL)}, driver.ErrNotConnected, "nsq+tls")
	if testing.Short() {
		t.Skip("the suite is another run's")
	}
	drivertest.Run(t, drivertest.Harness{Entry: nsq.Entry(), Target: full,
		Freeze: brokertest.Freeze(t, c), Thaw: brokertest.Thaw(t, c), Restart: brokertest.Restart(t, c)})
	plain := brokertest.Start(t, "nsq", brokers.Options{})
	refused(t, driver.Target{URL: plain.URL, TLS: certificates.Client(true)}, driver.ErrUnsupported, "encryption")
}

// nsqd asks another server whom to let in.
func TestAuthentication(t *testing.T) {
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("secret") != "lovelace" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		io.WriteString(w, `{"ttl":3600,"identity":"ada","authorizations":[{"permissions":["subscribe","publish"],"topic":".*","channels":[".*"]}]}`)
	}))
	defer judge.Close()
	c := brokertest.Start(t, "nsq", brokers.Options{Settings: map[string]string{"auth-http-address": strings.TrimPrefix(judge.URL, "http://")}})
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"auth_secret": "lovelace"}})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: 64}); err != nil {
		t.Error(err)
	}
	if err := s.Deprovision(t.Context()); err != nil {
		t.Error(err)
	}
	refused(t, driver.Target{URL: c.URL, Options: map[string]any{"auth_secret": "byron"}}, driver.ErrUnauthorized, "AUTH")
	refused(t, driver.Target{URL: c.URL}, driver.ErrUnauthorized, "auth_secret")
}

// counter counts what it is told of.
type counter struct{ done, failed, got, again atomic.Int64 }

func (c *counter) Done(_ uint64, err error) {
	if err != nil {
		c.failed.Add(1)
	}
	c.done.Add(1)
}

func (c *counter) deliver(m driver.Message) {
	if m.Redelivered {
		c.again.Add(1)
	}
	c.got.Add(1)
}

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// A message allocates nothing, neither when it is sent nor when it is answered
// or delivered.
func TestMessagesDoNotAllocate(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{})
	for _, batch := range []bool{false, true} {
		var n counter
		s := open(t, driver.Target{URL: c.URL, Batch: batch})
		if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, n.deliver); err != nil {
			t.Fatal(err)
		}
		p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, &n)
		if err != nil {
			t.Fatal(err)
		}
		payload := make([]byte, 256)
		sent := int64(0)
		round := func() {
			const many = 100
			for range many {
				if err := p.Send(1, payload); err != nil {
					t.Fatal(err)
				}
			}
			if f, ok := p.(driver.Flusher); ok {
				if err := f.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			sent += many
			until(t, "all is answered and delivered", func() bool { return n.done.Load() == sent && n.got.Load() == sent })
		}
		round() // what grows has grown
		// Timers and the poller may allocate now and then.
		if allocs := testing.AllocsPerRun(20, round); allocs > 10 {
			t.Errorf("batch %v: 100 messages allocate %v times", batch, allocs)
		}
		if err := s.Close(context.Background()); err != nil || n.failed.Load() > 0 {
			t.Errorf("%d messages failed; %v", n.failed.Load(), err)
		}
	}
}

// What is not finished in time comes again, and says so.
func TestRedelivered(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{})
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"msg_timeout": "1s"}})
	var n counter
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}, Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 100}}, n.deliver); err != nil {
		t.Fatal(err)
	}
	p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0"}, &n)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Send(1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	until(t, "the message comes again", func() bool { return n.again.Load() > 0 })
}

// An nsqd that keeps nothing in memory throws away what an ephemeral topic gets
// while nobody waits: what the driver sends to itself may be that.
func TestEverythingIntoFiles(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{Settings: map[string]string{"mem-queue-size": "0"}})
	for range 5 {
		s := open(t, driver.Target{URL: c.URL})
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
