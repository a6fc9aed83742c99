package observe

import (
	"net"
	"testing"

	"sixnines/driver"
	"sixnines/internal/transport"
)

// The receive lag goes on to be known after a connection was replaced, if it is certain which one it
// was; where two of a kind are lost at once it is unknown, and never another connection's.
func TestReplacedConnectionsAreTappedAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := transport.NewDialer(false)
	defer d.CloseAll()
	dial := func(r driver.Role) *transport.Conn {
		c, err := d.Dial(driver.WithRole(t.Context(), r), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c.(*transport.Conn)
	}
	const now = 1_000_000
	taps := NewTaps()
	producer, one, two := dial(driver.RoleProducer), dial(driver.RoleConsumer), dial(driver.RoleConsumer)
	sending, first, second := taps.On(producer), taps.On(one), taps.On(two)
	if taps.On(one) != first || taps.On(nil) != nil {
		t.Error("two taps on one connection, or one on none")
	}
	made := map[*transport.Conn]int{}
	d.OnDial(func(c *transport.Conn) { made[c]++; taps.Replace(c) })
	lag := func(tap *Tap, want int64, when string) {
		t.Helper()
		if got := tap.Received(now); got != want {
			t.Errorf("%s: a receive lag of %d, want %d", when, got, want)
		}
	}
	first.HasRead(now-10, 5)
	second.HasRead(now-10, 6)
	sending.HasRead(now-10, 7)
	lag(first, 5, "at first")

	dial(driver.RoleConsumer) // nothing was lost: it is no replacement
	lag(first, 5, "beside another connection")
	one.Close()
	lag(first, -1, "when lost")
	dial(driver.RoleControl)
	dial("")
	lag(first, -1, "after connections of others")
	asked := dial(driver.RoleConsumer) // who leads?
	asked.Close()
	again := dial(driver.RoleConsumer)
	if made[again] != 1 {
		t.Fatal("the dialer does not say which connection it made")
	}
	lag(first, -1, "before anything was read")
	first.latest().HasRead(now-1, 3)
	lag(first, 3, "when replaced")
	if first.latest().Conn != again {
		t.Error("another connection is followed")
	}
	lag(second, 6, "of another consumer")
	lag(sending, 7, "of the producer")

	again.Close()
	two.Close()
	dial(driver.RoleConsumer)
	dial(driver.RoleConsumer)
	lag(first, -1, "when two were lost at once")
	lag(second, -1, "when two were lost at once")
	lag(sending, 7, "of the producer, then")
	if !taps.Lost() {
		t.Error("no connection was lost")
	}
}
