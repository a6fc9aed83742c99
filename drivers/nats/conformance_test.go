package nats_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/internal/natswire/natswiretest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/nats"
)

func TestConformance(t *testing.T) {
	b := startBroker(t, `
		max_payload: 1000000
		authorization { user: ada, password: lovelace }
	`)
	ca := newAuthority(t)
	cert, key := ca.issue("server")
	secure := startBroker(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q }", cert, key))
	for _, who := range []string{"direct", "library"} {
		t.Run(who, func(t *testing.T) {
			login := map[string]any{"user": "ada", "password": "lovelace", "client": who}
			impatient := maps.Clone(login)
			impatient["ping_interval"] = "500ms"
			drivertest.Run(t, drivertest.Harness{
				Entry:  nats.Entry(),
				Target: driver.Target{URL: b.url.String(), Options: login},
				At: func(address string) driver.Target {
					return driver.Target{URL: "nats://" + address, Options: login}
				},
				WrongPassword: &driver.Target{URL: b.url.String(),
					Options: map[string]any{"user": "ada", "password": "byron"}},
				MaxPayload: 1_000_000,
				TooLarge:   1_000_001,
				Freeze:     b.freeze,
				Thaw:       b.thaw,
				Restart:    b.restart,
				Leftovers:  b.subjects,
				Observe:    natswiretest.Observe(b.url.String(), client.UserInfo("ada", "lovelace")),
				Encrypted: &driver.Target{URL: "tls://" + secure.url.Host, TLS: &driver.TLS{CA: ca.file},
					Options: map[string]any{"client": who}},
				Impatient: &driver.Target{URL: b.url.String(), Options: impatient},
				Silence:   time.Second,
			})
		})
	}
}

// TestLeftoversAreSeen makes sure that the conformance test's look at the
// server would find something.
func TestLeftoversAreSeen(t *testing.T) {
	b := startBroker(t, "")
	s := open(t, b, false)
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, new(sessiontest.Counter).Deliver); err != nil {
		t.Fatal(err)
	}
	if found, err := b.subjects("test"); err != nil || len(found) != 1 {
		t.Errorf("found %q, %v", found, err)
	}
}
