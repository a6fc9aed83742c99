package resptest

import (
	"maps"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
)

// Refuses checks what a driver does where the server refuses the command by which it
// publishes, and the login of a session that was there before, by each client.
func Refuses(t *testing.T, e driver.Entry, command string) {
	s := Start(t, brokers.Options{User: "ada", Password: "lovelace"})
	do := func(t *testing.T, args ...any) {
		t.Helper()
		if _, err := s.Do("ACL", append([]any{"SETUSER"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			target := func(user string, options map[string]any) driver.Target {
				all := map[string]any{"user": user, "password": "x", "client": client}
				maps.Copy(all, options)
				return driver.Target{URL: s.URL, Run: "test-" + client, Options: all} // the clients share the server
			}
			do(t, "mute", "on", ">x", "~*", "&*", "+@all", "-"+command)
			sessiontest.Forbidden(t, e.Driver, target("mute", nil), "NOPERM", command)
			if e.Name == "redis" && client == "direct" {
				sessiontest.Forbidden(t, e.Driver, target("mute", map[string]any{"acks": "none"}), "NOPERM", command)
			}
			user := "bob-" + client
			do(t, user, "on", ">x", "~*", "&*", "+@all")
			sessiontest.LockedOut(t, e.Driver, target(user, nil), func() {
				do(t, user, "resetpass", ">y")
				if _, err := s.Do("CLIENT", "KILL", "USER", user); err != nil {
					t.Fatal(err)
				}
			}, "WRONGPASS")
		})
	}
}
