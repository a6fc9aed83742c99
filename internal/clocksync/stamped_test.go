package clocksync

import (
	"bytes"
	"net"
	"net/netip"
	"slices"
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

func dialling(t *testing.T, address string, key Key, clocks Clocks) *Stamped {
	t.Helper()
	s, err := Dial(address, key, clocks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
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
	f := stampFrame{answer: true, kernel: true, place: 0x01020304, number: 5, about: 6, t2: -2, t3: 1 << 40, left: 7, clock: 8}
	f.put(&b, &key)
	want := "!sc9\x04\x03\x02\x01\x05\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x01\x00\x00" +
		"\x07\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"
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
