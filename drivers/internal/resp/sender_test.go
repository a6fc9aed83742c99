package resp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
)

func TestCommand(t *testing.T) {
	c := NewCommand(nil, "XADD", "k", "*", "m")
	if got, want := string(c.head), "*5\r\n$4\r\nXADD\r\n$1\r\nk\r\n$1\r\n*\r\n$1\r\nm\r\n"; got != want {
		t.Errorf("head %q, want %q", got, want)
	}
	if got := fmt.Sprintf("%s %s", c.name, c.with([]byte("x"))); got != "XADD [k * m x]" {
		t.Errorf("by redigo: %q", got)
	}
	ask := question(false)
	if got := fmt.Sprintf("%q %s %s", ask.head, ask.name, ask.with(nil)); got != `"*1\r\n$4\r\nPING\r\n" PING []` {
		t.Errorf("a command without a payload: %s", got)
	}
}

// eachSender runs a test with what connects by each library to the server. Redigo's
// senders collect so many bytes.
func eachSender(t *testing.T, size int, test func(t *testing.T, f *fake, connect func() (line, chan driver.Event))) {
	for _, via := range []string{GoRedis, Redigo} {
		t.Run(fmt.Sprintf("%s %d", via, size), func(t *testing.T) {
			f := newFake(t)
			test(t, f, func() (line, chan driver.Event) { return f.open(t, via, size, PipelineOptions{}) })
		})
	}
}

func TestSendersKeepOrder(t *testing.T) {
	for _, size := range []int{1, 300, 64 << 10} {
		eachSender(t, size, func(t *testing.T, f *fake, connect func() (line, chan driver.Event)) {
			s, _ := connect()
			o := newOutcomes()
			const n = 5000
			for i := range uint64(n) {
				word := "good"
				if i%7 == 0 {
					word = "bad"
				}
				if err := s.Send(i, o, publish(), fmt.Appendf(nil, "%s %d", word, i)); err != nil {
					t.Fatal(err)
				}
			}
			o.await(t, n) // nobody flushes
			for i, err := range o.errs {
				if (i%7 == 0) != errors.Is(err, driver.ErrRejected) {
					t.Errorf("message %d: %v", i, err)
				}
			}
			for i, word := range f.got {
				if !strings.HasSuffix(word, fmt.Sprintf(" %d", i)) {
					t.Fatalf("message %d is %q", i, word)
				}
			}
			if err := s.Sync(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSendersTellWhatIsUnknown cuts a connection on which messages wait for their
// answers.
func TestSendersTellWhatIsUnknown(t *testing.T) {
	eachSender(t, 1, func(t *testing.T, f *fake, connect func() (line, chan driver.Event)) {
		f.silence(true)
		s, events := connect()
		o := newOutcomes()
		if err := s.Send(0, o, publish(), []byte("x")); err != nil {
			t.Fatal(err)
		}
		f.has(1)
		for i := range uint64(10) { // go-redis has not written these
			if err := s.Send(1+i, o, publish(), []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		f.cut()
		o.await(t, 11)
		for i, err := range o.errs {
			unsent := i > 0 && errors.Is(err, driver.ErrNotConnected)
			if !errors.Is(err, driver.ErrTimeout) && !unsent {
				t.Errorf("message %d: %v", i, err)
			}
		}
		waitFor(t, events, driver.Disconnected)
		waitFor(t, events, driver.Reconnected)
		f.silence(false)
		if err := s.Send(100, o, publish(), []byte("x")); err != nil {
			t.Fatal(err)
		}
		o.await(t, 1)
		if err := o.errs[100]; err != nil {
			t.Error(err)
		}
	})
}

// TestSendersClose wants what is open answered, or resolved as closed.
func TestSendersClose(t *testing.T) {
	eachSender(t, 1<<20, func(t *testing.T, f *fake, connect func() (line, chan driver.Event)) {
		s, events := connect()
		o := newOutcomes()
		for i := range uint64(100) {
			if err := s.Send(i, o, publish(), []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.await(t, 100)
		for i, err := range o.errs {
			if err != nil {
				t.Errorf("message %d: %v", i, err)
			}
		}
		if err := s.Send(100, o, publish(), nil); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("Send after Close: %v", err)
		}
		if err := s.Sync(t.Context()); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("Sync after Close: %v", err)
		}
		if len(events) > 0 {
			t.Errorf("event %v", <-events)
		}

		f.silence(true)
		s, events = connect()
		o = newOutcomes()
		if err := s.Send(7, o, publish(), []byte("x")); err != nil {
			t.Fatal(err)
		}
		soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		s.Close(soon)
		o.await(t, 1)
		if err := o.errs[7]; !errors.Is(err, driver.ErrClosed) {
			t.Errorf("unanswered when closed: %v", err)
		}
		if len(events) > 0 {
			t.Errorf("event %v", <-events)
		}
	})
}

// TestGoRedisSendBlocks wants Send to wait where too much waits for a pipeline, and
// Close to end that.
func TestGoRedisSendBlocks(t *testing.T) {
	f := newFake(t)
	f.silence(true)
	s, _ := f.open(t, GoRedis, 1, PipelineOptions{})
	o := newOutcomes()
	if err := s.Send(0, o, publish(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	f.has(1) // a pipeline is under way
	if err := s.Send(1, o, publish(), make([]byte, waitingMost)); err != nil {
		t.Fatal(err)
	}
	blocked := make(chan error, 1)
	go func() { blocked <- s.Send(2, o, publish(), []byte("x")) }()
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	select {
	case err := <-blocked:
		t.Errorf("Send has not waited: %v", err)
	case <-soon.Done():
	}
	s.Close(soon)
	if err := <-blocked; !errors.Is(err, driver.ErrClosed) {
		t.Errorf("Send that waited: %v", err)
	}
	o.await(t, 2)
}
