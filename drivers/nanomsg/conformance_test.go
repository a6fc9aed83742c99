package nanomsg_test

import (
	"path/filepath"
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/nanomsg"
	"sixnines/internal/brokers/brokertest"
)

func entries() []driver.Entry {
	return []driver.Entry{nanomsg.Entry(), nanomsg.PipelineEntry()}
}

func TestConformance(t *testing.T) {
	certs := brokertest.NewCertificates(t)
	for _, e := range entries() {
		t.Run(e.Name, func(t *testing.T) {
			drivertest.Run(t, drivertest.Harness{Entry: e, Encrypted: &driver.Target{TLS: certs.Client(false),
				Options: map[string]any{"server_cert": certs.ServerCert, "server_key": certs.ServerKey}}})
		})
	}
}

func TestConformanceOfVariants(t *testing.T) {
	if testing.Short() {
		t.Skip("variants of the conformance test")
	}
	certs := brokertest.NewCertificates(t)
	encrypted := map[string]any{"server_cert": certs.ServerCert, "server_key": certs.ServerKey}
	for _, e := range entries() {
		for _, tt := range []struct {
			name   string
			target driver.Target
		}{
			{"ipc", driver.Target{URL: "ipc://"}},
			{"ipc, consumers bind", driver.Target{URL: "ipc://", Options: map[string]any{"bind": "consumers"}}},
			{"tcp, consumers bind", driver.Target{Options: map[string]any{"bind": "consumers"}}},
			{"tcp, producers bind", driver.Target{Options: map[string]any{"bind": "producers"}}},
			{"inproc", driver.Target{URL: "inproc://"}},
			{"tls", driver.Target{Options: encrypted, TLS: certs.Client(false)}},
			{"tls with client certificates, consumers bind", driver.Target{URL: "tls+tcp://127.0.0.1:0", TLS: certs.Client(true),
				Options: map[string]any{"server_cert": certs.ServerCert, "server_key": certs.ServerKey, "bind": "consumers"}}},
			{"library", driver.Target{Options: map[string]any{"sockets": "library", "queue": 100_000}}},
			{"library, ipc", driver.Target{URL: "ipc://", Options: map[string]any{"sockets": "library", "queue": 100_000}}},
		} {
			t.Run(e.Name+"/"+tt.name, func(t *testing.T) {
				drivertest.Run(t, drivertest.Harness{Entry: e, Target: tt.target})
			})
		}
		t.Run(e.Name+"/files of ipc", func(t *testing.T) {
			dir := t.TempDir()
			drivertest.Run(t, drivertest.Harness{Entry: e, Target: driver.Target{URL: "ipc://" + filepath.Join(dir, "s")},
				// What sockets leave is files.
				Leftovers: func(string) ([]string, error) { return filepath.Glob(filepath.Join(dir, "*")) }})
		})
	}
}
