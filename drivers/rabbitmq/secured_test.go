package rabbitmq_test

import (
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/rabbitmq"
	"sixnines/internal/brokers"
)

// testSecured is the suite with a user that has the driver's rights and no others.
func testSecured(t *testing.T, c *brokers.Cluster) {
	const prefix = "bench."
	rules := map[string][]string{}
	for _, r := range rabbitmq.Entry().Rights(prefix) {
		rules[r.Name] = append(rules[r.Name], r.Value)
	}
	rule := func(name string) string { return strings.Join(rules[name], "|") }
	for _, args := range [][]string{{"add_user", "limited", "secret"}, {"set_permissions", "limited", rule("configure"), rule("write"), rule("read")}} {
		if _, err := control(t, c, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			drivertest.RunLimited(t, drivertest.Harness{Entry: rabbitmq.Entry(),
				Target: driver.Target{URL: c.URL, Prefix: prefix, Options: map[string]any{"user": "limited", "password": "secret", "client": client}},
				Given: func(run, topic string) (string, string) {
					return prefix + run + "/" + topic + "/" + topic, prefix + run + "/" + topic + "/g0"
				}})
		})
	}
}
