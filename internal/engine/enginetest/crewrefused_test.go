package enginetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/engine"
	"sixnines/result"
)

// A process waits for its peers for as long as the fleet does: their set-up is no part of its own.
func TestCrewWaitsForALatePeer(t *testing.T) {
	for _, file := range Crew(t, Load{Scenario: "workload: {rate: 100, producers: 2, consumers: 2}\nphases: {warmup: 0s, duration: 1s}\n", Late: 3 * time.Minute}, 1, 2) {
		run, err := result.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if c := run.Counters; c.Sent+c.Received != 100 {
			t.Errorf("%s: %+v", file, c)
		}
	}
}

// What agents with roles cannot account for is refused before anything is connected.
func TestCrewRefuses(t *testing.T) {
	peers := &engine.Peers{Name: "run", Reach: func(context.Context, engine.Point) error { return nil }}
	for _, c := range []struct {
		text  string
		peers *engine.Peers
		role  string
		want  string
	}{
		{"workload: {rate: 100}", nil, result.RoleProducers, "its peers"},
		{"workload: {loop: closed}", peers, result.RoleProducers, "closed loop"},
		{"workload: {rate: 100}\nactions: [{at: 1s, pause: consumers, for: 1s}]", peers, result.RoleConsumers, "late or pause"},
		{"workload: {rate: 100}\nphases: {until: delivery.response p99 ± 5%}", peers, result.RoleProducers, "phases.until"},
		{"workload: {rate: 100}\nrecord: {raw: true}", peers, result.RoleProducers, "record.raw"},
		{"workload: {rate: 100, consumers: 1}", peers, result.RoleConsumers, "--consumers 2"},
		{"workload: {rate: 100}", peers, "both", `"both"`},
	} {
		s, err := Scenario(c.text + "\n")
		if err != nil {
			t.Fatal(err)
		}
		_, err = engine.Run(t.Context(), engine.Config{Scenario: s, Entry: mem.New().Entry(), Peers: c.peers,
			Segment: &result.Segment{Of: 4, Role: c.role, Parts: 2}})
		if !errors.Is(err, engine.ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	s, err := Scenario("workload: {rate: 100}\n")
	if err != nil {
		t.Fatal(err)
	}
	entry := mem.New().Entry()
	entry.Options, entry.Capabilities.Ack = nil, driver.AckKindReply
	if _, err := engine.Run(t.Context(), engine.Config{Scenario: s, Entry: entry, Peers: peers, Segment: &result.Segment{Of: 2, Role: result.RoleProducers, Parts: 1}}); !errors.Is(err, engine.ErrUsage) {
		t.Error(err)
	}
}
