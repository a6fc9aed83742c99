package transport

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// reading starts a read and returns once it waits in the kernel.
func reading(t *testing.T, c *Conn) <-chan error {
	t.Helper()
	s, ok := c.NetConn().(*socket)
	if !ok {
		t.Fatalf("a %T: its readers wait in the runtime's poller", c.NetConn())
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	for s.reading.until.Load() == 0 {
		runtime.Gosched()
	}
	return ended
}

func TestDeadlineEndsARead(t *testing.T) {
	for name, set := range map[string]func(c *Conn) error{
		"passed": func(c *Conn) error { return c.SetReadDeadline(time.Unix(1, 0)) },
		"soon":   func(c *Conn) error { return c.SetReadDeadline(time.Now().Add(time.Millisecond)) },
		"both":   func(c *Conn) error { return c.SetDeadline(time.Now()) },
		"earlier": func(c *Conn) error {
			return errors.Join(c.SetDeadline(time.Now().Add(time.Hour)), c.SetDeadline(time.Now()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, other := pair(t)
			ended := reading(t, c)
			if err := set(c); err != nil {
				t.Fatal(err)
			}
			err := <-ended
			var timeout net.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Fatalf("a read beyond its deadline: %v", err)
			}
			// Without it the connection is as good as before.
			if err := c.SetDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			ended = reading(t, c)
			if _, err := other.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCloseEndsARead(t *testing.T) {
	c, _ := pair(t)
	ended := reading(t, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the read ended with %v", err)
	}
	if err := c.SetDeadline(time.Now()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a deadline of a closed connection: %v", err)
	}
}

// Close shuts the reading side down. A reader then gets net.ErrClosed, not the io.EOF of
// the other side's end.
func TestCloseIsNoEnd(t *testing.T) {
	c, _ := pair(t)
	s := c.NetConn().(*socket)
	if !s.enter() {
		t.Fatal("closed")
	}
	defer s.leave()
	c.Close()
	c.raw.in, c.raw.got, c.raw.inErr = make([]byte, 1), 0, 0
	if !c.raw.receiveOn(uintptr(s.fd)) {
		t.Fatal("the reading side is open")
	}
	if _, _, _, err := c.raw.took(s); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read ended with %v", err)
	}
}

// Whatever runs at the same time as Close, every descriptor is closed exactly once.
func TestDescriptorsAreFreed(t *testing.T) {
	count := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(open)
	}
	before := count()
	for range 50 {
		c, other := pair(t)
		var users sync.WaitGroup
		for range 2 {
			users.Go(func() { _, _ = c.Read(make([]byte, 1)) })
			users.Go(func() { _ = c.SetDeadline(time.Now()) })
			users.Go(func() { c.Close() })
		}
		users.Wait()
		other.Close()
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// Readers of connections beyond threadsMost wait in the runtime's poller.
func TestThreadsAreBounded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := NewDialer(true)
	defer d.CloseAll()
	dial := func() *Conn {
		c, err := d.Dial(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c.(*Conn)
	}
	var conns []*Conn
	for range threadsMost {
		conns = append(conns, dial())
	}
	if _, ok := conns[threadsMost-1].NetConn().(*socket); !ok {
		t.Error("too few readers wait on threads of their own")
	}
	if _, ok := dial().NetConn().(*net.TCPConn); !ok {
		t.Error("too many readers wait on threads of their own")
	}
	conns[0].Close()
	conns[1].Close() // one for the one too many
	if _, ok := dial().NetConn().(*socket); !ok {
		t.Error("a closed connection still counts")
	}
}

// ReadNow reports data that is read late with its time of arrival.
func TestReadLate(t *testing.T) {
	c, other := pair(t)
	if !c.ReadsLate() {
		t.Fatal("the connection cannot be read late")
	}
	var s seen
	c.Observe(&s)
	p := make([]byte, 8)
	if n, err := c.ReadNow(p); n != 0 || !errors.Is(err, unix.EAGAIN) {
		t.Fatalf("of nothing %d bytes, %v", n, err)
	}
	const lain = 20 * time.Millisecond
	for s.waited.Load() < int64(lain) { // the first reads know no time, see TestStampAcrossAStep
		if _, err := other.Write(p[:3]); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := c.Rest(lain); err != nil { // what came does not end it
			t.Fatal(err)
		}
		if rested := time.Since(began); rested < lain {
			t.Fatalf("a rest of %v took %v", lain, rested)
		}
		if n, err := c.ReadNow(p); n != 3 || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	if !c.Late() {
		t.Error("nobody knows that it is read late")
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Rest(time.Hour) }()
	for c.NetConn().(*socket).reading.until.Load() == 0 {
		runtime.Gosched()
	}
	c.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the rest ended with %v", err)
	}
	if _, err := c.ReadNow(p); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A reader that keeps up blocks at once; one that is behind first tries without blocking.
func TestReaderThatKeepsUpDoesNotAsk(t *testing.T) {
	c, other := pair(t)
	s, fd := c.raw, c.NetConn().(*socket).fd
	try := func() bool {
		s.in = make([]byte, 8)
		return s.receiveAhead(uintptr(fd))
	}
	come := func() {
		if _, err := other.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		for n := 0; n == 0; {
			var err error
			if n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); err != nil && !errors.Is(err, unix.EINTR) {
				t.Fatal(err)
			}
		}
	}
	nothing := func(what string) {
		t.Helper()
		if try() {
			t.Fatalf("%s: something was read", what)
		}
	}
	something := func(what string) {
		t.Helper()
		if !try() || s.got != 3 {
			t.Fatalf("%s: %d bytes were read", what, s.got)
		}
	}
	// Two attempts find nothing before the wait; then one read skips the attempt, then three.
	nothing("the first read")
	come()
	something("after its wait")
	for _, unasked := range []int{1, 3, 7} {
		nothing("a read of nothing")
		come()
		something("after its wait")
		for range unasked {
			come()
			nothing("a read that does not ask")
			something("after its wait, which returned at once")
		}
	}
	// Then the reader falls behind: each attempt finds data.
	for range 20 {
		come()
		something("a read that asks")
	}
	nothing("a read of nothing")
	come()
	something("after its wait")
	come()
	nothing("a read that does not ask")
	something("after its wait")
	// A read that fills its buffer does not show whether more data is there.
	nothing("a read of nothing")
	come()
	s.in = make([]byte, 3)
	if !s.receiveAhead(uintptr(fd)) {
		t.Fatal("after its wait: nothing was read")
	}
	come()
	something("after a full buffer")
}

// All bytes and the end of the stream are read, whether they arrive before, during or
// after a read.
func TestReadsMissNothing(t *testing.T) {
	c, other := pair(t)
	const pieces = 20_000
	sent := make(chan int, 1)
	go func() {
		random, all := rand.New(rand.NewPCG(1, 2)), 0
		for range pieces {
			n, err := other.Write(make([]byte, 1+random.IntN(20)))
			if err != nil {
				t.Error(err)
			}
			all += n
			for range random.IntN(3) {
				runtime.Gosched()
			}
		}
		other.Close()
		sent <- all
	}()
	got, err := io.Copy(io.Discard, struct{ io.Reader }{c})
	if all := <-sent; err != nil || got != int64(all) {
		t.Errorf("%d of %d bytes, %v", got, all, err)
	}
}
