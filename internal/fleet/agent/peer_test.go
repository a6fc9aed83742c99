package agent

import (
	"bytes"
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"sixnines/internal/clock"
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
		p := &wire.Peer{Run: "r", Pair: 3, Second: i == 1, Of: both[1-i].conn.LocalAddr().String(), Key: key}
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

// Two agents find how their clocks differ: they are one here, so each exchange proves an interval that has 0. Nobody else gets an answer,
// also not with the right key.
func TestAgentsAskEachOther(t *testing.T) {
	first, second := pair(t)
	stranger, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	signed := make([]byte, peerText)
	copy(signed, clocksync.Ask(1, clock.Now()))
	signed = append(signed, second.sign(signed, true)...)
	if _, err := stranger.WriteTo(signed, first.conn.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*peer{first, second} {
		for _, e := range asks(t, x, 5) {
			if e[0] <= 0 || e[1]-e[0] < 0 || e[2]-e[3] > 0 || e[3] < e[0] || e[2] < e[1] {
				t.Errorf("an exchange of one clock: %v", e)
			}
		}
	}
	if err := stranger.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, _, err := stranger.ReadFrom(make([]byte, 100)); !os.IsTimeout(err) {
		t.Errorf("a stranger got %d bytes, %v", n, err)
	}
}

// Of exchanges that are not told for a time the newest are kept, and one answer counts once.
func TestExchangesAreBounded(t *testing.T) {
	x := &peer{asked: &wire.Peer{}}
	for n := range uint32(2 * wire.MostTold) {
		at := clock.Now()
		x.number, x.left, x.before = n, at, readRaw()
		answer, err := clocksync.Answer(clocksync.Ask(n, at), at, readRaw(), clock.Now)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			x.take(answer, clock.Now())
		}
	}
	if told, ok := x.news(); !ok || len(told.All) != wire.MostTold || !slices.IsSortedFunc(told.All, func(a, b [4]int64) int { return int(a[0] - b[0]) }) {
		t.Errorf("%d exchanges", len(told.All))
	}
	if _, ok := x.news(); ok {
		t.Error("they are told twice")
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
		if got := j.peer(&wire.Peer{Run: "r", Pair: n}); got.At != x.conn.LocalAddr().String() {
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
	if _, err := j.peers[0].conn.WriteTo([]byte{1}, j.peers[1].conn.LocalAddr()); err == nil {
		t.Error("the socket is open")
	}
}

// Whatever comes as a datagram, of anybody or of the other agent, is refused or answered by as many bytes.
func FuzzDatagrams(f *testing.F) {
	f.Add(clocksync.Ask(7, 8), true)
	answer, err := clocksync.Answer(clocksync.Ask(7, 8), 9, clocksync.Reading{Width: 1}, func() int64 { return 10 })
	if err != nil {
		f.Fatal(err)
	}
	f.Add(answer, true)
	f.Add([]byte{}, false)
	to, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	x, err := openPeer(netip.MustParseAddr("127.0.0.1"))
	if err != nil {
		f.Fatal(err)
	}
	x.of = netip.MustParseAddrPort(to.LocalAddr().String())
	x.asked, x.number, x.left, x.before = &wire.Peer{Key: make([]byte, wire.PeerKey)}, 7, 8, readRaw()
	f.Cleanup(func() {
		x.close()
		to.Close()
	})
	buf := make([]byte, 2*peerFrame)
	f.Fuzz(func(t *testing.T, text []byte, signed bool) {
		frame := text
		if signed {
			frame = make([]byte, peerText)
			copy(frame, text)
			frame = append(frame, x.sign(frame, true)...)
		}
		x.handle(frame, x.of, clock.Now())
		if err := to.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, _, err := to.ReadFrom(buf); err == nil && (n != len(frame) || !signed) {
			t.Errorf("%d bytes are answered by %d, signed %v", len(frame), n, signed)
		}
		if told, ok := x.news(); ok && !signed {
			t.Errorf("%v is taken of anybody", told)
		}
	})
}
