package observe

import (
	"net"
	"testing"

	"sixnines/driver"
	"sixnines/internal/clock"
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

// The time between two reads is a reader's work if more had come meanwhile; else it may have waited for
// something else in between.
func TestAReaderWorksWhileMoreHasCome(t *testing.T) {
	var tap Tap
	read := func(arrived int64) (worked int64) { // ns before the beginning of the read
		since, before := tap.last.at.Load(), tap.worked.Load()
		tap.Reading()
		tap.HasRead(tap.entered+100, 100+arrived)
		if worked = tap.worked.Load() - before; worked != 0 && worked != tap.entered-since {
			t.Errorf("worked for %d of %d ns", worked, tap.entered-since)
		}
		return worked
	}
	if w := read(50); w != 0 {
		t.Errorf("%d ns before the first read", w)
	}
	for clock.Now() < tap.last.at.Load()+1000 {
	}
	if w := read(50); w == 0 {
		t.Error("no work, and more had come")
	}
	for clock.Now() < tap.last.at.Load()+1000 {
	}
	if w := read(-50); w != 0 {
		t.Errorf("%d ns, and nothing had come", w)
	}
	tap.Reading()
	tap.HasRead(tap.entered+1, -1)
	if w := read(0); w < 0 {
		t.Errorf("%d ns", w)
	}
	worked := tap.worked.Load()
	tap.HasRead(clock.Now(), 1000) // a read that never waits
	if tap.worked.Load() != worked {
		t.Error("a read that is late on purpose counts as work")
	}
}
