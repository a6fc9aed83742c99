package natswire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// sink is a connection that keeps what is written to it, until it breaks.
type sink struct {
	net.Conn
	mu     sync.Mutex
	got    bytes.Buffer
	writes int
	breaks int // after how many bytes; negative: never
	closed bool
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.breaks >= 0 {
		if left := s.breaks - s.got.Len(); left < len(p) {
			s.got.Write(p[:left])
			return left, io.ErrClosedPipe
		}
	}
	return s.got.Write(p)
}

func (s *sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// events is what a link has told.
type events struct {
	mu  sync.Mutex
	all []driver.Event
}

func (e *events) notify(event driver.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
}

// dropped counts the messages that were dropped; anything else fails the test.
func (e *events) dropped(t *testing.T) (n int) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.all {
		if event.Kind != driver.Dropped {
			t.Errorf("event %v", event)
		}
		n += event.Count
	}
	return n
}

// linkTo returns a link whose connection is s and collects up to size bytes, and the
// events of it.
func linkTo(s net.Conn, size int) (*Link, *events) {
	e := new(events)
	base := &kit.Base{Target: driver.Target{Notify: e.notify}}
	l := &Link{client: &Client{Base: base, writeBuffer: size}, key: kit.Key{Role: kit.Producer}, direct: true}
	l.life, l.cancel = context.WithCancel(context.Background())
	l.maxPayload.Store(1 << 20)
	l.live.Store(l.over(s))
	return l, e
}

// TestBatch wants frames of all sizes written whole, in order and together.
func TestBatch(t *testing.T) {
	const size = 1000
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		s := &sink{breaks: -1}
		l, events := linkTo(s, size)
		p, r := Publisher{link: l}, Publisher{link: l}
		p.Address("a.b", "")
		r.Address("c", "_INBOX.1")
		var want bytes.Buffer
		for range 200 {
			payload := bytes.Repeat([]byte("x"), random.IntN(random.IntN(3*size)+1))
			var err error
			switch random.IntN(4) {
			case 0:
				fmt.Fprintf(&want, "PUB c _INBOX.1 %d\r\n%s\r\n", len(payload), payload)
				err = r.Publish(payload)
			case 1:
				fmt.Fprintf(&want, "PUB d.e %d\r\n%s\r\n", len(payload), payload)
				err = (&Publisher{link: l}).Answer([]byte("d.e"), payload)
			default:
				fmt.Fprintf(&want, "PUB a.b %d\r\n%s\r\n", len(payload), payload)
				err = p.Publish(payload)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := l.FlushBatch(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(s.got.Bytes(), want.Bytes()) {
			t.Fatalf("seed %d: wrote %.200q, want %.200q", seed, s.got.Bytes(), want.Bytes())
		}
		if n := events.dropped(t); n > 0 {
			t.Errorf("%d messages are dropped", n)
		}
	}
}

// TestBatchIsWrittenInOne counts the writes.
func TestBatchIsWrittenInOne(t *testing.T) {
	s := &sink{breaks: -1}
	l, _ := linkTo(s, 1<<20)
	p := Publisher{link: l}
	p.Address("a", "")
	for range 1000 {
		if err := p.Publish([]byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	before := s.got.Len() // the timer may have come between
	s.mu.Unlock()
	if err := l.FlushBatch(); err != nil {
		t.Fatal(err)
	}
	if s.writes != 1 && before == 0 {
		t.Errorf("%d writes", s.writes)
	}
	if n := strings.Count(s.got.String(), "PUB a 5\r\nhello\r\n"); n != 1000 {
		t.Errorf("%d frames", n)
	}
}

// TestBatchOfManyPublishers wants frames of goroutines not to mix.
func TestBatchOfManyPublishers(t *testing.T) {
	s := &sink{breaks: -1}
	l, _ := linkTo(s, 500)
	var sending sync.WaitGroup
	const publishers, each = 4, 500
	for i := range publishers {
		sending.Go(func() {
			p := Publisher{link: l}
			p.Address(fmt.Sprint("s", i), "")
			for n := range each {
				if err := p.Publish([]byte(fmt.Sprintf("%d.%d", i, n))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	sending.Wait()
	if err := l.FlushBatch(); err != nil {
		t.Fatal(err)
	}
	var next [publishers]int
	for rest := s.got.String(); rest != ""; {
		var subject, from, n, size int
		if _, err := fmt.Sscanf(rest, "PUB s%d %d\r\n%d.%d\r\n", &subject, &size, &from, &n); err != nil {
			t.Fatalf("%v in %.60q", err, rest)
		}
		if from != subject || n != next[from] {
			t.Fatalf("message %d of %d to %d, want %d", n, from, subject, next[from])
		}
		next[from]++
		rest = rest[len(fmt.Sprintf("PUB s%d %d\r\n%d.%d\r\n", subject, size, from, n)):]
	}
	for i, n := range next {
		if n != each {
			t.Errorf("%d messages of publisher %d", n, i)
		}
	}
}

// TestBatchLost breaks the connection in mid-write. What had been taken and is
// not written must be told of; what was refused must not.
func TestBatchLost(t *testing.T) {
	const frame = len("PUB a 5\r\nhello\r\n")
	for _, breaks := range []int{0, 1, frame - 1, frame, frame + 1, 3*frame - 1, 3 * frame} {
		s := &sink{breaks: breaks}
		l, events := linkTo(s, 64<<10)
		c := l.live.Load()
		p := Publisher{link: l}
		p.Address("a", "")
		taken := 0
		for range 10 { // the timer may come between
			if p.send(c, nil, []byte("hello")) == nil {
				taken++
			}
		}
		if err := c.out.Flush(); err != nil && !errors.Is(err, driver.ErrNotConnected) {
			t.Errorf("flush: %v", err)
		}
		if n := events.dropped(t); n != taken-breaks/frame {
			t.Errorf("broken after %d bytes: %d of %d messages are dropped", breaks, n, taken)
		}
		if !s.closed || l.live.Load() != nil {
			t.Error("the connection is still used")
		}
	}
}

// TestBatchOfLostConnection has frames that were taken for one connection when
// another takes its place.
func TestBatchOfLostConnection(t *testing.T) {
	l, events := linkTo(&sink{breaks: 0}, 64<<10)
	c, p := l.live.Load(), Publisher{link: l}
	p.Address("a", "")
	for range 3 {
		if err := p.send(c, nil, []byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	c.Close() // as nats.go does
	young := &sink{breaks: -1}
	l.live.Store(l.over(young))
	if err := p.Publish([]byte("again")); err != nil {
		t.Fatal(err)
	}
	l.close(t.Context())
	if n := events.dropped(t); n != 3 {
		t.Errorf("%d messages are dropped", n)
	}
	if got := young.got.String(); got != "PUB a 5\r\nagain\r\n" {
		t.Errorf("the new connection got %q", got)
	}
	if l.live.Load() != nil {
		t.Error("the link may be written to after it was closed")
	}
}

// TestRefusedFrameIsNotLost has a frame larger than the buffer fail.
func TestRefusedFrameIsNotLost(t *testing.T) {
	l, events := linkTo(&sink{breaks: 5}, 100)
	p := Publisher{link: l}
	p.Address("a", "")
	if err := p.Publish(make([]byte, 1000)); !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("got %v", err)
	}
	if n := events.dropped(t); n > 0 {
		t.Errorf("%d messages are dropped", n)
	}
	if err := l.FlushBatch(); err != nil {
		t.Errorf("flush of nothing: %v", err)
	}
}

// nowhere is a connection that takes everything at no cost.
type nowhere struct{ net.Conn }

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkBatch times Publish without what the kernel does.
func BenchmarkBatch(b *testing.B) {
	for _, size := range []int{16, 64, 256} {
		b.Run(fmt.Sprint(size, "KiB"), func(b *testing.B) {
			l, _ := linkTo(nowhere{}, size<<10)
			p := Publisher{link: l}
			p.Address("s9.test.t0", "")
			payload := make([]byte, 256)
			b.ReportAllocs()
			for range b.N {
				if err := p.Publish(payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
