package network

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"sixnines/scenario"
)

// Conditions follow to a further address of the broker, before and after they have begun, and leave no rule. The delay is longer
// than any test waits.
func TestFollow(t *testing.T) {
	for name, early := range map[string]bool{"before they begin": true, "while they hold": false} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, NFQueue)
			before := l.states(t)
			named, told := l.listen(t), l.listen(t)
			echo(named)
			echo(told)
			p := prepared(t, l, named.Addr().(*net.TCPAddr).Port, scenario.Conditions{Delay: time.Hour}, NFQueue)
			c := l.dial(t, told.Addr())
			roundTrips(t, c, 3)
			more := []netip.AddrPort{netip.AddrPortFrom(brokerAddress, uint16(told.Addr().(*net.TCPAddr).Port))}
			if !early {
				begin(t, p)
				roundTrips(t, c, 3)
			}
			if err := p.Follow(more); err != nil {
				t.Fatal(err)
			}
			if early {
				roundTrips(t, c, 3)
				begin(t, p)
			}
			if _, err := c.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if n, err := c.Read(make([]byte, 1)); err == nil {
				t.Errorf("%d bytes came back at once", n)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if after := l.states(t); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}
