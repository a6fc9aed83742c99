package control

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/fleet/wire"
)

// asAgent connects as an agent.
func asAgent(t *testing.T, s *Server) (*nats.Conn, string) {
	t.Helper()
	l := s.JoinAt("127.0.0.1")
	var err error
	if l.Identity, err = wire.NewIdentity(); err != nil {
		t.Fatal(err)
	}
	return connect(t, l), l.Identity.ID()
}

// refusal is how long something that the server does not answer is waited for.
const refusal = 200 * time.Millisecond

// publish publishes on a stream's subject, and reports whether the server took it.
func publish(t *testing.T, nc *nats.Conn, subject string, within time.Duration) error {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	_, err = js.Publish(ctx, subject, []byte("x"), jetstream.WithRetryAttempts(0))
	return err
}

// An agent sends its own results, and does nothing in the name of another agent or of a coordinator.
func TestAnAgentSpeaksForItselfAlone(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	defer s.Close()
	leader := connect(t, s.Login())
	if _, err := MakeStream(t.Context(), leader, "r", 1<<20); err != nil {
		t.Fatal(err)
	}
	nc, id := asAgent(t, s)
	_, other := asAgent(t, s)
	if err := publish(t, nc, wire.RecordSubject("r", id), 30*time.Second); err != nil {
		t.Errorf("its own results: %v", err)
	}
	if err := publish(t, nc, wire.RecordSubject("r", other), refusal); err == nil {
		t.Error("it sends results of another agent")
	}
	if err := publish(t, nc, wire.ManifestSubject("r"), refusal); err == nil {
		t.Error("it sends the manifest of a run")
	}

	heard, err := leader.SubscribeSync("sixnines.fleet.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{wire.StatusSubject("r", other), wire.PulseSubject("r"), wire.RequestSubject(other, wire.RequestPlan), wire.RequestSubject(id, wire.RequestPlan),
		wire.StatusSubject("r", id)} { // the last is its own
		if err := nc.Publish(subject, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	m, err := heard.NextMsg(10 * time.Second)
	if err != nil || m.Subject != wire.StatusSubject("r", id) {
		t.Errorf("the first that comes through is %+v, %v", m, err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 2*refusal)
	defer cancel()
	if err := RemoveStream(ctx, nc, "r"); err == nil {
		t.Error("it removes the stream of a run")
	}
	if _, err := MakeStream(ctx, nc, "r2", 1<<20); err == nil {
		t.Error("it makes a stream")
	}
	// What another agent is asked and answered stays between that and who asks.
	for _, subject := range []string{wire.RequestSubject(other, wire.RequestPlan), wire.InboxPrefix(other) + ".>", nats.InboxPrefix + ">", ">"} {
		denied, err := nc.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := leader.Publish(wire.RequestSubject(other, wire.RequestPlan), []byte("secret")); err != nil {
			t.Fatal(err)
		}
		if err := leader.Publish(wire.InboxPrefix(other)+".1", []byte("secret")); err != nil {
			t.Fatal(err)
		}
		if err := leader.Flush(); err != nil {
			t.Fatal(err)
		}
		if m, err := denied.NextMsg(100 * time.Millisecond); err == nil {
			t.Errorf("on %s it hears %q", subject, m.Data)
		}
	}
}

// Whoever has the agents' token and no key, or another's number, is not let in; nor does it make a coordinator.
func TestAnAgentProvesWhoItIs(t *testing.T) {
	log := &lines{}
	s := start(t, t.TempDir(), log)
	defer s.Close()
	join, before := s.JoinAt("127.0.0.1"), len(log.get())
	if nc, err := wire.Connect(t.Context(), join, nil, nil); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("without a key: %v", err)
		if err == nil {
			nc.Close()
		}
	}
	until(t, "it is one line in the log", func() bool { return len(log.get()) == before+1 })
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		public           string
		nonce, signature string
	}{"nothing": {"", "n", "s"}, "no signature": {id.Public(), "n", ""}, "not its signature": {id.Public(), "n", "0123456789012345678901234567890123456789012345678901234567890123"}, "no nonce": {id.Public(), "", ""}} {
		if got, ok := wire.Proven(tt.public, []byte(tt.nonce), []byte(tt.signature)); ok {
			t.Errorf("%s proves %s", name, got)
		}
	}
}
