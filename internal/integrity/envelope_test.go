package integrity

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestEnvelopeRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		size := EnvelopeSize + rng.IntN(100)
		p := make([]byte, size)
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
		in := Envelope{Run: rng.Uint32(), Stream: rng.Uint32() & 0xffffff, Kind: Kind(rng.IntN(8)),
			Own: uint8(rng.IntN(8)), Intended: rng.Int64() - rng.Int64(), Sequence: rng.Uint64() & maxSequence,
			Lag: rng.Int64N(maxLag + 1)}
		in.Put(p, BodySum(p))
		var out Envelope
		if c := out.Get(p, true); c != Good || out != in {
			t.Fatalf("Get = %v, %+v; put %+v", c, out, in)
		}
		// One flipped bit anywhere is found.
		i := rng.IntN(size * 8)
		p[i/8] ^= 1 << (i % 8)
		if c := out.Get(p, true); c != Damaged {
			t.Fatalf("bit %d flipped: Get = %v", i, c)
		}
	}
}

func TestEnvelopeSaturates(t *testing.T) {
	p := make([]byte, EnvelopeSize)
	for lag, want := range map[int64]int64{-1: 0, 0: 0, maxLag: maxLag, maxLag + 1: maxLag} {
		e := Envelope{Lag: lag}
		e.Put(p, 0)
		if c := e.Get(p, true); c != Good || e.Lag != want {
			t.Errorf("lag %d reads as %d (%v), want %d", lag, e.Lag, c, want)
		}
	}
}

func TestEnvelopeLayout(t *testing.T) {
	p := make([]byte, EnvelopeSize)
	e := Envelope{Run: 0x04030201, Stream: 0x070605, Kind: Reply, Own: 5, Intended: 0x0f0e0d0c0b0a0908,
		Sequence: 0x151413121110, Lag: 0x1b1a19181716}
	e.Put(p, 0)
	want := []byte{1, 2, 3, 4, 5, 6, 7, 1 | 2<<2 | 5<<5, 8, 9, 10, 11, 12, 13, 14, 15,
		0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b}
	if !bytes.Equal(p[:28], want) {
		t.Fatalf("layout changed:\n got %x\nwant %x", p[:28], want)
	}
}

func TestEnvelopeShort(t *testing.T) {
	var e Envelope
	for n := range EnvelopeSize {
		if c := e.Get(make([]byte, n), true); c != Short {
			t.Fatalf("%d bytes: %v", n, c)
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte{}, true)
	f.Add(make([]byte, 40), false)
	f.Fuzz(func(t *testing.T, p []byte, verify bool) {
		var e Envelope
		if e.Get(p, verify) != Good || len(p) < EnvelopeSize {
			return
		}
		q := bytes.Clone(p)
		e.Put(q, BodySum(q))
		if verify && !bytes.Equal(p, q) {
			t.Fatalf("a good envelope does not encode to itself: %x, %x", p, q)
		}
	})
}

func BenchmarkPut(b *testing.B) {
	p := make([]byte, 256)
	sum := BodySum(p)
	e := Envelope{Run: 1, Stream: 2}
	b.ReportAllocs()
	for b.Loop() {
		e.Sequence++
		e.Put(p, sum)
	}
}

func BenchmarkGet(b *testing.B) {
	p := make([]byte, 256)
	(&Envelope{}).Put(p, BodySum(p))
	var e Envelope
	b.ReportAllocs()
	for b.Loop() {
		if e.Get(p, true) != Good {
			b.Fatal("damaged")
		}
	}
}
