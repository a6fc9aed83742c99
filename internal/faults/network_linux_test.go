package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/journal"
	"sixnines/internal/network"
	"sixnines/internal/vitals/vitalstest"
	"sixnines/result"
	"sixnines/scenario"
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

// The conditions of a whole run hold from Hold to End, its record has handshakes without and with them, and
// nothing is left, also where End is called twice or Hold's context has ended.
func TestHold(t *testing.T) {
	if why, not := network.Look().Why[network.NFQueue]; not {
		t.Skip("SKIPPED: nfqueue does not work here: ", why)
	}
	c := start(t, "nats")
	target := &Target{Cluster: c, Seed: 7, Network: &Network{URL: c.URL, Command: []string{os.Args[0], network.Command}, Journal: journal.New(t.TempDir())}}
	path, err := target.Path(t.Context(), scenario.Network{Profile: "cross-region"})
	if err != nil {
		t.Fatal(err)
	}
	before := rulesAt(t, path.probed.Port())
	h, err := path.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := h.Network()
	if n.Before == nil || n.During == nil || n.During.Tried < 2 || n.During.Failed > 0 || n.During.Min-n.Before.Min < int64(71*time.Millisecond) || n.Profile != "cross-region" {
		t.Errorf("%+v: %+v, %+v", n, n.Before, n.During)
	}
	if rulesAt(t, path.probed.Port()) == before {
		t.Error("no rule is there while the conditions hold")
	}
	for range 2 {
		over, err := h.End()
		if err != nil || over.Means[0].Packets == 0 || over.After == nil || over.After.Min > over.During.Min/2 || n.Means[0].Packets != 0 {
			t.Errorf("%+v: %+v, %v", over, over.After, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := path.Hold(ended); err == nil {
		t.Error("a run that has ended holds conditions")
	}
	if now := rulesAt(t, path.probed.Port()); now != before {
		t.Errorf("left behind:\n%s", now)
	}
}

// rulesAt returns the rules about a port.
func rulesAt(t *testing.T, port uint16) string {
	out, err := exec.Command("iptables-legacy-save", "-t", "mangle").Output()
	if err != nil {
		t.Fatal(err)
	}
	var about []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, fmt.Sprintf("port %d ", port)) {
			about = append(about, line)
		}
	}
	return strings.Join(about, "")
}
