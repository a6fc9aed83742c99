package kafka_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/kafka"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestRefused has a broker that lets nobody write to some topics, and one whose clients
// cannot reach it where it sends them.
func TestRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a virtual machine of its own; not with -short")
	}
	t.Parallel()
	settings := maps.Clone(quick())
	maps.Copy(settings, map[string]string{"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users": "User:root", "allow.everyone.if.no.acl.found": "true"})
	c := brokertest.Start(t, "kafka", brokers.Options{Settings: settings})
	address := brokertest.Address(t, c.URL)

	forbid := func(run string) {
		t.Helper()
		topics := func() *kadm.ACLBuilder {
			return kadm.NewACLs().Topics("s9." + run).ResourcePatternType(kadm.ACLPatternPrefixed)
		}
		for _, rule := range []*kadm.ACLBuilder{
			topics().Operations(kadm.OpAll).Allow("User:ANONYMOUS").AllowHosts("*"),
			topics().Operations(kadm.OpWrite).Deny("User:ANONYMOUS").DenyHosts("*"),
		} {
			answers, err := admin(t, address).CreateACLs(t.Context(), rule)
			if err != nil || len(answers) != 1 || answers[0].Err != nil {
				t.Fatal(answers, err)
			}
		}
	}
	spec := driver.ProducerSpec{Topic: "t0", Size: 16}
	for _, acks := range []string{"0", "1", "all"} {
		t.Run("acks "+acks, func(t *testing.T) {
			run := "before" + acks
			forbid(run)
			s := sessiontest.Open(t, kafka.Entry().Driver, driver.Target{URL: c.URL, Run: run, Options: map[string]any{"acks": acks, "idempotence": "off"}})
			provision(t, s, driver.Topology{Topics: []string{"t0"}, MaxSize: 16})
			done := make(doneErrors, 1)
			p, err := s.Producer(t.Context(), spec, done)
			if err == nil && acks != "0" {
				if err = p.Send(1, make([]byte, 16)); err == nil {
					err = <-done
				}
			}
			if !errors.Is(err, driver.ErrUnauthorized) {
				t.Errorf("a producer that may not write: %v", err)
			}
		})
	}
	t.Run("acks 0, later", func(t *testing.T) {
		denied := make(chan driver.Event, 100)
		s := sessiontest.Open(t, kafka.Entry().Driver, driver.Target{URL: c.URL, Run: "later", Options: map[string]any{"acks": "0", "idempotence": "off"},
			Notify: func(e driver.Event) {
				if e.Kind == driver.Denied {
					select {
					case denied <- e:
					default:
					}
				}
			}})
		provision(t, s, driver.Topology{Topics: []string{"t0"}, MaxSize: 16})
		p, err := s.Producer(t.Context(), spec, make(doneErrors, 1000))
		if err != nil {
			t.Fatal(err)
		}
		forbid("later")
		send := time.NewTicker(10 * time.Millisecond)
		defer send.Stop()
		for n := range 500 {
			select {
			case e := <-denied:
				if e.Count < 1 || !errors.Is(e.Err, driver.ErrUnauthorized) {
					t.Errorf("%+v", e)
				}
				return
			case <-send.C:
				if err := p.Send(uint64(n), make([]byte, 16)); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Error("of 500 messages without acknowledgements, no refusal is told")
	})
	t.Run("advertised", func(t *testing.T) {
		for what, away := range map[string]func(context.Context) error{
			"refused": func(context.Context) error { return errors.New("connection refused") },
			"dropped": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		} {
			var mu sync.Mutex
			tried := 0
			_, err := kafka.Entry().Driver.Open(t.Context(), driver.Target{URL: "192.0.2.1:9092", Run: "away", Dial: func(ctx context.Context, network, to string) (net.Conn, error) {
				if to == "192.0.2.1:9092" {
					return new(net.Dialer).DialContext(ctx, network, address)
				}
				mu.Lock()
				tried++
				mu.Unlock()
				return nil, away(ctx)
			}})
			var wrong *driver.AdvertisedError
			if !errors.As(err, &wrong) || wrong.Address != address || !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), "advertised.listeners") {
				t.Errorf("%s: %v", what, err)
			}
			if tried > 2 {
				t.Errorf("%s: it was tried %d times", what, tried)
			}
		}
	})
}

// doneErrors takes how sends ended.
type doneErrors chan error

func (d doneErrors) Done(_ uint64, err error) { d <- err }
