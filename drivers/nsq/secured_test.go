package nsq_test

import (
	"os"
	"testing"

	"sixnines/driver/drivertest"
	"sixnines/drivers/nsq"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// become makes the test binary the server that a secured nsqd asks.
const become = "__broker-nsq"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == become {
		os.Exit(brokers.Serve(os.Stdin, os.Stderr, os.Args[2:]))
	}
	os.Exit(m.Run())
}

// TestSecured is the suite with an account that has the driver's rights and no others. The library's client refuses a secret
// with encryption.
func TestSecured(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, target := brokertest.Secured(t, "nsq", nsq.Entry(), brokers.Options{Home: brokers.Home{Self: []string{self, become}}})
	drivertest.RunLimited(t, drivertest.Harness{Entry: nsq.Entry(), Target: target})
}
