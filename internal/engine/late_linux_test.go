package engine

import (
	"net"
	"testing"

	"sixnines/internal/engine/observe"
	"sixnines/internal/transport"
)

// An acknowledgement that is read late on purpose counts from its arrival.
func TestLateAcknowledgementsCountFromTheirArrival(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := transport.NewDialer(true)
	defer d.CloseAll()
	dialed, err := d.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := dialed.(*transport.Conn)
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tp := &observe.Tap{Conn: c}
	c.Observe(tp)
	const read, lay, called = 5_000_000, 3_000_000, 5_000_100
	tp.HasRead(read, lay)
	if at, late := tp.Arrived(called); late || at != called {
		t.Errorf("read at once: %d, late %t", at, late)
	}
	if _, err := other.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	for n := 0; n == 0; n, _ = c.ReadNow(make([]byte, 1)) {
	}
	tp.HasRead(read, lay)
	if at, late := tp.Arrived(called); !late || at != read-lay {
		t.Errorf("read late: %d, late %t", at, late)
	}
	tp.HasRead(read+1, -1)
	if at, late := tp.Arrived(called); late || at != called {
		t.Errorf("without a stamp: %d, late %t", at, late)
	}
	// What comes by its successor is not of its reads.
	tp.HasRead(read, lay)
	c.Close()
	if at, late := tp.Arrived(called); late || at != called {
		t.Errorf("of a connection that was replaced: %d, late %t", at, late)
	}
}
