package mqtt_test

import (
	"os"
	"path/filepath"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/mqtt"
	"sixnines/internal/brokers"
)

// TestSecured is the suite with a user that has the driver's rights and no others.
func TestSecured(t *testing.T) {
	const prefix = "bench/"
	acl := "user ada\n"
	for _, r := range mqtt.Entry().Rights(prefix) {
		acl += r.Name + " " + r.Value + "\n"
	}
	file := filepath.Join(t.TempDir(), "acl")
	if err := os.WriteFile(file, []byte(acl), 0o600); err != nil {
		t.Fatal(err)
	}
	c := mosquitto(t, brokers.Options{User: "ada", Password: "lovelace", Settings: map[string]string{"acl_file": file}})
	for name, options := range map[string]map[string]any{
		"5": {}, "5 by the library": {"client": "library"}, "3.1.1": {"version": "3.1.1"}, "3.1.1 by the library": {"version": "3.1.1", "client": "library"},
	} {
		t.Run(name, func(t *testing.T) {
			login := map[string]any{"user": "ada", "password": "lovelace"}
			for option, value := range options {
				login[option] = value
			}
			drivertest.RunLimited(t, drivertest.Harness{Entry: mqtt.Entry(), Target: driver.Target{URL: c.URL, Prefix: prefix, Options: login}})
		})
	}
}
