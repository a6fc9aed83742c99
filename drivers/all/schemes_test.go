package all_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/all"
)

// An entry lists the schemes that its driver takes, and no others: with one of them Open gets as far as the network, with another
// it gets nowhere.
func TestEntriesListTheirSchemes(t *testing.T) {
	refused := errors.New("nothing listens here")
	// What follows the scheme where that is not a host.
	urls := map[string]string{"redis+sentinel": "127.0.0.1:1/main", "rediss+sentinel": "127.0.0.1:1/main", "unix": "/nothing",
		"mem": "", "inproc": "", "pulsar": "127.0.0.1:6650", "pulsar+ssl": "127.0.0.1:6651", "ipc": t.TempDir() + "/s", "tcp": "127.0.0.1:0", "tls+tcp": "127.0.0.1:0"}
	known := map[string]bool{"http": true}
	for _, e := range all.Set().Entries() {
		if len(e.Schemes) == 0 {
			t.Errorf("%s lists no schemes", e.Name)
		}
		for _, scheme := range e.Schemes {
			known[scheme] = true
		}
	}
	for _, e := range all.Set().Entries() {
		for _, scheme := range slices.Sorted(maps.Keys(known)) {
			at, ok := urls[scheme]
			if !ok {
				at = "127.0.0.1:1"
			}
			ctx, cancel := context.WithCancel(t.Context())
			s, err := e.Driver.Open(ctx, driver.Target{URL: scheme + "://" + at, Run: "r", Dial: func(context.Context, string, string) (net.Conn, error) {
				cancel()
				return nil, refused
			}})
			cancel()
			if err == nil {
				if err := s.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if absent := (*driver.AbsentError)(nil); errors.As(err, &absent) {
				continue // a build without the driver refuses all
			}
			listed, taken := slices.Contains(e.Schemes, scheme), err == nil || !errors.Is(err, driver.ErrOption)
			if listed != taken && scheme != "tls+tcp" { // which also wants certificates
				t.Errorf("%s: scheme %s: listed is %v, and Open says %v", e.Name, scheme, listed, err)
			}
		}
	}
}
