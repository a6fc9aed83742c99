package mqtt_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/mqtt"
	"sixnines/internal/brokers"
)

// unavailable is a connection to a server that answers the login with what goes
// away by itself.
type unavailable struct {
	net.Conn
	answer []byte // to be read next; nil: it hangs up after it has tried for a while
}

func (c *unavailable) Write(p []byte) (int, error) { return len(p), nil }

func (c *unavailable) Read(p []byte) (int, error) {
	if c.answer == nil {
		time.Sleep(1100 * time.Millisecond)
		return 0, io.EOF
	}
	if len(c.answer) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.answer)
	c.answer = c.answer[n:]
	return n, nil
}

// TestUnavailable has the server be unavailable a few times, and wants a run set up
// all the same.
func TestUnavailable(t *testing.T) {
	c := mosquitto(t, brokers.Options{})
	for version, answer := range map[string][]byte{
		"3.1.1": {0x20, 2, 0, 3},
		"5":     {0x20, 3, 0, 0x89, 0},
	} {
		var left atomic.Int32
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil && left.Add(-1) >= 0 {
				conn = &unavailable{conn, answer}
			}
			return conn, err
		}
		left.Store(10)
		s := open(t, driver.Target{URL: c.URL, Options: map[string]any{"version": version}, Dial: dial})
		left.Store(10)
		if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		left.Store(10)
		if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(driver.Message) {}); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		if n := left.Load(); n >= 0 {
			t.Errorf("%s: %d logins fewer than expected", version, n)
		}
	}
}

// TestServerGivesUp has the server try for a second and hang up, at first.
func TestServerGivesUp(t *testing.T) {
	c := mosquitto(t, brokers.Options{})
	var left atomic.Int32
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil && left.Add(-1) >= 0 {
			conn = &unavailable{Conn: conn}
		}
		return conn, err
	}
	left.Store(2)
	s := open(t, driver.Target{URL: c.URL, Dial: dial})
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); err != nil || left.Load() >= 0 {
		t.Errorf("%d logins fewer than expected: %v", left.Load(), err)
	}
}

// TestLockedOut has the server refuse the login of a session that was there before.
func TestLockedOut(t *testing.T) {
	c := mosquitto(t, brokers.Options{})
	for version, answer := range map[string][]byte{
		"3.1.1": {0x20, 2, 0, 4},
		"5":     {0x20, 3, 0, 0x86, 0},
	} {
		for _, client := range []string{"direct", "library"} {
			t.Run(version+" "+client, func(t *testing.T) {
				t.Parallel()
				var locked atomic.Bool
				sessiontest.LockedOut(t, mqtt.Entry().Driver, driver.Target{URL: c.URL, Options: map[string]any{"version": version, "client": client},
					Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
						conn, err := new(net.Dialer).DialContext(ctx, network, address)
						if err == nil && locked.Load() {
							conn = &unavailable{conn, answer}
						}
						return conn, err
					}}, func() { locked.Store(true) }, "wrong user name or password")
			})
		}
	}
}
