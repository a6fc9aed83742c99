package agent

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
)

const (
	peerEvery    = 100 * time.Millisecond // on average, at random instants
	peerPatience = 250 * time.Millisecond // with each of two answers
)

// peer is another agent, whose clock this one asks directly. Only datagrams of its address and with the run's key are read, whoever
// else sends any.
type peer struct {
	socket *clocksync.Socket
	cease  context.CancelFunc
	all    sync.WaitGroup

	mu    sync.Mutex
	asked *wire.Peer // nil: the other's address is not known yet
	told  wire.Told  // what was not told yet
}

// openPeer opens a socket at an address of this machine.
func openPeer(at netip.Addr) (*peer, error) {
	socket, err := clocksync.Open(netip.AddrPortFrom(at, 0), clocksync.OwnClocks(control.ClockName()))
	if err != nil {
		return nil, err
	}
	return &peer{socket: socket, cease: func() {}}, nil
}

// begin begins to ask and to answer. A second call with the same peer does nothing.
func (x *peer) begin(p *wire.Peer) error {
	of, err := netip.ParseAddrPort(p.Of)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.asked != nil {
		if x.asked.Of != p.Of || x.asked.Second != p.Second || !hmac.Equal(x.asked.Key, p.Key) {
			return errors.New("the pair has another agent")
		}
		return nil
	}
	x.asked = p
	x.told.Pair = p.Pair
	first, second := clocksync.NewKey("first"+string(p.Key)), clocksync.NewKey("second"+string(p.Key))
	if p.Second {
		first, second = second, first
	}
	x.socket.Meet(of, first, second)
	ctx, cancel := context.WithCancel(context.Background())
	x.cease = cancel
	x.all.Go(func() { x.ask(ctx) })
	return nil
}

// close ends asking and answering, and returns when they have ended.
func (x *peer) close() {
	x.mu.Lock()
	cease := x.cease
	x.mu.Unlock()
	cease()
	x.socket.Close()
	x.all.Wait()
}

// ask asks for the time at random instants, until ctx ends.
func (x *peer) ask(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(time.Duration(rand.ExpFloat64()*float64(peerEvery)), 4*peerEvery)):
		}
		if of, err := x.socket.Sight(peerPatience); err == nil { // what is lost is asked again
			x.take(&of)
		}
	}
}

// take keeps an exchange until it is told.
func (x *peer) take(of *clocksync.Sight) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.told.Raw != of.Raw {
		x.told.Raw, x.told.All = of.Raw, nil
	}
	if len(x.told.All) == wire.MostTold {
		x.told.All = x.told.All[1:]
	}
	x.told.All = append(x.told.All, [4]int64{of.T1, of.T2, of.T3, of.T4})
}

// news returns what was not told yet; ok is false if there is nothing.
func (x *peer) news() (t wire.Told, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t = x.told
	x.told.All = nil
	return t, len(t.All) > 0
}

// readRaw reads how this machine's monotonic clock goes against its raw one.
func readRaw() (r clocksync.Reading) {
	r.Ahead, r.Width = clock.RawAhead()
	return r
}

// takePeer has a run's job ask another agent's clock.
func (a *agent) takePeer(data []byte) any {
	p := &wire.Peer{}
	if err := wire.Decode(a.Version, data, p); err != nil {
		return refusal(err)
	}
	if p.Of != "" {
		if err := a.Allow.target(p.Of); err != nil {
			return refuse(wire.RefusedForbidden, err)
		}
	}
	j, none := a.current(p.Run)
	if none != nil {
		return none
	}
	return j.peer(p)
}

// peer opens a socket for a pair of the run, or begins to ask by it.
func (j *job) peer(p *wire.Peer) *wire.Answer {
	j.mu.Lock()
	defer j.mu.Unlock()
	x := j.peers[p.Pair]
	switch {
	case j.apart:
		return refuse(wire.RefusedInvalid, errors.New("the run is over"))
	case x == nil && p.Of != "":
		return refuse(wire.RefusedInvalid, fmt.Errorf("there is no socket of pair %d", p.Pair))
	case x == nil && len(j.peers) == wire.MostPeers:
		return refuse(wire.RefusedInvalid, fmt.Errorf("an agent asks at most %d others", wire.MostPeers))
	case x == nil:
		at, err := j.agent.reachable()
		if err == nil {
			x, err = openPeer(at)
		}
		if err != nil {
			return refuse(wire.RefusedFailed, err)
		}
		j.peers[p.Pair] = x
	}
	if p.Of == "" {
		return &wire.Answer{At: x.socket.Address().String()}
	}
	if err := x.begin(p); err != nil {
		return refuse(wire.RefusedInvalid, err)
	}
	return &wire.Answer{}
}

// part ends the asking of other agents.
func (j *job) part() {
	j.mu.Lock()
	j.apart = true
	j.mu.Unlock()
	for _, x := range j.peers { // nobody adds one any more
		x.close()
	}
}

// news is what other agents were asked since the last call. j.mu is held.
func (j *job) news() (all []wire.Told) {
	for _, x := range j.peers {
		if t, ok := x.news(); ok {
			all = append(all, t)
		}
	}
	return all
}

// reachable is the address by which others are likely to reach this machine: that by which it reaches the control plane, or, if
// that is on this machine, anything else.
func (a *agent) reachable() (netip.Addr, error) {
	own, err := netip.ParseAddrPort(a.conn.LocalAddr())
	if err != nil {
		return netip.Addr{}, fmt.Errorf("the address by which this machine reaches the control plane: %w", err)
	}
	if !own.Addr().IsLoopback() {
		return own.Addr().Unmap(), nil
	}
	// Nothing is sent: the kernel chooses the address of the way to an address of documentation (RFC 5737), the default one.
	if c, err := net.Dial("udp", "192.0.2.1:9"); err == nil {
		defer c.Close()
		if to, err := netip.ParseAddrPort(c.LocalAddr().String()); err == nil {
			return to.Addr().Unmap(), nil
		}
	}
	return own.Addr().Unmap(), nil
}
