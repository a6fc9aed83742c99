package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// pair returns a connection of ours and its other end.
func pair(tb testing.TB) (*Conn, net.Conn) {
	tb.Helper()
	return pairOf(tb, NewDialer(true))
}

// pairOf is pair with a connection of the dialer's.
func pairOf(tb testing.TB, d *Dialer) (*Conn, net.Conn) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	type accepted struct {
		net.Conn
		error
	}
	other := make(chan accepted, 1)
	go func() {
		c, err := l.Accept()
		other <- accepted{c, err}
	}()
	c, err := d.Dial(tb.Context(), "tcp", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	o := <-other
	if o.error != nil {
		tb.Fatal(o.error)
	}
	tb.Cleanup(func() { c.Close(); o.Close() })
	return c.(*Conn), o.Conn
}

type seen struct {
	writes, reads atomic.Int64
	begun, waited atomic.Int64
}

func (s *seen) Writing()                { s.writes.Add(1) }
func (s *seen) Reading()                { s.begun.Add(1) }
func (s *seen) HasRead(_, waited int64) { s.reads.Add(1); s.waited.Store(waited) }

// Written bytes arrive complete and in order, whether or not the socket takes them at
// once.
func TestWriteWaitsForAFullSocket(t *testing.T) {
	c, other := pair(t)
	const pieces, size = 4096, 8 << 10 // far more than socket buffers hold
	go func() {
		p := make([]byte, size)
		for i := range pieces {
			for k := range p {
				p[k] = byte(i)
			}
			if n, err := c.Write(p); n != size || err != nil {
				t.Errorf("%d, %v", n, err)
				break
			}
		}
		c.Close()
	}()
	p := make([]byte, size)
	for i := range pieces {
		if _, err := io.ReadFull(other, p); err != nil || p[0] != byte(i) || p[size-1] != byte(i) {
			t.Fatalf("piece %d: %v %v", i, p[0], err)
		}
	}
	if _, err := other.Read(p); err != io.EOF {
		t.Error(err)
	}
}

func TestCorkedWritesAreOne(t *testing.T) {
	c, other := pair(t)
	var s seen
	c.Observe(&s)
	if !c.Cork() {
		t.Fatal("somebody else is writing")
	}
	c.out.limit = time.AfterFunc(time.Hour, c.expire) // this test has no hurry
	for i := range 100 {
		if n, err := c.Write([]byte{byte(i)}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		c.out.limit.Stop()
	}
	if n := s.writes.Load(); n != 0 || c.Writes() != 100 {
		t.Errorf("%d writes before the end, of %d", n, c.Writes())
	}
	if err := c.Uncork(); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 200)
	if n, err := io.ReadFull(other, p[:100]); n != 100 || err != nil || p[99] != 99 {
		t.Errorf("%d, %v", n, err)
	}
	if n := s.writes.Load(); n != 1 {
		t.Errorf("%d writes", n)
	}
	if _, err := c.Write([]byte("x")); err != nil || s.writes.Load() != 2 {
		t.Errorf("after it %v, %d writes", err, s.writes.Load())
	}
}

// The buffer of a sender that does not uncork is written after corkLimit.
func TestCorkExpires(t *testing.T) {
	c, other := pair(t)
	if !c.Cork() {
		t.Fatal("somebody else is writing")
	}
	if _, err := c.Write([]byte("held")); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 4)
	if _, err := io.ReadFull(other, p); err != nil || string(p) != "held" {
		t.Errorf("%q, %v", p, err)
	}
}

// A full buffer is written by itself, and a large write keeps its order.
func TestCorkHoldsSoMuch(t *testing.T) {
	c, other := pair(t)
	if !c.Cork() {
		t.Fatal("somebody else is writing")
	}
	go func() {
		for i := range 3 {
			_, _ = c.Write(bytes.Repeat([]byte{byte(i)}, corkSize/2+1))
		}
		_, _ = c.Write(bytes.Repeat([]byte{9}, 2*corkSize))
		_ = c.Uncork()
		c.Close()
	}()
	all, err := io.ReadAll(other)
	if err != nil || len(all) != 3*(corkSize/2+1)+2*corkSize || all[0] != 0 || all[len(all)-1] != 9 || !bytes.Equal(all, sorted(all)) {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}

func sorted(b []byte) []byte {
	out := bytes.Clone(b)
	for i := 1; i < len(out); i++ {
		if out[i] < out[i-1] {
			return nil
		}
	}
	return out
}

// An error of a buffered write is returned by the next write.
func TestErrorOfWhatWasHeldBack(t *testing.T) {
	c, other := pair(t)
	if err := other.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	other.Close() // resets
	for deadline := time.Now().Add(10 * time.Second); ; {
		if !c.Cork() {
			t.Fatal("somebody else is writing")
		}
		if _, err := c.Write([]byte("x")); err != nil {
			return // an Uncork before has failed
		}
		if c.Uncork() != nil {
			if _, err := c.Write([]byte("x")); err == nil {
				t.Error("the write after it succeeds")
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no error")
		}
	}
}

// Errors are those of package net.
func TestErrors(t *testing.T) {
	c, _ := pair(t)
	if err := c.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := c.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
	_ = c.SetReadDeadline(time.Time{})
	go c.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// HasRead reports about how long the data stayed unread.
func TestReadTellsHowLongBytesLay(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no receive time stamps here")
	}
	c, other := pair(t)
	if !c.Stamped() {
		t.Fatal("the kernel gives no receive time stamps")
	}
	var s seen
	c.Observe(&s)
	read := func(pause time.Duration) int64 {
		from := time.Now()
		if _, err := other.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause)
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if w := s.waited.Load(); w > int64(time.Since(from)) {
			t.Errorf("%d ns is more than since the write", w)
		}
		return s.waited.Load()
	}
	for deadline := time.Now().Add(10 * time.Second); read(0) < 0; {
		if time.Now().After(deadline) {
			t.Fatal("no read is known")
		}
	}
	for range 3 {
		if w := read(50 * time.Millisecond); w < int64(45*time.Millisecond) {
			t.Errorf("what lay for 50 ms lay for %v", time.Duration(w))
		}
	}
	if begun, read := s.begun.Load(), s.reads.Load(); begun != read {
		t.Errorf("%d reads returned data, and %d had begun", read, begun)
	}
}

func TestReadAndWriteDoNotAllocate(t *testing.T) {
	for _, size := range []int{64, 3*directMost + 1} {
		c, other := pair(t)
		var s seen
		c.Observe(&s)
		go func() { // what is written comes back
			q := make([]byte, size)
			for {
				if _, err := io.ReadFull(other, q); err != nil {
					return
				}
				if _, err := other.Write(q); err != nil {
					return
				}
			}
		}()
		p := make([]byte, size)
		if n := testing.AllocsPerRun(200, func() {
			_, _ = c.Write(p)
			_, _ = io.ReadFull(c, p)
		}); n != 0 {
			t.Errorf("%v allocations for %d bytes", n, size)
		}
	}
}

// BenchmarkWrite is one small write, as package net does it and as Conn does.
func BenchmarkWrite(b *testing.B) {
	for _, direct := range []bool{false, true} {
		name := "runtime"
		if direct {
			name = "direct"
		}
		b.Run(name, func(b *testing.B) {
			c, other := pairOf(b, NewDialer(direct))
			go func() { _, _ = io.Copy(io.Discard, other) }()
			p := make([]byte, 256)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
