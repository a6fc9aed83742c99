//go:build zeromq && cgo && !windows

package zeromq_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/zeromq"
)

func conform(t *testing.T, e driver.Entry, url string, options map[string]any) {
	t.Helper()
	drivertest.Run(t, drivertest.Harness{Entry: e, Target: driver.Target{URL: url, Options: options}})
}

func TestConformance(t *testing.T) {
	for _, e := range []driver.Entry{zeromq.Entry(), zeromq.PipelineEntry()} {
		t.Run(e.Name, func(t *testing.T) { conform(t, e, "", nil) })
	}
}

func TestConformanceOfVariants(t *testing.T) {
	if testing.Short() {
		t.Skip("variants of the conformance test")
	}
	for _, e := range []driver.Entry{zeromq.Entry(), zeromq.PipelineEntry()} {
		for _, tt := range []struct {
			name, url string
			options   map[string]any
		}{
			{"ipc", "ipc://", nil},
			{"ipc, consumers bind", "ipc://", map[string]any{"bind": "consumers"}},
			{"tcp, consumers bind", "", map[string]any{"bind": "consumers"}},
			{"tcp, producers bind", "", map[string]any{"bind": "producers"}},
			{"inproc", "inproc://", nil},
			{"curve", "", map[string]any{"security": "curve"}},
			{"small queues, all IPv6", "tcp://[::1]:0", map[string]any{"send_hwm": 10, "receive_hwm": 10}},
		} {
			t.Run(e.Name+"/"+tt.name, func(t *testing.T) { conform(t, e, tt.url, tt.options) })
		}
	}
}
