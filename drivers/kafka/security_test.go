package kafka_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/kafka"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestSecurity has a broker that wants TLS, a client certificate and a login.
func TestSecurity(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a virtual machine of its own; not with -short")
	}
	t.Parallel()
	certificates := brokertest.NewCertificates(t)
	c := brokertest.Start(t, "kafka", brokers.Options{TLS: certificates.Server(true), User: "ada", Password: "lovelace", Settings: quick(
		"sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
		"listener.name.client.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;")})
	tokens := tokenService(t)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(unsigned("ada", time.Hour)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expired := filepath.Join(t.TempDir(), "expired")
	if err := os.WriteFile(expired, []byte(unsigned("ada", -time.Hour)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mechanism := range []kadm.ScramMechanism{kadm.ScramSha256, kadm.ScramSha512} {
		answers, err := admin(t, c.Info["internal"]).AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{{User: "bob", Mechanism: mechanism, Iterations: 4096, Password: "builder"}})
		if err != nil || answers.Error() != nil {
			t.Fatal(err, answers.Error())
		}
	}
	t.Run("locked out", func(t *testing.T) {
		for _, acks := range []string{"0", "1", "all"} {
			t.Run(acks, func(t *testing.T) {
				t.Parallel()
				user := "eve" + acks
				set := func(password string) {
					answers, err := admin(t, c.Info["internal"]).AlterUserSCRAMs(context.WithoutCancel(t.Context()), nil, []kadm.UpsertSCRAM{{User: user, Mechanism: kadm.ScramSha256, Iterations: 4096, Password: password}})
					if err != nil || answers.Error() != nil {
						t.Fatal(err, answers.Error())
					}
				}
				set("before")
				options := map[string]any{"user": user, "password": "before", "sasl": "scram-sha-256", "acks": acks}
				if acks != "all" {
					options["idempotence"] = "off"
				}
				sessiontest.LockedOut(t, kafka.Entry().Driver, driver.Target{URL: c.URL, Run: "locked" + acks, TLS: certificates.Client(true), Options: options},
					func() { set("after") }, "SASL_AUTHENTICATION_FAILED")
			})
		}
	})
	stranger := brokertest.NewCertificates(t)
	for _, test := range []struct {
		name    string
		tls     *driver.TLS
		options map[string]any
		class   error  // nil: gets in
		hint    string // in the error
	}{
		{"plain", certificates.Client(true), map[string]any{"user": "ada", "password": "lovelace"}, nil, ""},
		{"scram-sha-256", certificates.Client(true), map[string]any{"user": "bob", "password": "builder", "sasl": "scram-sha-256"}, nil, ""},
		{"scram-sha-512", certificates.Client(true), map[string]any{"user": "bob", "password": "builder", "sasl": "scram-sha-512"}, nil, ""},
		{"oauthbearer", certificates.Client(true), map[string]any{"sasl": "oauthbearer", "token_file": file}, nil, ""},
		{"oauthbearer", certificates.Client(true), map[string]any{"sasl": "oauthbearer", "token_url": tokens, "user": "ada", "password": "lovelace"}, nil, ""},
		{"an expired token", certificates.Client(true), map[string]any{"sasl": "oauthbearer", "token_file": expired}, driver.ErrUnauthorized, "token"},
		{"no token", certificates.Client(true), map[string]any{"sasl": "oauthbearer", "token_file": file + ".no"}, driver.ErrUnauthorized, "no such file"},
		{"a wrong secret", certificates.Client(true), map[string]any{"sasl": "oauthbearer", "token_url": tokens, "user": "ada", "password": "byron"}, driver.ErrUnauthorized, "the client is not known"},
		{"a mechanism that the broker has not", certificates.Client(true), map[string]any{"sasl": "aws-msk-iam", "user": "AKIA", "password": "secret"}, driver.ErrUnauthorized, "mechanism"},
		{"wrong password", certificates.Client(true), map[string]any{"user": "bob", "password": "wrecker", "sasl": "scram-sha-512"}, driver.ErrUnauthorized, "check user"},
		{"no login", certificates.Client(true), nil, driver.ErrUnauthorized, "login"},
		{"no certificate", certificates.Client(false), map[string]any{"user": "ada", "password": "lovelace"}, driver.ErrUnauthorized, "tls.cert"},
		{"unknown authority", stranger.Client(false), map[string]any{"user": "ada", "password": "lovelace"}, driver.ErrNotConnected, "tls.ca"},
		{"no TLS", nil, map[string]any{"user": "ada", "password": "lovelace"}, driver.ErrNotConnected, "TLS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := kafka.Entry().Driver.Open(t.Context(), driver.Target{URL: c.URL, Run: "security", TLS: test.tls, Options: test.options})
			if err != nil {
				if !errors.Is(err, test.class) || !strings.Contains(err.Error(), test.hint) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v; want %v and a word of %q", err, test.class, test.hint)
				}
				return
			}
			defer s.Close(t.Context())
			if test.class != nil {
				t.Fatal("gets in")
			}
			sem := provision(t, s, driver.Topology{Topics: []string{"t0"}})
			if sem.Transport != "tcp, tls" || sem.Settings["authentication"] != test.name {
				t.Errorf("transport %q, authentication %q", sem.Transport, sem.Settings["authentication"])
			}
			m, _ := consume(t, s, driver.ConsumerSpec{})
			send(t, sessiontest.Produce(t, s, &sessiontest.Counter{}), 0, 100)
			m.wait(t, 100)
			if err := s.Deprovision(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// testNeedless asks for encryption and for a login that the broker has not.
func testNeedless(t *testing.T, address string) {
	tls := brokertest.NewCertificates(t).Client(true)
	_, err := kafka.Entry().Driver.Open(t.Context(), driver.Target{URL: address, Run: "needless", TLS: tls})
	if !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("TLS with a broker that has none: %v", err)
	}
	_, err = kafka.Entry().Driver.Open(t.Context(), driver.Target{URL: address, Run: "needless", Options: map[string]any{"user": "ada", "password": "lovelace"}})
	if !errors.Is(err, driver.ErrUnauthorized) || !strings.Contains(err.Error(), "login") {
		t.Errorf("a login at a broker that wants none: %v", err)
	}
}
