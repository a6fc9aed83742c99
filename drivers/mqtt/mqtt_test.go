package mqtt_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/mqtt"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// refused opens a session, which must fail with the class and say the words.
func refused(t *testing.T, target driver.Target, class error, words ...string) {
	t.Helper()
	sessiontest.Refused(t, mqtt.Entry().Driver, target, class, words...)
}

func TestWrongOptions(t *testing.T) {
	for name, test := range map[string]struct {
		url     string
		options map[string]any
		class   error
		word    string
	}{
		"misspelt":           {options: map[string]any{"quality": 1}, class: driver.ErrOption, word: "qos"},
		"quality":            {options: map[string]any{"qos": 3}, class: driver.ErrOption, word: "qos"},
		"version":            {options: map[string]any{"version": "3.1"}, class: driver.ErrOption, word: "version"},
		"batching library":   {options: map[string]any{"client": "library", "write_buffer": "4KiB"}, class: driver.ErrOption, word: "write_buffer"},
		"alias in 3.1.1":     {options: map[string]any{"version": "3.1.1", "topic_alias": true}, class: driver.ErrOption, word: "topic_alias"},
		"session without":    {options: map[string]any{"clean_start": false, "qos": 0}, class: driver.ErrOption, word: "clean_start"},
		"scheme":             {url: "http://localhost", class: driver.ErrOption, word: "http"},
		"websocket":          {url: "ws://127.0.0.1:1", class: driver.ErrNotConnected, word: "127.0.0.1:1"},
		"parameter":          {url: "ws://localhost/mqtt?token=x", class: driver.ErrOption, word: "token"},
		"no host":            {url: "mqtt://:1883", class: driver.ErrOption, word: "no host"},
		"unreadable":         {url: "mqtt://ada:secret@%zz", class: driver.ErrOption, word: "cannot be read"},
		"nobody listens":     {url: "mqtt://127.0.0.1:1", class: driver.ErrNotConnected, word: "127.0.0.1:1"},
		"several, none well": {url: "mqtt://127.0.0.1:1,127.0.0.1:2", class: driver.ErrNotConnected, word: "127.0.0.1:2"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.url == "" {
				test.url = "mqtt://127.0.0.1:1"
			}
			refused(t, driver.Target{URL: test.url, Options: test.options}, test.class, test.word)
		})
	}
}

func TestTLS(t *testing.T) {
	certificates := brokertest.NewCertificates(t)
	c := mosquitto(t, brokers.Options{TLS: certificates.Server(true), User: "ada", Password: "lovelace"})
	login := map[string]any{"user": "ada", "password": "lovelace"}
	full := driver.Target{URL: c.URL, TLS: certificates.Client(true), Options: login}
	s := open(t, full)
	sem, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: 64})
	if err != nil || !strings.Contains(sem.Transport, "tls") || strings.Contains(fmt.Sprint(sem), "lovelace") {
		t.Errorf("got %+v, %v", sem, err)
	}
	refused(t, driver.Target{URL: c.URL, TLS: certificates.Client(false), Options: login}, driver.ErrNotConnected, "certificate")
	refused(t, driver.Target{URL: c.URL, TLS: brokertest.NewCertificates(t).Client(true), Options: login}, driver.ErrNotConnected, "certificate")
	plain := "mqtt://" + brokertest.Address(t, c.URL)
	refused(t, driver.Target{URL: plain, Options: options(login, "connect_timeout", "1s")}, driver.ErrNotConnected, "encrypt")
	refused(t, driver.Target{URL: c.URL, TLS: certificates.Client(true), Options: options(login, "password", "byron")}, driver.ErrUnauthorized)
	if testing.Short() {
		t.Skip("the suite is another run's")
	}
	for _, client := range []string{"direct", "library"} {
		full.Options = options(login, "client", client)
		t.Run(client, func(t *testing.T) {
			drivertest.Run(t, drivertest.Harness{Entry: mqtt.Entry(), Target: full, Restart: brokertest.Restart(t, c)})
		})
	}
}

func TestUserInURL(t *testing.T) {
	c := mosquitto(t, brokers.Options{User: "ada", Password: "lovelace"})
	address := brokertest.Address(t, c.URL)
	open(t, driver.Target{URL: "mqtt://ada:lovelace@" + address})
	refused(t, driver.Target{URL: "mqtt://ada:byron@" + address}, driver.ErrUnauthorized)
	refused(t, driver.Target{URL: "mqtt://" + address, Options: map[string]any{"version": "3.1.1"}}, driver.ErrUnauthorized)
}

// A broker's permissions are found out before the run.
func TestPermissions(t *testing.T) {
	file := t.TempDir() + "/acl"
	if err := os.WriteFile(file, []byte("topic read #\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := mosquitto(t, brokers.Options{Settings: map[string]string{"acl_file": file}})
	for _, version := range []string{"5", "3.1.1"} {
		s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"version": version}})
		if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: 64}); !errors.Is(err, driver.ErrUnauthorized) {
			t.Errorf("version %s: may not publish: %v", version, err)
		}
	}
	for _, client := range []string{"direct", "library"} {
		s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"client": client}})
		b := newBox()
		if err := sessiontest.Produce(t, s, b).Send(1, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := b.outcome(t); !errors.Is(err, driver.ErrUnauthorized) {
			t.Errorf("a forbidden publish by %s: %v", client, err)
		}
	}
}

// What a broker does not carry is found out before the run, also where it would
// confirm and throw it away.
func TestTooLarge(t *testing.T) {
	c := mosquitto(t, brokers.Options{MaxMessage: 1000})
	for _, version := range []string{"5", "3.1.1"} {
		s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"version": version}})
		for size, want := range map[int]error{1000: nil, 1001: driver.ErrTooLarge} {
			if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: size}); !errors.Is(err, want) {
				t.Errorf("version %s, %d bytes: %v", version, size, err)
			}
		}
	}
	c = mosquitto(t, brokers.Options{Settings: map[string]string{"max_packet_size": "1000"}})
	s := open(t, driver.Target{URL: c.URL})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: 1000}); !errors.Is(err, driver.ErrTooLarge) {
		t.Errorf("packets limited: %v", err)
	}
	b := newBox()
	if err := sessiontest.Produce(t, s, b).Send(1, make([]byte, 1000)); !errors.Is(err, driver.ErrTooLarge) {
		t.Errorf("packets limited: %v", err)
	}
}

// A session that outlives its connection gets what was sent meanwhile, and is
// gone after Deprovision.
func TestSessionIsKept(t *testing.T) {
	for _, o := range []map[string]any{{"version": "5"}, {"version": "3.1.1"}, {"version": "5", "client": "library"}, {"version": "3.1.1", "client": "library"}} {
		c := mosquitto(t, brokers.Options{Settings: map[string]string{"persistence": "true", "autosave_interval": "1", "autosave_on_changes": "true"}})
		b := newBox()
		s := open(t, driver.Target{URL: c.URL, Options: options(o, "clean_start", false)})
		sessiontest.Consume(t, s, driver.ConsumerSpec{}, b.deliver)
		p := sessiontest.Produce(t, s, b)
		if err := p.Send(1, []byte("before")); err != nil {
			t.Fatal(err)
		}
		if err := b.outcome(t); err != nil {
			t.Fatal(err)
		}
		if got := b.receive(t); got != "before" {
			t.Fatalf("got %q", got)
		}
		brokertest.Restart(t, c)()
		// The new process has the session, or gets it with the reconnection; what
		// is acknowledged now must arrive.
		deadline := time.Now().Add(sessiontest.Patience)
		for {
			err := p.Send(2, []byte("after"))
			if err == nil {
				err = b.outcome(t)
			}
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond) // between attempts
		}
		if got := b.receive(t); got != "after" {
			t.Errorf("%v: got %q", o, got)
		}
		if err := s.Deprovision(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Retained messages are there during the run, and cleared after it.
func TestRetained(t *testing.T) {
	for _, client := range []string{"direct", "library"} {
		c := mosquitto(t, brokers.Options{})
		s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"retain": true, "client": client}})
		if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: 64}); err != nil {
			t.Fatal(err)
		}
		b := newBox()
		if err := sessiontest.Produce(t, s, b).Send(1, []byte("kept")); err != nil {
			t.Fatal(err)
		}
		if err := b.outcome(t); err != nil {
			t.Fatal(err)
		}
		address := brokertest.Address(t, c.URL)
		if found, err := retained(address, "", "", "test"); err != nil || len(found) != 1 {
			t.Errorf("the broker keeps %q, %v", found, err)
		}
		if err := s.Deprovision(t.Context()); err != nil {
			t.Error(err)
		}
		if found, err := retained(address, "", "", "test"); err != nil || len(found) != 0 {
			t.Errorf("the broker still keeps %q, %v", found, err)
		}
	}
}

// NATS's listener speaks MQTT 3.1.1 only.
func TestNATS(t *testing.T) {
	// Of what is beyond its limit of unacknowledged messages NATS throws away what
	// it was about to send, and sends it again after half a minute.
	c := brokertest.Start(t, "nats", brokers.Options{Home: brokers.Home{Self: []string{os.Args[0], serveNATS}},
		Settings: map[string]string{"mqtt.max_ack_pending": "10000"}})
	url := c.URLFor("mqtt")
	refused(t, driver.Target{URL: url}, driver.ErrUnsupported, "3.1.1")
	s := open(t, driver.Target{URL: url, Options: map[string]any{"version": "3.1.1"}})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}, MaxSize: 64}); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("groups: %v", err)
	}
	if testing.Short() {
		t.Skip("the suite is another run's")
	}
	e := mqtt.Entry()
	e.Capabilities.Groups = false // it takes their subscriptions for plain ones
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			target := driver.Target{URL: url, Options: map[string]any{"version": "3.1.1", "client": client}}
			drivertest.Run(t, drivertest.Harness{Entry: e, Target: target, Restart: brokertest.Restart(t, c)})
		})
	}
}
