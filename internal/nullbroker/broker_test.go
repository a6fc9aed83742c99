package nullbroker

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/integrity"
)

// patience decides only how long a failure takes.
const patience = 20 * time.Second

// serve returns a broker and its address until the test ends.
func serve(t testing.TB, c Config) (*Broker, string) {
	t.Helper()
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	t.Cleanup(func() {
		l.Close()
		if err := errors.Join(<-served, b.Close()); err != nil {
			t.Error(err)
		}
	})
	return b, l.Addr().String()
}

// client is a raw client.
type client struct {
	t testing.TB
	net.Conn
	buf []byte
}

func dial(t testing.TB, address string) *client {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return &client{t: t, Conn: c}
}

func connect(t testing.TB, address string) *client {
	t.Helper()
	c := dial(t, address)
	if _, err := Greet(c); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *client) say(frame []byte) {
	c.t.Helper()
	if _, err := c.Write(frame); err != nil {
		c.t.Fatal(err)
	}
}

// hear returns the next frame, or the error that ended the connection.
func (c *client) hear() (Frame, error) {
	for {
		f, n, _, err := Decode(c.buf)
		if err != nil {
			return f, err
		}
		if n > 0 {
			c.buf = c.buf[n:]
			return f, nil
		}
		more := make([]byte, 64<<10)
		n, err = c.Read(more)
		if c.buf = append(c.buf[:len(c.buf):len(c.buf)], more[:n]...); err != nil {
			return f, err
		}
	}
}

func (c *client) expect(op Op, number uint32) Frame {
	c.t.Helper()
	f, err := c.hear()
	if err != nil || f.Op != op || f.Number != number {
		c.t.Fatalf("heard %q %d, %v; want %q %d", byte(f.Op), f.Number, err, byte(op), number)
	}
	return f
}

// payload is one with an envelope.
func payload(stream uint32, sequence uint64) []byte {
	p := make([]byte, 64)
	e := integrity.Envelope{Run: 1, Stream: stream, Sequence: sequence}
	e.Put(p, integrity.BodySum(p))
	return p
}

func TestEcho(t *testing.T) {
	_, address := serve(t, Config{Seed: 5})
	c := connect(t, address)
	c.say(AppendSubscribe(nil, 1, 9, "", "a"))
	c.expect(OpDone, 1)
	c.say(AppendTopic(nil, 2, 0, "a"))
	c.expect(OpDone, 2)
	c.say(AppendConfirmed(nil, 0, 77, "back", []byte("hello")))
	if m := c.expect(OpMessage, 9); string(m.Payload) != "hello" || string(m.Name) != "back" {
		t.Errorf("%+v", m)
	}
	c.expect(OpAck, 77) // after the message
	c.say(AppendUnsubscribe(nil, 3, 9))
	c.expect(OpDone, 3)
	c.say(AppendPublish(nil, 0, "", nil))
	c.say(AppendPing(nil, 4))
	c.expect(OpDone, 4) // and no message
}

// Topics are forgotten with the last who names them.
func TestTopicsAreForgotten(t *testing.T) {
	b, address := serve(t, Config{})
	c := connect(t, address)
	c.say(AppendTopic(AppendSubscribe(nil, 1, 9, "g", "a"), 2, 0, "b"))
	c.expect(OpDone, 1)
	c.expect(OpDone, 2)
	count := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.topics)
	}
	if n := count(); n != 2 {
		t.Errorf("%d topics", n)
	}
	c.Close()
	for limit := time.Now().Add(patience); count() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d topics are left", count())
		}
	}
}

// A client that breaks the protocol is told why and cut off; others are not.
func TestHostileClients(t *testing.T) {
	_, address := serve(t, Config{})
	good := connect(t, address)
	for name, text := range map[string][]byte{
		"no hello":                 AppendPing(nil, 1),
		"a web browser":            []byte("GET / HTTP/1.1\r\n\r\n"),
		"a length beyond all":      append(appendHello(nil), 0xff, 0xff, 0xff, 0x7f),
		"a handle that is not":     AppendPublish(appendHello(nil), 3, "", nil),
		"a handle out of turn":     AppendTopic(appendHello(nil), 1, 3, "a"),
		"a subscription for two":   AppendSubscribe(AppendSubscribe(appendHello(nil), 1, 1, "", "a"), 2, 1, "", "b"),
		"no such subscription":     AppendUnsubscribe(appendHello(nil), 1, 1),
		"what only a broker says":  begin(appendHello(nil), OpAck, 0, 1),
		"half a frame and the end": appendHello(nil)[:6],
	} {
		c := dial(t, address)
		c.say(text)
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		refused := false
		for {
			f, err := c.hear()
			if err != nil {
				break
			}
			refused = refused || f.Op == OpRefused
		}
		if refused == (name == "half a frame and the end") {
			t.Errorf("%s: refused with words: %v", name, refused)
		}
	}
	good.say(AppendPing(nil, 1))
	good.expect(OpDone, 1)
}

// One that does not read holds up nobody else, and gets all when it does.
func TestSlowClient(t *testing.T) {
	const n, size = 400, 64 << 10 // more than sockets hold
	_, address := serve(t, Config{})
	slow, quick, sender := connect(t, address), connect(t, address), connect(t, address)
	for _, c := range []*client{slow, quick} {
		c.say(AppendSubscribe(nil, 1, 1, "", "a"))
		c.expect(OpDone, 1)
	}
	sender.say(AppendTopic(nil, 0, 0, "a"))
	sender.expect(OpDone, 0)
	go func() {
		for i := range n {
			if _, err := sender.Write(AppendPublish(nil, 0, "", bytes.Repeat([]byte{byte(i)}, size))); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for _, c := range []*client{quick, slow} {
		for i := range n {
			if m := c.expect(OpMessage, 1); len(m.Payload) != size || m.Payload[0] != byte(i) || m.Payload[size-1] != byte(i) {
				t.Fatalf("message %d came as %d bytes of %d", i, len(m.Payload), m.Payload[0])
			}
		}
	}
}

// Delays overlap: a message that is held for long is overtaken. The log has
// every message, never sooner than asked for, in the order of forwarding.
func TestHeldBack(t *testing.T) {
	const n = 500
	file := filepath.Join(t.TempDir(), "log")
	law := mustLaw(t, "bimodal(a=1ms,b=100ms,share=20%)")
	b, address := serve(t, Config{Law: law, Seed: 3, Log: file})
	c := connect(t, address)
	c.say(AppendTopic(AppendSubscribe(nil, 1, 1, "", "a"), 2, 0, "a"))
	c.expect(OpDone, 1)
	c.expect(OpDone, 2)
	began := clock.Now()
	for i := range uint64(n) {
		c.say(AppendConfirmed(nil, 0, uint32(i), "", payload(4, i)))
	}
	var order []uint64
	for range n {
		m, err := c.hear()
		for err == nil && m.Op == OpAck {
			m, err = c.hear()
		}
		var e integrity.Envelope
		if err != nil || e.Get(m.Payload, true) != integrity.Good {
			t.Fatalf("%+v, %v", m, err)
		}
		order = append(order, e.Sequence)
	}
	ended := clock.Now()
	if err := b.log.flush(); err != nil {
		t.Fatal(err)
	}
	entries := readLog(t, file)
	if len(entries) != n {
		t.Fatalf("%d entries", len(entries))
	}
	overtaken, highest := 0, uint64(0)
	last := began
	for i, e := range entries {
		if e.Run != 1 || e.Stream != 4 || e.Kind != 0 || e.Sequence != order[i] {
			t.Fatalf("entry %d is %+v, and %d came", i, e, order[i])
		}
		if want := law.Delay(3, 4, 0, e.Sequence); e.Planned != int64(want) || e.Forwarded-e.Received < int64(want) {
			t.Fatalf("held back for %v; want %v: %+v", time.Duration(e.Forwarded-e.Received), want, e)
		}
		if e.Received < began || e.Forwarded < last || e.Forwarded > ended {
			t.Fatalf("entry %d: %+v, after %d", i, e, last)
		}
		last = e.Forwarded
		if highest = max(highest, e.Sequence); e.Sequence < highest {
			overtaken++
		}
	}
	if overtaken < n/20 {
		t.Errorf("%d messages were overtaken: the delays queue", overtaken)
	}
}

// A server takes one message after the other, whichever connection it comes by:
// of each, the log has the instant that follows from those before. No message is
// early, and none overtakes another.
func TestServed(t *testing.T) {
	const n = 400
	file := filepath.Join(t.TempDir(), "log")
	law := mustLaw(t, "exponential(mean=100us)")
	b, address := serve(t, Config{Server: law, Law: mustLaw(t, "2ms"), Seed: 3, Log: file})
	all := connect(t, address)
	all.say(AppendSubscribe(nil, 1, 1, "", "a"))
	all.expect(OpDone, 1)
	for stream := range uint32(2) {
		c := connect(t, address)
		c.say(AppendTopic(nil, 2, 0, "a"))
		c.expect(OpDone, 2)
		go func() {
			for i := range uint64(n) {
				if _, err := c.Write(AppendPublish(nil, 0, "", payload(stream, i))); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for range 2 * n {
		all.expect(OpMessage, 1)
	}
	if err := b.log.flush(); err != nil {
		t.Fatal(err)
	}
	free := int64(0)
	entries := readLog(t, file)
	for i, e := range entries {
		free = max(free, e.Received) + int64(law.Delay(3^serverSeed, e.Stream, e.Kind, e.Sequence))
		if got, want := e.Received+e.Planned, free+int64(2*time.Millisecond); got != want {
			t.Fatalf("entry %d is to go %v after it should: %+v", i, time.Duration(got-want), e)
		}
		if e.Forwarded < e.Received+e.Planned {
			t.Fatalf("entry %d left too early: %+v", i, e)
		}
	}
	if len(entries) != 2*n {
		t.Errorf("%d entries", len(entries))
	}
}

func readLog(t testing.TB, file string) (all []Entry) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := ReadLog(f, func(e Entry) error { all = append(all, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// The log of a broker that was killed in the middle of an entry is readable, and
// goes on when it comes back. What is no log is left as it was.
func TestLogGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	write := func(sequences ...uint64) {
		l, err := openLog(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sequences {
			l.add(Entry{Run: 1<<32 - 1, Stream: 1<<24 - 1, Kind: 2, Sequence: s, Received: 1, Forwarded: -1, Planned: 1 << 40})
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
	}
	write(1, 2, 3)
	if err := os.Truncate(file, int64(len(logHeader)+2*logEntrySize+17)); err != nil {
		t.Fatal(err)
	}
	if got := readLog(t, file); len(got) != 2 {
		t.Fatalf("%d entries of a log that was cut", len(got))
	}
	write(4)
	got := readLog(t, file)
	if len(got) != 3 || got[0].Sequence != 1 || got[2] != (Entry{1<<32 - 1, 1<<24 - 1, 2, 4, 1, -1, 1 << 40}) {
		t.Errorf("%+v", got)
	}
	other := filepath.Join(t.TempDir(), "other")
	for _, text := range []string{"dear", "dear diary, today"} {
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(Config{Log: other}); !errors.Is(err, errLog) {
			t.Errorf("a file with %q is taken for a log: %v", text, err)
		}
		if now, _ := os.ReadFile(other); string(now) != text {
			t.Errorf("it became %q", now)
		}
		if err := ReadLog(bytes.NewReader([]byte(text)), func(Entry) error { return nil }); !errors.Is(err, errLog) {
			t.Errorf("%q is read as a log: %v", text, err)
		}
	}
	stop := errors.New("stop")
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := ReadLog(f, func(Entry) error { return stop }); err != stop {
		t.Errorf("it ends with %v", err)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add(append([]byte(logHeader), make([]byte, 50)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		err := ReadLog(bytes.NewReader(b), func(Entry) error { n++; return nil })
		if err == nil && n != (len(b)-len(logHeader))/logEntrySize {
			t.Errorf("%d entries in %d bytes", n, len(b))
		}
	})
}

// The broker gives messages on without allocating.
func TestNoAllocations(t *testing.T) {
	b, address := serve(t, Config{})
	c := connect(t, address)
	c.say(AppendTopic(AppendSubscribe(nil, 1, 1, "", "a"), 2, 0, "a"))
	c.expect(OpDone, 1)
	c.expect(OpDone, 2)
	b.mu.Lock()
	topic := b.topics["a"]
	b.mu.Unlock()
	m := message{topic: topic, tail: append([]byte{0, 0}, payload(1, 1)...)}
	var touched senders
	go io.Copy(io.Discard, c)
	if n := testing.AllocsPerRun(100, func() { b.forward(&m, &touched); touched.flush() }); n > 0 {
		t.Errorf("%v allocations a message", n)
	}
}
