package faults

import (
	"os"
	"testing"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/journal"
	"sixnines/internal/network"
	"sixnines/internal/vitals/vitalstest"
	"sixnines/result"
)

// The conditions of an act hold from its instant until it is undone, and their record says what was asked, by
// which means, and what they did to handshakes with the broker: a delay of 5 ms each way is 10 ms.
func TestNetwork(t *testing.T) {
	if why, not := network.Look().Why[network.NFQueue]; not {
		t.Skip("SKIPPED: nfqueue does not work here: ", why)
	}
	c := start(t, "nats")
	target := &Target{Cluster: c, Seed: 7, Network: &Network{URL: c.URL, Command: []string{os.Args[0], network.Command}, Journal: journal.New(t.TempDir())}}
	vitalstest.Injected(t, func() (complaint string) {
		d := doer(t, target, "{at: 1s, network: {delay: 5ms}, for: 2s}").(actions.Undoer)
		at := clock.Now() + int64(d.(actions.Early).Ahead())
		happened, err := d.Do(t.Context(), at)
		if err != nil || happened < at {
			t.Fatalf("planned for %d, happened at %d: %v", at, happened, err)
		}
		for began := time.Now(); time.Since(began) < 500*time.Millisecond; {
			time.Sleep(10 * time.Millisecond)
		}
		if _, err := d.Undo(t.Context()); err != nil {
			t.Fatal(err)
		}
		e := result.Event{Action: &result.Acted{}}
		d.(actions.Describer).Describe(&e)
		n := e.Action.Network
		if len(n.Means) != 2 || n.Means[0].Packets == 0 || n.Asked.Delay != int64(5*time.Millisecond) || n.Before == nil || n.During == nil || n.After == nil || n.During.Tried == 0 {
			t.Fatalf("%+v", n)
		}
		// Before, packets did not pass the means at all: on top of 10 ms come its wake-ups, which are longer where
		// the race detector runs. How exact the delay itself is, internal/network tests, against a means without one.
		if shift := float64(n.During.P50 - n.Before.P50); shift < 0.98e7 || shift > 1.05e7 {
			return "the round trip is longer by " + time.Duration(shift).String()
		}
		if n.After.P50 > n.During.P50/2 {
			return "the delay is still there: " + time.Duration(n.After.P50).String()
		}
		return ""
	})
}
