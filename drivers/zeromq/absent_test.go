//go:build !zeromq || !cgo || windows

package zeromq_test

import (
	"errors"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/zeromq"
)

func TestOpenSaysHowToBuildIt(t *testing.T) {
	for _, e := range []driver.Entry{zeromq.Entry(), zeromq.PipelineEntry()} {
		_, err := e.Driver.Open(t.Context(), driver.Target{Run: "test"})
		if !errors.Is(err, driver.ErrUnsupported) || !strings.Contains(err.Error(), "go build -tags zeromq") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", e.Name, err)
		}
		_, err = e.Driver.Open(t.Context(), driver.Target{Run: "test", Options: map[string]any{"send_hmw": 1}})
		if !errors.Is(err, driver.ErrOption) || !strings.Contains(err.Error(), "send_hwm") {
			t.Errorf("%s: a wrong option: %v", e.Name, err)
		}
	}
}
