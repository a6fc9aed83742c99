package observe

import (
	"net"
	"testing"

	"sixnines/internal/engine/plan"
	"sixnines/internal/transport"
)

// A connection that was made for a producer is known to be its own, although others were made and closed before it,
// as clients do that ask Redis's Sentinels for the master.
func TestClosedConnectionsAreNoProducers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := transport.NewDialer(false)
	dial := func() net.Conn {
		c, err := d.Dial(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	r := &Recording{Plan: &plan.Plan{}}
	mark := d.Mark()
	dial().Close()
	own := dial()
	if c := r.Attribute("producer", d, mark, true); net.Conn(c) != own {
		t.Errorf("of a closed connection and one that is open, %v is the producer's", c)
	}
	mark = d.Mark()
	dial()
	dial()
	if c := r.Attribute("producer", d, mark, true); c != nil {
		t.Errorf("of two open connections %v is the producer's", c)
	}
}
