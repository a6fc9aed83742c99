package agent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/wire"
)

// A datagram is a question or an answer of package clocksync, filled up to one length, so that no answer is longer than its question,
// and a signature.
const (
	peerText  = 48
	peerSign  = 16
	peerFrame = peerText + peerSign
	peerEvery = 100 * time.Millisecond // on average, at random instants
)

// peer is another agent, whose clock this one asks directly. Only datagrams of its address and with the run's key are read, whoever
// else sends any.
type peer struct {
	conn  *net.UDPConn
	cease context.CancelFunc
	all   sync.WaitGroup

	mu     sync.Mutex
	asked  *wire.Peer     // nil: the other's address is not known yet
	of     netip.AddrPort // it
	number uint32         // of the last question
	left   int64          // when it left; 0: it was answered
	before clocksync.Reading
	told   wire.Told // what was not told yet
}

// openPeer opens a socket at an address of this machine.
func openPeer(at netip.Addr) (*peer, error) {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, 0)))
	if err != nil {
		return nil, err
	}
	return &peer{conn: conn, cease: func() {}}, nil
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
	x.asked, x.of = p, netip.AddrPortFrom(of.Addr().Unmap(), of.Port())
	x.told.Pair = p.Pair
	ctx, cancel := context.WithCancel(context.Background())
	x.cease = cancel
	x.all.Go(func() { x.ask(ctx) })
	x.all.Go(x.read)
	return nil
}

// close ends asking and answering, and returns when they have ended.
func (x *peer) close() {
	x.conn.Close()
	x.mu.Lock()
	cease := x.cease
	x.mu.Unlock()
	cease()
	x.all.Wait()
}

// sign returns the signature of what the first or the second of the pair sends.
func (x *peer) sign(text []byte, second bool) []byte {
	h := hmac.New(sha256.New, x.asked.Key)
	h.Write(text)
	if second {
		h.Write([]byte{1})
	}
	return h.Sum(nil)[:peerSign]
}

// send sends a question or an answer. One that is lost is not sent again.
func (x *peer) send(text []byte) {
	frame := make([]byte, peerText, peerFrame)
	copy(frame, text)
	_, _ = x.conn.WriteToUDPAddrPort(append(frame, x.sign(frame, x.asked.Second)...), x.of)
}

// ask asks for the time at random instants, until ctx ends.
func (x *peer) ask(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(time.Duration(rand.ExpFloat64()*float64(peerEvery)), 4*peerEvery)):
		}
		before := readRaw()
		x.mu.Lock()
		x.number++
		x.before, x.left = before, clock.Now()
		question := clocksync.Ask(x.number, x.left)
		x.mu.Unlock()
		x.send(question)
	}
}

// read takes answers, and answers questions, until the socket is closed.
func (x *peer) read() {
	buf := make([]byte, peerFrame+1)
	for {
		n, from, err := x.conn.ReadFromUDPAddrPort(buf)
		arrived := clock.Now()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // so that an error that stays takes no processor
			continue
		}
		x.handle(buf[:n], from, arrived)
	}
}

// handle takes an answer or answers a question, if a datagram is one of the other agent.
func (x *peer) handle(frame []byte, from netip.AddrPort, arrived int64) {
	if len(frame) != peerFrame || netip.AddrPortFrom(from.Addr().Unmap(), from.Port()) != x.of {
		return
	}
	text := frame[:peerText]
	if !hmac.Equal(frame[peerText:], x.sign(text, !x.asked.Second)) {
		return
	}
	if answer, err := clocksync.Answer(text[:clocksync.QuestionSize], arrived, readRaw(), clock.Now); err == nil {
		x.send(answer)
		return
	}
	x.take(text, arrived)
}

// take takes the answer to the last question. One that comes twice counts once.
func (x *peer) take(answer []byte, arrived int64) {
	after := readRaw()
	x.mu.Lock()
	defer x.mu.Unlock()
	of, there, err := clocksync.Take(answer, x.number, x.left, arrived)
	if err != nil || x.left == 0 {
		return
	}
	x.left = 0
	raw, known := of.ByRaw(x.before, there, after)
	if known {
		of = raw
	}
	if x.told.Raw != known {
		x.told.Raw, x.told.All = known, nil
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
		return &wire.Answer{At: x.conn.LocalAddr().String()}
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
