package coordinator

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/wire"
)

// What an agent's start rests on was asked for long before it. When the window has begun it is known much better: as wrong as the
// start was, and not by how much clocks may have drifted apart meanwhile.
func TestStartsAreComparedAgain(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server is not ready")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	const ahead, wrong, assumed = int64(time.Hour), int64(100 * time.Millisecond), int64(time.Hour)
	r := &run{Config: Config{Conn: nc}, started: Started{Start: clock.Now() + int64(50*time.Millisecond)}}
	for i, name := range []string{"right", "wrong", "gone"} {
		m := &member{index: i, proved: assumed}
		m.Hello, m.Offset = wire.Hello{ID: name, Clock: "another"}, ahead
		r.members = append(r.members, m)
		if name == "gone" {
			continue
		}
		if _, err := nc.Subscribe(wire.RequestSubject(name, wire.RequestTime), func(q *nats.Msg) {
			theirs := func() int64 { return clock.Now() + ahead }
			if answer, err := clocksync.Answer(q.Data, theirs(), clocksync.Reading{}, theirs); err == nil {
				_ = q.Respond(answer)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	r.members[1].Offset += wrong
	<-r.checkStarts(t.Context())
	right, off, gone := r.members[0].proved, r.members[1].proved, r.members[2].proved
	if right < 0 || right >= assumed/2 {
		t.Errorf("the start of the agent that had it right is known to %v", time.Duration(right))
	}
	if off < wrong || off >= assumed/2 {
		t.Errorf("the start of the agent that had it wrong by %v is known to %v", time.Duration(wrong), time.Duration(off))
	}
	if gone != assumed {
		t.Errorf("the start of an agent that does not answer is known to %v", time.Duration(gone))
	}
}
