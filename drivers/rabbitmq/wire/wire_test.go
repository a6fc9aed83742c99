package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
)

// recorder is a Handler that keeps what it is told.
type recorder struct {
	bodies [][]byte
	tags   []uint64
	ends   []error
}

func (r *recorder) Deliver(d Delivery) {
	d.Properties.Header("x")
	d.Properties.ReplyTo()
	r.bodies = append(r.bodies, bytes.Clone(d.Body))
}
func (r *recorder) Confirm(tag uint64, _, _ bool) { r.tags = append(r.tags, tag) }
func (r *recorder) Return(b Returned)             { r.bodies = append(r.bodies, bytes.Clone(b.Body)) }
func (r *recorder) End(err error)                 { r.ends = append(r.ends, err) }

// sink is a network connection that takes everything, and says what src has.
type sink struct {
	net.Conn
	src io.Reader
	out io.Writer // nil: nobody looks
}

func (s sink) Read(p []byte) (int, error) { return s.src.Read(p) }
func (s sink) Write(p []byte) (int, error) {
	if s.out == nil {
		return len(p), nil
	}
	return s.out.Write(p)
}
func (sink) Close() error { return nil }

// reading returns a connection that is past its login, with channel 1, and reads
// from src.
func reading(src io.Reader) (*Conn, *Channel, *recorder) {
	r := &recorder{}
	c := newConn(kit.Conn{Conn: sink{src: src}, Raw: sink{}}, Config{Config: rabbit.Config{WriteBuffer: 1}})
	c.FrameMax, c.most = frameLeast, frameLeast
	ch := &Channel{conn: c, id: 1, handler: r, reply: make(chan method, 1), ended: make(chan struct{})}
	c.channels.Store(&[]*Channel{nil, ch})
	return c, ch, r
}

// published returns the frames of messages, made into deliveries.
func delivered(t testing.TB, bodies ...[]byte) []byte {
	t.Helper()
	var all []byte
	for i, body := range bodies {
		start := len(all)
		b := appendShort(appendMethod(all, 1, basicDeliver), "tag")
		b = append(b, 0, 0, 0, 0, 0, 0, 0, byte(i+1), 0)
		all = endFrame(appendShort(appendShort(b, "exchange"), "key"), start)
		e := Envelope{Headers: Table{"x": int64(i)}, ReplyTo: "me"}.prepare(nil, 1)
		method := 7 + 4 + 2 + 1 + 1 + 1 + 1 // without its method frame
		whole := e.appendTo(nil, 1, body, frameLeast)
		all = append(all, whole[method:]...)
	}
	return all
}

func TestFramesHoweverTheyAreCut(t *testing.T) {
	want := [][]byte{[]byte("one"), {}, bytes.Repeat([]byte("long "), 3000), []byte("last")}
	for _, size := range []int{1, 7, 100, 1 << 20} {
		c, _, r := reading(&slow{delivered(t, want...), size})
		if err := c.In.Each(c.deal); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if len(r.bodies) != len(want) {
			t.Fatalf("in pieces of %d: %d messages", size, len(r.bodies))
		}
		for i := range want {
			if !bytes.Equal(r.bodies[i], want[i]) {
				t.Errorf("in pieces of %d: message %d is %q", size, i, r.bodies[i])
			}
		}
	}
}

// slow is a reader that gives no more than size bytes at a time.
type slow struct {
	left []byte
	size int
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.size)], s.left)
	s.left = s.left[n:]
	return n, nil
}

func TestProperties(t *testing.T) {
	p := Received(map[string]any{"offset": int64(7), "other": "x"}, "me")
	if got := p.Header("offset"); got != int64(7) {
		t.Errorf("header %v", got)
	}
	if got := p.Header("none"); got != nil {
		t.Errorf("a header that is not there is %v", got)
	}
	if got := string(p.ReplyTo()); got != "me" {
		t.Errorf("reply to %q", got)
	}
}

func TestUnwritten(t *testing.T) {
	e := Envelope{Exchange: "e", Key: "k"}.prepare(nil, 1)
	var all []byte
	var ends []int
	for _, size := range []int{0, 10, 3 * frameLeast} {
		all = e.appendTo(all, 1, make([]byte, size), frameLeast)
		ends = append(ends, len(all))
	}
	for written := range len(all) + 1 {
		want := 0
		for _, end := range ends {
			if end > written {
				want++
			}
		}
		if got := unwritten(all, written); got != want {
			t.Fatalf("of %d bytes written %d messages are said not to be, instead of %d", written, got, want)
		}
	}
}

// A frame to publish is built, and frames of a delivery and a confirm are taken,
// without allocating.
func TestNothingIsAllocatedForAMessage(t *testing.T) {
	frames := delivered(t, make([]byte, 1024))
	source := bytes.NewReader(nil)
	c, ch, _ := reading(source)
	var p Prepared
	ch.Prepare(&p, Envelope{Exchange: "exchange", Key: "key"})
	body := make([]byte, 1024)
	if n := testing.AllocsPerRun(100, func() {
		if err := ch.Publish(&p, body); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("publishing allocates %v times", n)
	}
	ch.handler = quiet{}
	if n := testing.AllocsPerRun(100, func() {
		source.Reset(frames)
		if err := c.In.Each(c.deal); err != io.EOF {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a delivery allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := ch.Ack(1, false, true); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("an acknowledgement allocates %v times", n)
	}
}

type quiet struct{}

func (quiet) Deliver(Delivery)           {}
func (quiet) Confirm(uint64, bool, bool) {}
func (quiet) Return(Returned)            {}
func (quiet) End(error)                  {}

// FuzzFrames feeds a connection what a server might write.
func FuzzFrames(f *testing.F) {
	f.Add(delivered(f, []byte("one"), make([]byte, 2*frameLeast)))
	f.Add(endFrame(append(appendMethod(nil, 1, basicAck), 0, 0, 0, 0, 0, 0, 0, 1, 1), 0))
	f.Add(endFrame(appendShort(append(appendMethod(nil, 1, channelClose), 1, 0x96), "why"), 0))
	f.Add(endFrame(appendShort(append(appendMethod(nil, 0, connectionClose), 1, 0x40), "why"), 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, _ := reading(bytes.NewReader(data))
		if c.In.Each(c.deal) == nil {
			t.Error("reading ends without a reason")
		}
	})
}

// FuzzTable reads tables, and what it has read again after writing it.
func FuzzTable(f *testing.F) {
	f.Add(appendTable(nil, Table{"a": int64(1), "b": "x", "c": true, "d": 1.5, "e": Table{"f": nil}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := newCursor(data)
		table := in.table(0)
		if in.Bad {
			return
		}
		again := newCursor(appendTable(nil, table))
		if got := again.table(0); again.Bad || len(got) != len(table) {
			t.Errorf("%v becomes %v", table, got)
		}
	})
}

// Nothing is sent on a channel that the server has closed: it would end the connection.
func TestNothingFollowsTheEndOfAChannel(t *testing.T) {
	body := append(appendShort(append(appendMethod(nil, 1, channelClose), 1, 0x96), "too large"), 0, 0, 0, 0)
	var out bytes.Buffer
	r := &recorder{}
	to := sink{src: bytes.NewReader(endFrame(body, 0)), out: &out}
	c := newConn(kit.Conn{Conn: to, Raw: to}, Config{Config: rabbit.Config{WriteBuffer: 1}})
	c.FrameMax, c.most = frameLeast, frameLeast
	ch := &Channel{conn: c, id: 1, handler: r, reply: make(chan method, 1), ended: make(chan struct{})}
	c.channels.Store(&[]*Channel{nil, ch})
	if err := c.In.Each(c.deal); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	answer := out.Len()
	if answer == 0 || len(r.ends) != 1 {
		t.Fatalf("%d bytes of an answer, ends %v", answer, r.ends)
	}
	var p Prepared
	ch.Prepare(&p, Envelope{Key: "k"})
	for what, err := range map[string]error{"Publish": ch.Publish(&p, []byte("body")), "Prefetch": ch.Prefetch(t.Context(), 1), "Ack": ch.Ack(1, false, true)} {
		var why *Error
		if !errors.As(err, &why) || why.Code != 406 {
			t.Errorf("%s: %v", what, err)
		}
	}
	if out.Len() != answer {
		t.Errorf("%d bytes follow", out.Len()-answer)
	}
	if (*c.channels.Load())[1] != nil {
		t.Error("its number is not free")
	}
}

// A server that says what a client does not understand is told apart from one
// that refuses to log in.
func TestLoginWithStrangers(t *testing.T) {
	for _, tt := range []struct {
		says string
		want error
	}{
		{"HTTP/1.1 400 Bad Request\r\n\r\n", ErrProtocol},
		{"AMQP\x00\x00\x09\x01", ErrProtocol},
		{"", io.EOF},
	} {
		ours, theirs := net.Pipe()
		go func() {
			io.ReadFull(theirs, make([]byte, 8))
			if tt.says != "" {
				io.WriteString(theirs, tt.says)
			}
			theirs.Close()
		}()
		if _, err := Open(kit.Conn{Conn: ours, Raw: ours}, Config{}); !errors.Is(err, tt.want) {
			t.Errorf("%q: %v", tt.says, err)
		}
	}
}

// failing takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Each message that Publish has taken and that is not written is told of once, and one
// that it refuses is not.
func TestWhatIsLostIsCountedOnce(t *testing.T) {
	to := sink{out: failing{}}
	taken, lost := 0, 0
	c := newConn(kit.Conn{Conn: to, Raw: to}, Config{Config: rabbit.Config{WriteBuffer: 400}, Lost: func(n int) { lost += n }})
	c.FrameMax = frameLeast
	ch := &Channel{conn: c, id: 1, handler: &recorder{}, reply: make(chan method, 1), ended: make(chan struct{})}
	var p Prepared
	ch.Prepare(&p, Envelope{Key: "k"})
	for ch.Publish(&p, make([]byte, 50)) == nil {
		taken++
	}
	c.Out.End()
	if taken == 0 || lost != taken {
		t.Errorf("%d messages were taken, %d are told to be lost", taken, lost)
	}
}
