package network

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"sixnines/internal/relay"
)

// RoundTrips are the times of handshakes: how long the kernel of this machine waited for the answer of the other's.
// Neither program takes part, so they are those of the path alone.
type RoundTrips struct {
	Tried, Failed int           // handshakes
	Min, P50, P99 time.Duration // of those that did not fail; of fewer than 100, P99 is the largest
}

// patience is how long a handshake may take.
const patience = 5 * time.Second

// Measure makes n handshakes with the address, one after the other with a pause between them, and closes each connection at
// once. Through a relay (via, if not nil) they take as long as connecting does, with what the relay's process takes. It returns early when the context ends; a handshake that was under way then does not count.
func Measure(ctx context.Context, address netip.AddrPort, via *relay.Via, n int, pause time.Duration) RoundTrips {
	var took []time.Duration
	r := RoundTrips{}
	for r.Tried < n && ctx.Err() == nil {
		d, err := handshake(ctx, address, via)
		if end, ends := ctx.Deadline(); err != nil && (ctx.Err() != nil || ends && !time.Now().Before(end)) {
			break // the dialer's own timer may be the first
		}
		r.Tried++
		if err != nil {
			r.Failed++
		} else {
			took = append(took, d)
		}
		if pause > 0 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
	return r.with(took)
}

// with fills in the quantiles.
func (r RoundTrips) with(took []time.Duration) RoundTrips {
	if len(took) == 0 {
		return r
	}
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[min(len(took)-1, int(q*float64(len(took))))] }
	r.Min, r.P50, r.P99 = took[0], at(0.5), at(0.99)
	return r
}

// handshake connects, and returns what the kernel says of the round trip; where it says nothing, how long
// connecting took.
func handshake(ctx context.Context, address netip.AddrPort, via *relay.Via) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var c net.Conn
	began := time.Now()
	if via != nil {
		c, _, err = via.Dial(ctx, "tcp", address.String())
	} else {
		c, err = new(net.Dialer).DialContext(ctx, "tcp", address.String())
	}
	took = time.Since(began)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return took, nil
	}
	// Reset, so that neither end keeps the connection's state.
	_ = tcp.SetLinger(0)
	if kernel := kernelRoundTrip(tcp); kernel > 0 && via == nil {
		return kernel, nil
	}
	return took, nil
}
