package clocksync

import (
	"bytes"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"sixnines/internal/clock"
)

// responding starts a responder on loopback.
func responding(t *testing.T, clocks Clocks, keys ...Key) string {
	t.Helper()
	if !stampsExist {
		t.Skip("kernels' stamps are read on Linux")
	}
	r, err := Listen(netip.MustParseAddrPort("127.0.0.1:0"), clocks, keys...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r.Address().String()
}

func dialling(t *testing.T, address string, key Key, clocks Clocks) *Socket {
	t.Helper()
	s, err := Dial(address, key, clocks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

const answersWithin = 10 * time.Second

// ahead are the clocks of a machine whose monotonic and raw clocks are ahead of this one's.
func ahead(by int64) Clocks {
	return Clocks{Now: func() int64 { return clock.Now() + by }, Raw: clock.RawAhead, Name: uint64(by),
		Wall: func() (int64, int64) { a, w := clock.WallAhead(); return a - by, w }}
}

// Both ends read one clock, or clocks that are apart by a known time: that is within every interval, and the kernels' stamps make
// intervals shorter than those that the processes read.
func TestKernelStampsProveMore(t *testing.T) {
	key := NewKey("secret")
	const by = 1_000_000_000_000_000
	address := responding(t, ahead(by), NewKey("another"), key)
	unstamped := OwnClocks(0)
	unstamped.Wall = func() (int64, int64) { return 0, 1 } // no stamp can be true
	var medians []int64
	for _, clocks := range []Clocks{OwnClocks(0), unstamped} {
		s := dialling(t, address, key, clocks)
		var delays []int64
		kernel, most := 0, 200
		// A kernel begins to stamp what comes a little after it was asked to.
		for end := time.Now().Add(answersWithin); len(delays) < most; {
			x, err := s.Sight(answersWithin)
			if err != nil {
				t.Fatal(err)
			}
			if low, high := x.T3-x.T4, x.T2-x.T1; low > by || high < by || x.Clock != by || !x.Here.Known() {
				t.Errorf("the offset is between %d and %d: %+v", low-by, high-by, x)
			}
			if x.Kernel {
				kernel++
			} else if len(medians) == 0 && time.Now().Before(end) {
				continue
			}
			delays = append(delays, x.Delay())
		}
		if want := most * (1 - len(medians)); kernel != want {
			t.Errorf("%d of %d by the kernels; want %d", kernel, most, want)
		}
		slices.Sort(delays)
		medians = append(medians, delays[len(delays)/2])
	}
	t.Logf("half of the median delay: %d ns, and without the stamps of this side %d ns", medians[0]/2, medians[1]/2)
	if medians[0] >= medians[1] {
		t.Errorf("by the kernels %d ns, by the processes %d ns", medians[0], medians[1])
	}
}

// The wall clock of a machine is set while its kernel stamps frames by it: such stamps are not used, and the process's instants are.
func TestStampsWhileTheWallClockIsSet(t *testing.T) {
	for _, side := range []string{"asks", "answers"} {
		for _, step := range []int64{time.Hour.Nanoseconds(), -time.Hour.Nanoseconds(), 5_000_000} {
			key, n := NewKey("secret"), int64(0)
			set := OwnClocks(0)
			set.Wall = func() (int64, int64) { // each reading finds it set once more
				n++
				a, w := clock.WallAhead()
				return a + n*step, w
			}
			here, there := OwnClocks(0), set
			if side == "asks" {
				here, there = there, here
			}
			s := dialling(t, responding(t, there, key), key, here)
			for range 5 {
				x, err := s.Sight(answersWithin)
				if err != nil {
					t.Fatal(err)
				}
				if x.Kernel || x.T3 > x.T4 || x.T1 > x.T2 {
					t.Errorf("%s, set by %d: %+v", side, step, x)
				}
			}
		}
	}
}

// Nobody without the key is answered, and nothing of his is taken for an answer; what is no question neither.
func TestStrangersAreNotAnswered(t *testing.T) {
	key := NewKey("secret")
	address := responding(t, OwnClocks(0), key)
	conn, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var question, forged, answer [stampSize]byte
	(&stampFrame{number: 7}).put(&question, &key)
	wrong := NewKey("wrong")
	(&stampFrame{number: 7}).put(&forged, &wrong)
	(&stampFrame{answer: true, number: 7}).put(&answer, &key)
	changed := question
	changed[9] ^= 1
	for _, frame := range [][]byte{{}, []byte("hello"), forged[:], answer[:], changed[:], append(bytes.Clone(question[:]), 0), question[:stampSize-1]} {
		if _, err := conn.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Write(question[:]); err != nil {
		t.Fatal(err)
	}
	// The last one is answered: none of those before was, since they came in this order.
	buf := make([]byte, 1000)
	_ = conn.SetReadDeadline(time.Now().Add(answersWithin))
	n, err := conn.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseStampFrame(buf[:n], &key)
	if err != nil || !f.answer || f.number != 7 || f.place != 0 || n != len(question) {
		t.Errorf("%+v, %d bytes, %v", f, n, err)
	}
}

// A prober waits no longer than it is told to for one who does not answer, or who has another key.
func TestStampsOfNobody(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, address := range map[string]string{"silent": silent.LocalAddr().String(), "another key": responding(t, OwnClocks(0), NewKey("other"))} {
		s := dialling(t, address, NewKey("secret"), OwnClocks(0))
		if x, err := s.Sight(20 * time.Millisecond); err == nil {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// meeting are two sockets that ask each other, of machines with these clocks.
func meeting(t *testing.T, clocks ...Clocks) (both [2]*Socket) {
	t.Helper()
	for i := range both {
		s, err := Open(netip.MustParseAddrPort("127.0.0.1:0"), clocks[i])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		both[i] = s
	}
	keys := [2]Key{NewKey("the first asks"), NewKey("the second asks")}
	for i, s := range both {
		s.Meet(both[1-i].Address(), keys[i], keys[1-i])
	}
	return both
}

// Two sockets ask each other at the same time, each over the port at which it answers, and both are right by the kernels' stamps.
func TestBothAsk(t *testing.T) {
	const by, most = 1_000_000_000_000_000, 200
	both := meeting(t, OwnClocks(0), ahead(by))
	var all sync.WaitGroup
	for i, s := range both {
		of := int64(by) * int64(1-2*i) // the other clock is ahead by
		all.Go(func() {
			kernel := 0
			// A kernel begins to stamp what comes a little after it was asked to.
			for n, end := 0, time.Now().Add(answersWithin); n < most; {
				x, err := s.Sight(answersWithin)
				if err != nil {
					t.Error(err)
					return
				}
				if n > 0 || x.Kernel || !stampsExist || time.Now().After(end) {
					n++
				}
				if low, high := x.T3-x.T4, x.T2-x.T1; low > of || high < of || x.Clock != uint64(by*(1-i)) || x.Raw != x.Here.Known() {
					t.Errorf("the offset is between %d and %d: %+v", low-of, high-of, x)
				}
				if x.Kernel {
					kernel++
				}
			}
			t.Logf("%d of %d by the kernels", kernel, most)
			if stampsExist && kernel < most/2 {
				t.Errorf("%d of %d by the kernels", kernel, most)
			}
		})
	}
	all.Wait()
}

// A socket that has met another one hears nobody else, who may have its keys, and takes nothing that it sent itself for an answer.
func TestOnlyWhoIsMetIsHeard(t *testing.T) {
	s := meeting(t, OwnClocks(0), OwnClocks(0))[0]
	other, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ask := func(key string, answered bool) {
		t.Helper()
		var question [stampSize]byte
		of := NewKey(key)
		(&stampFrame{number: 7}).put(&question, &of)
		buf := make([]byte, 1000)
		// A datagram of one socket to another of this machine is there when it was sent; an answer takes longer.
		wait := 50 * time.Millisecond
		if answered {
			wait = answersWithin
		}
		if _, err := other.WriteTo(question[:], net.UDPAddrFromAddrPort(s.Address())); err != nil {
			t.Fatal(err)
		}
		_ = other.SetReadDeadline(time.Now().Add(wait))
		if n, _, err := other.ReadFrom(buf); (err == nil) != answered {
			t.Errorf("a question with %q is answered by %d bytes, %v", key, n, err)
		}
	}
	ask("the second asks", false)
	s.Meet(netip.MustParseAddrPort(other.LocalAddr().String()), NewKey("the first asks"), NewKey("the second asks"))
	ask("the second asks", true)
	ask("the first asks", false)
	var back sync.WaitGroup
	back.Go(func() {
		buf := make([]byte, 1000)
		_ = other.SetReadDeadline(time.Now().Add(answersWithin))
		if n, from, err := other.ReadFrom(buf); err == nil {
			_, _ = other.WriteTo(buf[:n], from)
		}
	})
	if x, err := s.Sight(50 * time.Millisecond); err == nil {
		t.Errorf("its own question is an answer: %+v", x)
	}
	back.Wait()
}

// Machines without a raw clock compare their monotonic ones. One with it and one without do not compare two different kinds.
func TestSightsWithoutARawClock(t *testing.T) {
	without := OwnClocks(0)
	without.Raw = func() (int64, int64) { return 0, 0 }
	for name, c := range map[string]struct {
		clocks [2]Clocks
		ok     bool
	}{"none has it": {[2]Clocks{without, without}, true}, "one has it": {[2]Clocks{OwnClocks(0), without}, !stampsExist}} {
		for _, s := range meeting(t, c.clocks[0], c.clocks[1]) {
			x, err := s.Sight(answersWithin)
			if (err == nil) != c.ok || x.Raw {
				t.Errorf("%s: %+v, %v", name, x, err)
			}
			if low, high := x.T3-x.T4, x.T2-x.T1; low > 0 || high < 0 {
				t.Errorf("%s: between %d and %d", name, low, high)
			}
		}
	}
}

// Two machines compare their clocks with a third one: what is joined contains their offset, and is as wide as both exchanges and what
// clocks may drift meanwhile.
func TestJoined(t *testing.T) {
	const mineAhead, theirsAhead, drift = -5_000_000, 7_000_000_000, 1e-4
	mine := Exchange{T1: 1000 + mineAhead, T2: 1100, T3: 1150, T4: 1400 + mineAhead}
	theirs := Exchange{T1: 901_000 + theirsAhead, T2: 901_600, T3: 901_650, T4: 901_700 + theirsAhead}
	x := Joined(mine, theirs, drift)
	const offset = theirsAhead - mineAhead
	if low, high := x.T3-x.T4, x.T2-x.T1; low > offset || high < offset || high-low != mine.Delay()+theirs.Delay()+2*91 { // 900.55 µs apart
		t.Errorf("%+v: between %d and %d", x, low-offset, high-offset)
	}
	if at := x.middle(); at < mine.T1 || at > mine.T4 {
		t.Errorf("%+v is at %d", x, at)
	}
	// One that has the third clock.
	x = Joined(theirs.There(), theirs, drift)
	if low, high := x.T3-x.T4, x.T2-x.T1; low != theirs.T1-theirs.T2-1 || high != theirs.T4-theirs.T3+1 {
		t.Errorf("%+v", x)
	}
}

// The frame's layout must not change without its mark: other versions use it.
func TestStampFrameIsFrozen(t *testing.T) {
	var b [stampSize]byte
	key := NewKey("secret")
	f := stampFrame{answer: true, kernel: true, raw: true, place: 0x01020304, number: 5, about: 6, t2: -2, t3: 1 << 40, left: 7, clock: 8}
	f.put(&b, &key)
	want := "!tc9\x04\x03\x02\x01\x05\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x01\x00\x00" +
		"\x07\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"
	if got := string(b[:stampSize-macSize]); got != want {
		t.Errorf("%q", got)
	}
	if again, err := parseStampFrame(b[:], &key); err != nil || again != f {
		t.Errorf("%+v, %v", again, err)
	}
}

func FuzzStampFrame(f *testing.F) {
	key, stranger := NewKey("secret"), NewKey("wrong")
	var b [stampSize]byte
	(&stampFrame{number: 1}).put(&b, &key)
	f.Add(bytes.Clone(b[:]))
	(&stampFrame{answer: true, kernel: true, place: 3, number: 1, t2: 2, t3: 3, left: 4, clock: 5}).put(&b, &key)
	f.Add(bytes.Clone(b[:]))
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := parseStampFrame(text, &key)
		if err != nil {
			return
		}
		var b [stampSize]byte
		if x.put(&b, &key); !bytes.Equal(b[:], text) {
			t.Errorf("%q is written %q", text, b)
		}
		if _, err := parseStampFrame(text, &stranger); err == nil {
			t.Errorf("%q is taken without its key", text)
		}
	})
}
