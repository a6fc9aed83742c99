package nsq_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/nsq"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// open opens a session; it ends with the test.
func open(t testing.TB, target driver.Target) driver.Session {
	t.Helper()
	return sessiontest.Open(t, nsq.Entry().Driver, target)
}

// refused opens a session, which must fail with the class and say the word.
func refused(t *testing.T, target driver.Target, class error, word string) {
	t.Helper()
	sessiontest.Refused(t, nsq.Entry().Driver, target, class, word)
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
		"secret in clear":  {url: "nsq+tls://127.0.0.1:1", options: map[string]any{"client": "library", "auth_secret": "x"}, class: driver.ErrUnsupported, word: "unencrypted"},
		"login over HTTP":  {options: map[string]any{"http_url": "http://ada:secret@x"}, class: driver.ErrOption, word: "login"},
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
	for prefix, ours := range map[string]bool{"": true, "bench.": false} {
		sessiontest.Cleans(t, nsq.Entry().Driver, driver.Target{URL: c.URL, Prefix: prefix}, ours)
	}
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
	// The HTTP address that encrypts, with and without its scheme.
	for _, at := range []string{c.Info["https"], strings.TrimPrefix(c.Info["https"], "https://")} {
		sessiontest.Works(t, nsq.Entry().Driver, driver.Target{URL: c.URL, TLS: certificates.Client(true), Options: map[string]any{"http_url": at}})
	}
	byLibrary := map[string]any{"client": "library"}
	sessiontest.Works(t, nsq.Entry().Driver, driver.Target{URL: c.URL, TLS: certificates.Client(true), Options: byLibrary})
	refused(t, driver.Target{URL: c.URL, TLS: certificates.Client(false)}, driver.ErrNotConnected, "tls")
	refused(t, driver.Target{URL: c.URL, TLS: certificates.Client(false), Options: byLibrary}, driver.ErrNotConnected, "tls")
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

// A message allocates nothing, neither when it is sent nor when it is answered
// or delivered.
func TestMessagesDoNotAllocate(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{})
	for _, batch := range []bool{false, true} {
		var acks, got sessiontest.Counter
		s := open(t, driver.Target{URL: c.URL, Batch: batch})
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, got.Deliver)
		// Timers and the poller may allocate now and then.
		if n := sessiontest.Allocations(t, sessiontest.Produce(t, s, &acks), &acks, &got, 100); n > 10 {
			t.Errorf("batch %v: 100 messages allocate %v times", batch, n)
		}
		if failed := acks.Failed(); failed != nil {
			t.Error(failed)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// What is not finished in time comes again, and says so.
func TestRedelivered(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{})
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"msg_timeout": "1s"}})
	var again sessiontest.Counter
	spec := driver.ConsumerSpec{Ack: driver.ConsumerAck{Mode: driver.AckEvery, Every: 100}}
	sessiontest.Consume(t, s, spec, func(m driver.Message) {
		if m.Redelivered {
			again.Deliver(m)
		}
	})
	var acks sessiontest.Counter
	if err := sessiontest.Produce(t, s, &acks).Send(1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	again.Await(t, 1)
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

// A message that comes again while it is read back, because nsqd has waited long enough for it to be finished, counts
// once.
func TestReadBackOutlastsMsgTimeout(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{})
	s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"msg_timeout": "1s", "http_url": c.Info["http"]}})
	topology := driver.Topology{Topics: []string{"t0"}, Producers: 1, ReadBack: true}
	if _, err := s.Provision(t.Context(), topology); err != nil {
		t.Fatal(err)
	}
	defer s.Deprovision(context.Background())
	const n = 5
	var acks sessiontest.Counter
	p := sessiontest.Produce(t, s, &acks)
	for i := range n {
		if err := p.Send(uint64(i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	acks.Await(t, n)
	places, err := s.(driver.BackReader).Places(topology)
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	found, err := s.(driver.BackReader).ReadBack(t.Context(), places[0], func(driver.Kept) {
		if taken++; taken < n {
			return
		}
		sessiontest.Until(t, "nsqd takes the messages back", func() bool {
			r, err := http.Get(c.Info["http"] + "/stats?format=json")
			if err != nil {
				return false
			}
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			return err == nil && strings.Contains(string(text), `"timeout_count":`) && !strings.Contains(string(text), `"timeout_count":0`)
		})
	})
	if err != nil || found.Messages != n || taken != n {
		t.Errorf("%d taken of %d: %+v, %v", taken, n, found, err)
	}
}
