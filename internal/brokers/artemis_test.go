package brokers_test

import (
	"strings"
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

func TestArtemisRunsAndComesBack(t *testing.T) {
	c := brokertest.Start(t, "artemis", brokers.Options{Settings: map[string]string{"java.heap": "256m", "journal-buffer-timeout": "500000",
		"acceptor.amqpCredits": "100", "address.max-size-bytes": "10M"}})
	t.Logf("%s %s (%s) at %s in %s", c.Product, c.Version, c.Origin, c.URL, c.Dir)
	if !strings.HasPrefix(c.URL, "amqp://") || !accepts(t, brokertest.Address(t, c.URL)) {
		t.Errorf("nobody is at %s", c.URL)
	}
	if got := c.Settings["journal-buffer-timeout"]; got != "500000" {
		t.Errorf("a setting is told to be %q", got)
	}
	brokertest.Restart(t, c)()
	if !accepts(t, brokertest.Address(t, c.URL)) {
		t.Error("after a restart nobody listens")
	}
}

func TestArtemisWithTLSAndLoginStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a virtual machine; not with -short")
	}
	c := brokertest.Start(t, "artemis", brokers.Options{TLS: brokertest.NewCertificates(t).Server(true), User: "ada", Password: "lovelace",
		Settings: map[string]string{"java.heap": "256m"}})
	if !strings.HasPrefix(c.URL, "amqps://") || !accepts(t, brokertest.Address(t, c.URL)) {
		t.Errorf("nobody is at %s", c.URL)
	}
}
