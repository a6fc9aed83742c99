package agent

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/wire"
)

// pair returns two agents' ends of a pair, which ask each other.
func pair(t *testing.T) (first, second *peer) {
	t.Helper()
	both := make([]*peer, 2)
	for i := range both {
		x, err := openPeer(netip.MustParseAddr("127.0.0.1"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(x.close)
		both[i] = x
	}
	key := bytes.Repeat([]byte{7}, wire.PeerKey)
	for i, x := range both {
		p := &wire.Peer{Run: "r", Pair: 3, Second: i == 1, Of: both[1-i].socket.Address().String(), Key: key}
		for range 2 { // the coordinator may have missed the first answer
			if err := x.begin(p); err != nil {
				t.Fatal(err)
			}
		}
		other := *p
		other.Key = bytes.Repeat([]byte{8}, wire.PeerKey)
		if x.begin(&other) == nil {
			t.Error("a pair has another key")
		}
	}
	return both[0], both[1]
}

// asks waits for so many exchanges.
func asks(t *testing.T, x *peer, n int) (all [][4]int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); len(all) < n; time.Sleep(10 * time.Millisecond) { // between looks
		if time.Now().After(end) {
			t.Fatalf("%d exchanges in a minute", len(all))
		}
		if told, ok := x.news(); ok {
			if told.Pair != 3 || len(told.All) > wire.MostTold {
				t.Errorf("%+v", told)
			}
			all = append(all, told.All...)
		}
	}
	return all
}

// Two agents find how their clocks differ: they are one here, so each exchange proves an interval that has 0.
func TestAgentsAskEachOther(t *testing.T) {
	first, second := pair(t)
	for _, x := range []*peer{first, second} {
		for _, e := range asks(t, x, 5) {
			if e[0] <= 0 || e[1]-e[0] < 0 || e[2]-e[3] > 0 || e[3] < e[0] || e[2] < e[1] {
				t.Errorf("an exchange of one clock: %v", e)
			}
		}
	}
}

// Of exchanges that are not told for a time the newest are kept, of one kind of clock.
func TestExchangesAreBounded(t *testing.T) {
	x := &peer{}
	for n := range int64(2 * wire.MostTold) {
		x.take(&clocksync.Sight{Exchange: clocksync.Exchange{T1: n, T2: n, T3: n, T4: n}, Raw: true})
	}
	if told, ok := x.news(); !ok || len(told.All) != wire.MostTold || told.All[0][0] != wire.MostTold || told.All[wire.MostTold-1][0] != 2*wire.MostTold-1 || !told.Raw {
		t.Errorf("%+v", told)
	}
	if _, ok := x.news(); ok {
		t.Error("they are told twice")
	}
	x.take(&clocksync.Sight{Raw: true})
	x.take(&clocksync.Sight{})
	if told, ok := x.news(); !ok || len(told.All) != 1 || told.Raw {
		t.Errorf("of two kinds: %+v", told)
	}
}

// An agent asks nobody whom its user does not allow, has as many sockets as there are pairs, and none when the run is over.
func TestPeersAreRefused(t *testing.T) {
	key := make([]byte, wire.PeerKey)
	a := newAgent(t, Allow{Targets: []string{"h1:1", "10.0.0.7:*"}})
	a.Version = "1.2.3"
	for of, want := range map[string]wire.Refusal{"10.0.0.8:4000": wire.RefusedForbidden, "10.0.0.7:4000": wire.RefusedUnknown} {
		if got, ok := a.takePeer(encoded(t, &wire.Peer{Run: "r", Of: of, Key: key})).(*wire.Answer); !ok || got.Refused != want {
			t.Errorf("%s: %+v, want %s", of, got, want)
		}
	}
	j := &job{agent: a, peers: map[int]*peer{}}
	if got := j.peer(&wire.Peer{Run: "r", Pair: 1, Of: "10.0.0.7:4000", Key: key}); got.Refused != wire.RefusedInvalid {
		t.Errorf("without a socket: %+v", got)
	}
	for n := range wire.MostPeers {
		x, err := openPeer(netip.MustParseAddr("127.0.0.1"))
		if err != nil {
			t.Fatal(err)
		}
		j.peers[n] = x
		if got := j.peer(&wire.Peer{Run: "r", Pair: n}); got.At != x.socket.Address().String() {
			t.Errorf("the socket of pair %d is said to be at %+v", n, got)
		}
	}
	if got := j.peer(&wire.Peer{Run: "r", Pair: 9}); got.Refused != wire.RefusedInvalid {
		t.Errorf("one pair more: %+v", got)
	}
	j.part()
	if got := j.peer(&wire.Peer{Run: "r", Pair: 0}); got.Refused != wire.RefusedInvalid {
		t.Errorf("the run is over: %+v", got)
	}
	if _, err := j.peers[0].socket.Sight(time.Minute); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the socket is open: %v", err)
	}
}
