package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/scenario"
)

// A broker serves another run unless something happened to it, which a command of the user's may be.
func TestChangesBroker(t *testing.T) {
	for text, want := range map[string]bool{
		"{at: 1s, pause: consumers, for: 1s}":              false,
		"{at: 1s, network: {delay: 1ms}, for: 1s}":         false,
		"{at: 1s, stall: {node: 0}, for: 1s}":              true,
		"{at: 1s, exec: {do: id}}":                         true,
		"{at: 1s, cut: {from: clients, to: all}, for: 1s}": true,
	} {
		s, err := scenario.Parse("x.yaml", []byte("target: {driver: nats}\nactions: ["+text+"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := changesBroker(s); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestRest(t *testing.T) {
	for name, test := range map[string]struct {
		busy      time.Duration // for how long each of three processes takes a third of a processor
		blind     bool
		waited    time.Duration
		notRested bool
	}{
		"idle":             {waited: restLook},
		"busy for a while": {busy: 2 * time.Second, waited: 2*time.Second + restLook},
		"busy without end": {busy: time.Hour, waited: restAtMost, notRested: true},
		"nobody can tell":  {blind: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				waited, rested := rest(t.Context(), func() (time.Duration, int, bool) {
					elapsed := time.Since(begun)
					return min(elapsed, test.busy) + elapsed/100, 3, !test.blind
				})
				if waited != test.waited || rested == test.notRested || time.Since(begun) != waited {
					t.Errorf("waited %v, rested %v; want %v", waited, rested, test.waited)
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, rested := rest(ctx, func() (time.Duration, int, bool) { return time.Duration(time.Now().UnixNano()), 1, true }); !rested {
		t.Error("a run that is ended waits for a broker")
	}
}
