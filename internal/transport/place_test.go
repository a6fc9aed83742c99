package transport

import (
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"

	"sixnines/driver"
)

// TestHere dials listeners of this machine by all of its own addresses.
func TestHere(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	places := [][2]string{{"unix", filepath.Join(t.TempDir(), "s")}, {"tcp", "127.0.0.1:0"}, {"tcp", "0.0.0.0:0"}}
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil {
			places = append(places, [2]string{"tcp", n.IP.String() + ":0"})
		}
	}
	for _, place := range places {
		l, err := net.Listen(place[0], place[1])
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		d := NewDialer(false)
		if here, known := d.Here(); here || known {
			t.Error("known before there was a connection")
		}
		c, err := d.Dial(t.Context(), place[0], l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if here, known := d.Here(); !here || !known {
			t.Errorf("%v: %v, %v", place, here, known)
		}
	}
	other := placed{from: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 5}, to: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 5}}
	if within(other) {
		t.Error("another machine's address is taken for this one's")
	}
}

// placed is a connection that has only its two addresses.
type placed struct {
	net.Conn
	from, to net.Addr
}

func (p placed) LocalAddr() net.Addr  { return p.from }
func (p placed) RemoteAddr() net.Addr { return p.to }

// The ends are those of producers and consumers, also of connections that are closed, and of those whose role was said later.
func TestEnds(t *testing.T) {
	d := NewDialer(false)
	dial := func(r driver.Role) (*Conn, netip.AddrPort) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		c, err := d.Dial(driver.WithRole(t.Context(), r), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c.(*Conn), netip.MustParseAddrPort(l.Addr().String())
	}
	closed, first := dial(driver.RoleProducer)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	_, second := dial(driver.RoleConsumer)
	dial(driver.RoleControl)
	late, third := dial("")
	want := []netip.AddrPort{first, second}
	for range 2 {
		got := d.Ends()
		slices.SortFunc(got, netip.AddrPort.Compare)
		slices.SortFunc(want, netip.AddrPort.Compare)
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		late.Role, want = driver.RoleProducer, append(want, third)
	}
}
