package kit

import (
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
)

// sink is a connection that notes what is written to it, write by write.
type sink struct {
	net.Conn
	writes []string
	err    error // of the next write
	takes  int   // bytes that the next write takes before err
	closed bool
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return s.takes, s.err
	}
	s.writes = append(s.writes, string(p))
	return len(p), nil
}

func (s *sink) Close() error { s.closed = true; return nil }

func (s *sink) SetWriteDeadline(time.Time) error { return nil }

func (s *sink) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(s.writes, want) {
		t.Errorf("written %q, want %q", s.writes, want)
	}
	s.writes = nil
}

// add writes a frame, or collects it.
func add(t *testing.T, w *Writer, frame string) error {
	t.Helper()
	b, err := w.Begin(len(frame))
	if err != nil {
		return err
	}
	return w.Commit(append(b, frame...))
}

func TestWriterWritesAtOnce(t *testing.T) {
	var to sink
	w := NewWriter(Conn{Conn: &to, Raw: &to}, 1, WriterHook{})
	for _, frame := range []string{"a", "bcd"} {
		if err := add(t, w, frame); err != nil {
			t.Fatal(err)
		}
	}
	to.want(t, "a", "bcd")
	if w.Collects() {
		t.Error("there is nothing to flush, and it says otherwise")
	}
}

func TestWriterCollects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var to sink
		w := NewWriter(Conn{Conn: &to, Raw: &to}, 8, WriterHook{})
		for _, frame := range []string{"abc", "def", "ghi", "0123456789", "j"} {
			if err := add(t, w, frame); err != nil {
				t.Fatal(err)
			}
		}
		to.want(t, "abcdef", "ghi", "0123456789")
		if err := w.Write([]byte("now")); err != nil {
			t.Fatal(err)
		}
		to.want(t, "j", "now")
		add(t, w, "late")
		time.Sleep(time.Second) // of the bubble
		synctest.Wait()
		to.want(t, "late") // nobody flushed
		if err := w.Flush(); err != nil {
			t.Error(err)
		}
		to.want(t)
		w.End()
	})
}

func TestWriterSeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var to sink
		w := NewWriter(Conn{Conn: &to, Raw: &to}, 8, WriterHook{Seal: func(b []byte) []byte { return append(b, '.') }})
		add(t, w, "ab")
		add(t, w, "cd")
		w.Flush()
		to.want(t, "abcd.")
		w.End()
	})
}

func TestWriterReplies(t *testing.T) {
	var to sink
	w := NewWriter(Conn{Conn: &to, Raw: &to}, 1, WriterHook{})
	reply := func(frame string, due int) {
		t.Helper()
		if err := w.Reply([]byte(frame), due); err != nil {
			t.Error(err)
		}
	}
	reply("a", 1)
	reply("b", 1)
	to.want(t)
	w.FlushReplies()
	to.want(t, "ab")
	reply("c", 0)
	to.want(t, "c")
	reply("d", 3)
	reply("e", 3)
	w.FlushReplies() // the reader is idle, and they wait for a third all the same
	to.want(t)
	reply("f", 3)
	to.want(t, "def")
	reply("g", 3)
	if !w.Last([]byte("bye")) {
		t.Error("the last frame is not out")
	}
	to.want(t, "g", "bye")
}

func TestWriterFails(t *testing.T) {
	to := sink{err: errors.New("broken"), takes: 3}
	var failed error
	var lost string
	w := NewWriter(Conn{Conn: &to, Raw: &to}, 8, WriterHook{
		Failed:  func(err error) { failed = err },
		Emptied: func(b []byte, written int) { lost += string(b[written:]) },
	})
	add(t, w, "abc")
	add(t, w, "de")
	err := w.Flush()
	if !errors.Is(err, driver.ErrNotConnected) || failed != to.err || !to.closed || lost != "de" {
		t.Errorf("%v; failed with %v, closed %v, lost %q", err, failed, to.closed, lost)
	}
	to.err = nil
	add(t, w, "fg")
	w.End()
	if lost != "defg" {
		t.Errorf("lost %q, want what was collected as well", lost)
	}
	if err := add(t, w, "h"); !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("after the end: %v", err)
	}
	w.End()
}

// stuck is a connection on which a write takes until it is let go.
type stuck struct {
	sink
	writing, leave chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	close(s.writing)
	<-s.leave
	return len(p), nil
}

// A reader without replies does not wait for a sender: who is to read the answers, if
// the server writes no more before somebody does, and reads no more before that?
func TestWriterHoldsUpNoReader(t *testing.T) {
	to := &stuck{writing: make(chan struct{}), leave: make(chan struct{})}
	w := NewWriter(Conn{Conn: to, Raw: to}, 1, WriterHook{})
	written := make(chan error)
	go func() { written <- w.Write([]byte("a")) }()
	<-to.writing
	if err := w.FlushReplies(); err != nil {
		t.Error(err)
	}
	close(to.leave)
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// slow is a sink whose writes take a while.
type slow struct {
	sink
	takes time.Duration
}

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(s.takes)
	return s.sink.Write(p)
}

// The last frames wait for a write that has begun, and come behind it: what is acknowledged just before a consumer
// closes is not lost. They do not wait for one that is stuck.
func TestWriterLastWaitsForAWrite(t *testing.T) {
	for _, tt := range []struct {
		takes time.Duration
		out   bool
	}{{lastMost / 2, true}, {10 * lastMost, false}} {
		synctest.Test(t, func(t *testing.T) {
			to := &slow{takes: tt.takes}
			w := NewWriter(Conn{Conn: to, Raw: to}, 1, WriterHook{})
			var first sync.WaitGroup
			first.Go(func() {
				if err := w.Write([]byte("fin")); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
			if out := w.Last([]byte("bye")); out != tt.out {
				t.Errorf("a write of %v: %v", tt.takes, out)
			}
			first.Wait()
			if tt.out {
				to.want(t, "fin", "bye")
			} else {
				to.want(t, "fin")
			}
		})
	}
}
