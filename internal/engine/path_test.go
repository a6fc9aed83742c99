package engine

import (
	"errors"
	"strings"
	"testing"

	"sixnines/drivers/mem"
	"sixnines/internal/engine/plan"
	"sixnines/result"
)

// path is one whose End is counted.
type path struct{ ended int }

func (p *path) Network() *result.Network { return &result.Network{Profile: "lan"} }

func (p *path) End() (*result.Network, error) {
	p.ended++
	return &result.Network{Profile: "lan", Means: []result.NetworkMeans{{Means: "nfqueue", Packets: 7}}}, nil
}

// The header has the network of the whole run, an event what was counted when the load was over, and a program
// that makes no network refuses a scenario with one.
func TestPath(t *testing.T) {
	s := parse(t, "network: {profile: lan}\nphases: {duration: 100ms, warmup: 0s}\n")
	c := Config{Scenario: s, Entry: mem.Entry()}
	if _, err := Run(t.Context(), c); !errors.Is(err, plan.ErrUsage) || !strings.Contains(err.Error(), "network") {
		t.Fatalf("without a path: %v", err)
	}
	p := &path{}
	c.Path = p
	run, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var counted int64
	for _, e := range run.Events {
		if e.Kind == result.EventNetwork {
			counted += e.Network.Means[0].Packets
		}
	}
	if run.Header.Network == nil || run.Header.Network.Profile != "lan" || p.ended != 1 || counted != 7 {
		t.Errorf("header %+v, ended %d, counted %d", run.Header.Network, p.ended, counted)
	}
}
