package resptest

import (
	"maps"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/internal/brokers"
)

// Secured puts a driver on trial as a user that has the driver's rights under the prefix, and no
// others.
func Secured(t *testing.T, e driver.Entry, prefix string, options map[string]any) {
	t.Helper()
	s := Start(t, brokers.Options{User: "ada", Password: "lovelace"})
	rules := []any{"SETUSER", "guest", "reset", "on", ">secret"}
	for _, r := range e.Rights(prefix) {
		rules = append(rules, r.Value)
	}
	if _, err := s.Do("ACL", rules...); err != nil {
		t.Fatal(err)
	}
	login := map[string]any{"user": "guest", "password": "secret"}
	maps.Copy(login, options)
	drivertest.RunLimited(t, drivertest.Harness{Entry: e, Target: driver.Target{URL: s.URL, Prefix: prefix, Options: login}})
}
