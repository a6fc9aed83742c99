package faults

import (
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/netns"
	"sixnines/result"
)

// apart starts three nodes in network namespaces, or skips the test where there can be none.
func apart(t *testing.T) *Target {
	t.Helper()
	n, err := netns.New()
	if errors.Is(err, netns.ErrUnavailable) {
		t.Skipf("SKIPPED: %v", err)
	}
	if err := errors.Join(err, n.Close()); err != nil {
		t.Fatal(err)
	}
	h := brokertest.Home(t)
	h.Self = []string{os.Args[0], serveNATS}
	return &Target{Cluster: brokertest.Start(t, "nats", brokers.Options{Nodes: 3, Home: h, Apart: true}), Seed: 7}
}

// A cut is in effect from the instant that it says to the one that its end says, names the nodes that it
// happened to, and says what was dropped in each direction.
func TestCut(t *testing.T) {
	target := apart(t)
	c := doer(t, target, "{at: 1s, cut: {from: 0, to: [2, clients]}, for: 2s}").(actions.Undoer)
	at := clock.Now() + int64(50*time.Millisecond)
	happened, err := c.Do(t.Context(), at)
	if err != nil || happened < at || happened > clock.Now() {
		t.Fatalf("planned for %d, happened at %d: %v", at, happened, err)
	}
	e := result.Event{Action: &result.Acted{}, Detail: "cut"}
	c.(actions.Describer).Describe(&e)
	if !slices.Equal(e.Action.Nodes, []int{0, 2}) || e.Action.Dropped != nil || e.Detail != "cut" {
		t.Errorf("when it has begun: %+v %q", e.Action, e.Detail)
	}
	again := doer(t, target, "{at: 2s, cut: {from: clients, to: all, one_way: true}, for: 1s}").(actions.Undoer)
	if _, err := again.Do(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	over, err := c.Undo(t.Context())
	if err != nil || over < happened {
		t.Fatalf("undone at %d, done at %d: %v", over, happened, err)
	}
	c.(actions.Describer).Describe(&e)
	var directions [][2]int
	total := int64(0)
	for _, d := range e.Action.Dropped {
		directions = append(directions, [2]int{d.From, d.To})
		total += d.Packets
	}
	if want := [][2]int{{0, 2}, {2, 0}, {0, -1}, {-1, 0}}; !slices.Equal(directions, want) || e.Count != total || !strings.HasSuffix(e.Detail, " packets dropped") {
		t.Errorf("when it is over: %+v %q, want the directions %v", e, e.Detail, want)
	}
}

// What the ends mean is found out when the action happens.
func TestEndsOfACut(t *testing.T) {
	target := apart(t)
	addresses := target.Cluster.Addresses()
	named := func(a netip.Addr) string {
		if k := slices.Index(addresses, a); k >= 0 {
			return string(rune('0' + k))
		}
		return "c"
	}
	for text, want := range map[string]string{
		"{at: 1s, cut: {from: 1, to: clients, one_way: true}, for: 1s}":      "1c",
		"{at: 1s, cut: {from: 1, to: clients}, for: 1s}":                     "1c c1",
		"{at: 1s, cut: {from: all, to: [1], one_way: true}, for: 1s}":        "01 21",
		"{at: 1s, cut: {from: all, to: all}, for: 1s}":                       "01 10 02 20 12 21",
		"{at: 1s, cut: {from: [0, 0], to: [1, 1], one_way: true}, for: 1s}":  "01",
		"{at: 1s, cut: {from: clients, to: all, one_way: true}, for: 1s}":    "c0 c1 c2",
		"{at: 1s, cut: {from: [0, clients], to: 2, one_way: true}, for: 1s}": "02 c2",
	} {
		links, err := doer(t, target, text).(*cut).links(t.Context())
		var got []string
		for _, l := range links {
			got = append(got, named(l.From)+named(l.To))
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	loopback := &Target{Cluster: start(t, "nats")}
	if _, err := doer(t, loopback, "{at: 1s, cut: {from: 0, to: 1}, for: 1s}").Do(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "do not have their own network namespaces") {
		t.Errorf("on loopback: %v", err)
	}
}
