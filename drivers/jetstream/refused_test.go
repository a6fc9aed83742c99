package jetstream_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire/natswiretest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/jetstream"
	"sixnines/internal/brokers"
)

// TestLockedOut has the server refuse the login of a session that was there before.
func TestLockedOut(t *testing.T) {
	b := startBroker(t, brokers.Options{})
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			dial, lock := natswiretest.LockOut(t)
			sessiontest.LockedOut(t, jetstream.Entry().Driver, driver.Target{URL: b.URL, Run: "locked" + client, Dial: dial,
				Options: map[string]any{"client": client}}, lock, "Authorization Violation")
		})
	}
}
