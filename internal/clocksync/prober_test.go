package clocksync

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// Over an unbuffered pipe and on a virtual clock, the estimate recovers the offset and
// drift of the other clock.
func TestProbeOverAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		base := time.Now()
		now := func() int64 { return int64(time.Since(base)) }
		other := func() int64 { return 1e12 + now() + now()/20_000 } // 50 ppm
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- Respond(ctx, there, other) }()
		e, err := NewEstimator(Config{Keep: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		asking, stop := context.WithTimeout(ctx, 30*time.Second)
		defer stop()
		if err := NewProber(here, now).Run(asking, 100*time.Millisecond, func(x Exchange) { n++; e.Add(x) }); err != nil {
			t.Error(err)
		}
		x, ok := e.At(15e9)
		if off := x.Offset - 1e12 - 15e9/20_000; n < 290 || !ok || abs(off) > x.Bound || x.Bound > 100 {
			t.Errorf("%d exchanges: %+v, off by %d", n, x, off)
		}
		if d := x.Drift - 50e-6; d > x.DriftBound || -d > x.DriftBound || x.DriftBound > 1e-6 {
			t.Errorf("drift %g ± %g", x.Drift, x.DriftBound)
		}
		cancel()
		if err := <-served; err != nil {
			t.Errorf("the responder ended with %v", err)
		}
	})
}

// An answer that comes after its question was given up is not taken for that of
// the next.
func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		base := time.Now()
		now := func() int64 { return int64(time.Since(base)) }
		go func() {
			defer there.Close()
			var first, second [frameSize]byte
			readFull(there, first[:])
			var out [frameSize]byte
			answer(&out, first[:], now(), now)
			// Half of an answer in time, and the rest after the question was given up.
			there.Write(out[:10])
			time.Sleep(2 * time.Second)
			readFull(there, second[:])
			there.Write(out[10:])
			answer(&out, second[:], now(), now)
			there.Write(out[:])
		}()
		p := NewProber(here, now)
		if x, err := p.Probe(time.Second); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%+v, %v", x, err)
		}
		x, err := p.Probe(5 * time.Second)
		if err != nil || x.T1 < 1e9 || x.T2 < 2e9 {
			t.Errorf("%+v, %v", x, err)
		}
		if x, err := p.Probe(time.Second); err == nil {
			t.Errorf("an answer from nobody: %+v", x)
		}
	})
}

func readFull(c net.Conn, b []byte) {
	for n := 0; n < len(b); {
		m, err := c.Read(b[n:])
		if n += m; err != nil {
			return
		}
	}
}

func TestProberOnAStreamOfSomethingElse(t *testing.T) {
	here, there := net.Pipe()
	go func() {
		readFull(there, make([]byte, frameSize))
		there.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"))
	}()
	if _, err := NewProber(here, func() int64 { return 1 }).Probe(10 * time.Second); !errors.Is(err, errFrame) {
		t.Errorf("%v", err)
	}
	here.Close()
	here, there = net.Pipe()
	go here.Write([]byte("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"))
	if err := Respond(t.Context(), there, func() int64 { return 1 }); !errors.Is(err, errFrame) {
		t.Errorf("%v", err)
	}
	here.Close()
}

// The frame's layout must not change: other versions use it.
func TestFrameIsFrozen(t *testing.T) {
	var b [frameSize]byte
	frame{answer: true, number: 0x01020304, t1: 5, t2: -2, t3: 1 << 40}.put(&b)
	want := []byte("!Qc9\x04\x03\x02\x01\x05\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x01\x00\x00")
	if !bytes.Equal(b[:], want) {
		t.Errorf("%q", b)
	}
}

func FuzzFrame(f *testing.F) {
	var b [frameSize]byte
	frame{number: 1, t1: 2}.put(&b)
	f.Add(bytes.Clone(b[:]))
	frame{answer: true, number: 1, t1: 2, t2: 3, t3: 4}.put(&b)
	f.Add(bytes.Clone(b[:]))
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := parseFrame(text)
		if err != nil {
			return
		}
		var b [frameSize]byte
		if x.put(&b); !bytes.Equal(b[:], text) {
			t.Errorf("%q is written %q", text, b)
		}
	})
}
