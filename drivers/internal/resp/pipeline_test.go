package resp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

const patience = 30 * time.Second

// fake is a server that reads commands and answers them as it is told.
type fake struct {
	t        *testing.T
	listener net.Listener
	serving  sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond
	conns   []net.Conn
	got     []string // the last words of commands that are not about logging in
	mute    bool     // these are not answered
	answers int      // to all commands
}

func newFake(t *testing.T) *fake {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, listener: l}
	f.changed = sync.NewCond(&f.mu)
	f.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns = append(f.conns, c)
			f.mu.Unlock()
			f.serving.Go(func() { f.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		f.cut()
		f.serving.Wait()
	})
	return f
}

func (f *fake) serve(c net.Conn) {
	defer c.Close()
	r := NewReader(c, nil)
	silent := false // as the client has told it to be
	for {
		n, err := r.Array()
		if err != nil {
			return
		}
		var words []string
		for range n {
			w, err := r.Bulk()
			if err != nil {
				return
			}
			words = append(words, string(w))
		}
		answer := ":1\r\n"
		f.mu.Lock()
		switch words[0] {
		case "PING":
			answer = "+PONG\r\n"
		case "CLIENT":
			answer = "+OK\r\n"
			if len(words) == 3 && words[1] == "REPLY" {
				silent = words[2] == "OFF"
			}
		default:
			f.got = append(f.got, words[len(words)-1])
			if strings.HasPrefix(words[len(words)-1], "bad") {
				answer = "-OOM no room\r\n"
			}
			if f.mute {
				answer = ""
			}
		}
		if silent {
			answer = ""
		}
		if answer != "" {
			f.answers++
		}
		f.changed.Broadcast()
		f.mu.Unlock()
		if _, err := c.Write([]byte(answer)); err != nil {
			return
		}
	}
}

// cut closes all connections.
func (f *fake) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.conns {
		c.Close()
	}
	f.conns = nil
}

func (f *fake) silence(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mute = on
}

// has waits until the server has got n commands.
func (f *fake) has(n int) {
	f.t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		late = true
		f.changed.Broadcast()
	})
	defer timer.Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.got) < n && !late {
		f.changed.Wait()
	}
	if len(f.got) < n {
		f.t.Fatalf("the server has got %d of %d commands", len(f.got), n)
	}
}

// outcomes is an Acks that keeps what it is told.
type outcomes struct {
	mu   sync.Mutex
	errs map[uint64]error
	done chan uint64
}

func newOutcomes() *outcomes {
	return &outcomes{errs: map[uint64]error{}, done: make(chan uint64, 1<<20)}
}

func (o *outcomes) Done(token uint64, err error) {
	o.mu.Lock()
	if _, twice := o.errs[token]; twice {
		panic(fmt.Sprintf("token %d is done twice", token))
	}
	o.errs[token] = err
	o.mu.Unlock()
	o.done <- token
}

// await waits for n outcomes.
func (o *outcomes) await(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-o.done:
		case <-time.After(patience):
			t.Fatal("an outcome is missing")
		}
	}
}

// noWatch takes every reply for good.
type noWatch struct{}

func (noWatch) Reply(byte, int64) error { return nil }
func (noWatch) Lost()                   {}

// line sends by a link of producers, as one of them does.
type line struct{ *link }

// open connects a line by the client, whose pipelines collect so many bytes. It returns
// its events.
func (f *fake) open(t *testing.T, via string, buffer int, o PipelineOptions) (line, chan driver.Event) {
	t.Helper()
	events := make(chan driver.Event, 1000)
	options := DefaultOptions()
	options.WriteBuffer, options.ConnectTimeout, options.ReconnectWait = driver.ByteSize(buffer), patience, time.Millisecond
	cl, err := newClient(driver.Target{URL: f.listener.Addr().String(), Run: "test", Notify: func(e driver.Event) { events <- e }}, "test", via, options)
	if err != nil {
		t.Fatal(err)
	}
	ps := NewProducers(&Session{Client: cl}, "publish", o, func(string) Watch { return noWatch{} })
	l, err := ps.connect(t.Context(), LinkKey{Key: kit.Key{Role: kit.Producer}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(context.Background()) })
	return line{l}, events
}

func (l line) Send(token uint64, acks driver.Acks, c *Command, payload []byte) error {
	w := l.Live()
	if w == nil {
		return l.Absent()
	}
	return w.Send(token, acks, c, payload)
}

func (l line) Sync(ctx context.Context) error {
	w := l.Live()
	if w == nil {
		return l.Absent()
	}
	return w.Sync(ctx)
}

func waitFor(t *testing.T, events chan driver.Event, kind driver.EventKind) driver.Event {
	t.Helper()
	for {
		select {
		case e := <-events:
			if e.Kind == kind {
				return e
			}
		case <-time.After(patience):
			t.Fatalf("no event %q", kind)
		}
	}
}

// publish is a command for channel c.
func publish() *Command { return NewCommand("PUBLISH", "c") }

// eachClient runs a test with each value of the option client.
func eachClient(t *testing.T, test func(t *testing.T, via string)) {
	for _, via := range []string{Direct, Library} {
		t.Run(via, func(t *testing.T) { test(t, via) })
	}
}

func TestPipelineKeepsOrder(t *testing.T) { eachClient(t, testPipelineKeepsOrder) }

func testPipelineKeepsOrder(t *testing.T, via string) {
	for _, buffer := range []int{1, 300, 64 << 10} {
		f := newFake(t)
		p, _ := f.open(t, via, buffer, PipelineOptions{})
		o := newOutcomes()
		const n = 5000 // several chunks of the queue
		for i := range uint64(n) {
			word := "good"
			if i%7 == 0 {
				word = "bad"
			}
			if err := p.Send(i, o, publish(), fmt.Appendf(nil, "%s %d", word, i)); err != nil {
				t.Fatal(err)
			}
		}
		// Nobody flushes: nothing may stay behind for that.
		o.await(t, n)
		for i, err := range o.errs {
			if (i%7 == 0) != errors.Is(err, driver.ErrRejected) {
				t.Errorf("buffer %d: command %d: %v", buffer, i, err)
			}
		}
		for i, word := range f.got {
			if !strings.HasSuffix(word, fmt.Sprintf(" %d", i)) {
				t.Fatalf("buffer %d: command %d is %q", buffer, i, word)
			}
		}
		if err := p.Sync(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestPipelineTellsUnknownFromUnsent cuts a connection on which commands wait for
// their replies, and some have not been written. Redigo does not tell which.
func TestPipelineTellsUnknownFromUnsent(t *testing.T) {
	eachClient(t, testPipelineTellsUnknownFromUnsent)
}

func testPipelineTellsUnknownFromUnsent(t *testing.T, via string) {
	f := newFake(t)
	f.silence(true)
	p, events := f.open(t, via, 1<<20, PipelineOptions{})
	o := newOutcomes()
	send := func(i uint64) {
		t.Helper()
		if err := p.Send(i, o, publish(), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	send(0) // alone, and therefore written
	for i := range uint64(10) {
		send(1 + i)
	}
	if err := p.Live().Flush(); err != nil {
		t.Fatal(err)
	}
	f.has(11)
	for i := range uint64(10) {
		send(11 + i) // collected, for more replies are due
	}
	f.cut()
	o.await(t, 21)
	for i, err := range o.errs {
		want := driver.ErrTimeout
		if i >= 11 && via == Direct {
			want = driver.ErrNotConnected
		}
		if !errors.Is(err, want) {
			t.Errorf("command %d: %v, want %v", i, err, want)
		}
	}
	waitFor(t, events, driver.Disconnected)
	waitFor(t, events, driver.Reconnected)
	f.silence(false)
	send(100)
	o.await(t, 1)
	if err := o.errs[100]; err != nil {
		t.Error(err)
	}
	if f.has(12); len(f.got) != 12 {
		t.Errorf("the server has got %d commands", len(f.got))
	}
}

// TestPipelineCloses wants what nobody answers resolved as closed.
func TestPipelineCloses(t *testing.T) { eachClient(t, testPipelineCloses) }

func testPipelineCloses(t *testing.T, via string) {
	f := newFake(t)
	p, events := f.open(t, via, 1<<20, PipelineOptions{})
	o := newOutcomes()
	for i := range uint64(100) {
		if err := p.Send(i, o, publish(), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(t.Context()); err != nil { // lets the server answer
		t.Fatal(err)
	}
	o.await(t, 100)
	for i, err := range o.errs {
		if err != nil {
			t.Errorf("command %d: %v", i, err)
		}
	}
	if err := p.Send(1, o, publish(), nil); !errors.Is(err, driver.ErrClosed) {
		t.Errorf("Send after Close: %v", err)
	}
	if err := p.Sync(t.Context()); !errors.Is(err, driver.ErrClosed) {
		t.Errorf("Sync after Close: %v", err)
	}
	if len(events) > 0 {
		t.Errorf("event %v", <-events)
	}

	f.silence(true)
	p, events = f.open(t, via, 1, PipelineOptions{})
	o = newOutcomes()
	if err := p.Send(7, o, publish(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	p.Close(soon)
	o.await(t, 1)
	if err := o.errs[7]; !errors.Is(err, driver.ErrClosed) {
		t.Errorf("unanswered when closed: %v", err)
	}
	if len(events) > 0 {
		t.Errorf("event %v", <-events)
	}
}

// TestSilentPipeline wants Done at once, messages out without Flush, a Sync that
// is a round trip, and a count of what a lost connection takes along.
func TestSilentPipeline(t *testing.T) {
	f := newFake(t)
	p, events := f.open(t, Direct, 64<<10, PipelineOptions{Silent: true})
	o := newOutcomes()
	send := func(i uint64) {
		t.Helper()
		if err := p.Send(i, o, publish(), []byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, done := o.errs[i]; !done {
			t.Fatal("Send has returned before Done")
		}
	}
	send(0)
	f.has(1)
	send(1)
	if err := p.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(f.got) != 2 {
		t.Errorf("after Sync the server has got %d commands", len(f.got))
	}
	out := p.Live()
	out.writing.Lock() // nobody writes now
	for range 3 {
		out.buf = AppendWord(append(out.buf, publish().head...), "x")
		out.ends = append(out.ends, len(out.buf))
	}
	out.writing.Unlock()
	f.cut()
	if e := waitFor(t, events, driver.Dropped); e.Count != 3 {
		t.Errorf("event %+v", e)
	}
	waitFor(t, events, driver.Reconnected)
	send(5)
	f.has(3)
}

// A server that is silent is asked for a reply now and then: what it refuses is heard of,
// and of no more messages than were asked about. All are done at once.
func TestSilentServerIsAsked(t *testing.T) {
	f := newFake(t)
	p, events := f.open(t, Direct, 1, PipelineOptions{Silent: true})
	o := newOutcomes()
	sent := uint64(0)
	send := func(payload string) {
		t.Helper()
		if sent++; p.Send(sent, o, publish(), []byte(payload)) != nil || o.errs[sent] != nil {
			t.Fatalf("message %d: %v", sent, o.errs[sent])
		}
	}
	for range 100 {
		send("x")
	}
	if err := p.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(events) > 0 {
		t.Fatalf("of messages that were taken: %+v", <-events)
	}
	for limit := time.Now().Add(patience); len(events) == 0; time.Sleep(time.Millisecond) {
		send("bad")
		if time.Now().After(limit) {
			t.Fatal("nothing is told of what is refused")
		}
	}
	if e := <-events; e.Kind != driver.Denied || e.Count != 1 || !strings.Contains(e.Detail, "OOM no room") || !errors.Is(e.Err, driver.ErrRejected) || !strings.Contains(e.Err.Error(), "OOM no room") {
		t.Errorf("%+v", e)
	}
	if p.Live() == nil || !slices.Equal(f.got[:100], slices.Repeat([]string{"x"}, 100)) {
		t.Errorf("the server has got %.20q", f.got)
	}
}

func BenchmarkPipelineSend(b *testing.B) {
	// The sender's side alone: commands are forgotten when the buffer is full.
	p := &Pipeline{size: 64 << 10, pending: newQueue()}
	p.conn.Store(&Conn{Conn: kit.Conn{Conn: drain{}}})
	p.written.Store(1)
	acks, command := newOutcomes(), publish()
	payload := make([]byte, 256)
	b.ReportAllocs()
	for i := range b.N {
		if err := p.Send(uint64(i), acks, command, payload); err != nil {
			b.Fatal(err)
		}
		if i%512 == 511 {
			for range 512 {
				p.pending.pop()
			}
		}
	}
}

// drain is a connection that takes everything.
type drain struct{ net.Conn }

func (drain) Write(p []byte) (int, error) { return len(p), nil }
