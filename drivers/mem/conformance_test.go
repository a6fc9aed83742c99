package mem_test

import (
	"testing"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/drivers/mem"
)

func TestConformance(t *testing.T) {
	for name, options := range map[string]map[string]any{
		"without acknowledgements": nil,
		"with acknowledgements":    {"ack": "broker"},
		// Long enough for the checks that hold a consumer up for some hundred
		// messages, short enough for others to fill it.
		"with a short queue": {"queue": 800, "ack": "broker"},
		"with delays":        {"delay": "1ms", "jitter": "2ms", "ack": "broker", "ack_delay": "1ms"},
		"kept":               {"ack": "broker", "keep": true},
		// Which no check reaches that counts what comes.
		"with a loss of connections to come": {"ack": "broker", "disconnect_for": "1s", "disconnect_after": 1 << 40, "begin": "open"},
	} {
		t.Run(name, func(t *testing.T) {
			b := mem.New()
			options := merged(options, map[string]any{"max_payload": 2 << 20})
			drivertest.Run(t, drivertest.Harness{
				Entry:     b.Entry(),
				Target:    driver.Target{URL: b.Entry().DefaultURL, Options: options},
				TooLarge:  2<<20 + 1,
				Freeze:    b.Freeze,
				Thaw:      b.Thaw,
				Restart:   b.Disconnect,
				Leftovers: func(run string) ([]string, error) { return b.Topics(run), nil },
			})
		})
	}
}

func merged(all ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range all {
		for key, value := range m {
			out[key] = value
		}
	}
	return out
}
