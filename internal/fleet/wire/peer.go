package wire

import (
	"errors"
	"fmt"
	"net/netip"
)

// The bounds of what agents ask each other.
const (
	PeerKey   = 32 // bytes of Peer.Key
	MostPeers = 2  // that an agent asks in one run
	MostTold  = 32 // exchanges with one of them in a [Status]
)

// Peer has two agents ask each other's clock directly, by datagrams, while a run lasts. Each is asked twice: to open a socket, and
// then to take datagrams of the other's address alone.
type Peer struct {
	Run    string `json:"run"`
	Pair   int    `json:"pair"`             // of the run's
	Second bool   `json:"second,omitempty"` // of the two
	// Of is the other agent's address, IP:PORT. Empty: this agent is to open its own, which is then in its answer.
	Of string `json:"of,omitempty"`
	// Key is what both sign datagrams with, with Of.
	Key []byte `json:"key,omitempty"`
}

// Kind implements [Message].
func (*Peer) Kind() Kind { return KindPeer }
func (*Peer) most() int  { return 4 << 10 }

// Check implements [Message].
func (p *Peer) Check() error {
	switch {
	case p.Pair < 0 || p.Pair >= MaxAgents:
		return fmt.Errorf("pair %d; they are numbered from 0, below %d", p.Pair, MaxAgents)
	case p.Of == "" && len(p.Key) > 0 || p.Of != "" && len(p.Key) != PeerKey:
		return fmt.Errorf("a key of %d bytes; %d with an address, and none without", len(p.Key), PeerKey)
	case p.Of != "":
		if err := checkPeerAddress(p.Of); err != nil {
			return err
		}
	}
	return CheckRun(p.Run)
}

// checkPeerAddress returns what is wrong with the address of one agent's socket.
func checkPeerAddress(text string) error {
	a, err := netip.ParseAddrPort(text)
	if err != nil || a.Port() == 0 || a.String() != text {
		return fmt.Errorf("%.80q is not IP:PORT", text)
	}
	if ip := a.Addr().Unmap(); ip.IsUnspecified() || ip.IsMulticast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return fmt.Errorf("%.80q is not the address of one agent", text)
	}
	return nil
}

// Told are the newest exchanges of an agent with another one's clock.
type Told struct {
	Pair int `json:"pair"`
	// Raw says that instants are of the raw clocks of both machines; else they are of the monotonic ones.
	Raw bool `json:"raw,omitempty"`
	// All are t1 to t4 of package clocksync, ns.
	All [][4]int64 `json:"all"`
}

func checkTold(all []Told) error {
	if len(all) > MostPeers {
		return fmt.Errorf("exchanges with %d agents; at most %d", len(all), MostPeers)
	}
	for _, t := range all {
		if t.Pair < 0 || t.Pair >= MaxAgents || len(t.All) > MostTold {
			return fmt.Errorf("%d exchanges of pair %d; at most %d", len(t.All), t.Pair, MostTold)
		}
		if len(t.All) == 0 {
			return errors.New("no exchanges of a pair")
		}
	}
	return nil
}
