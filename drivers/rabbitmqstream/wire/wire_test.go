package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
)

// recorder is a Publisher and Subscriber that keeps what it is told.
type recorder struct {
	bodies  [][]byte
	offsets []uint64
	ids     []uint64
	ended   []error
}

func (r *recorder) Deliver(offset uint64, body []byte) {
	r.offsets = append(r.offsets, offset)
	r.bodies = append(r.bodies, bytes.Clone(body))
}

func (r *recorder) Confirm(ids IDs) {
	for i := range ids.Len() {
		r.ids = append(r.ids, ids.At(i))
	}
}
func (r *recorder) Refuse(id uint64, _ Code) { r.ids = append(r.ids, id) }
func (r *recorder) End(why error)            { r.ended = append(r.ended, why) }

// sink is a network connection that says what src has, and keeps what is written to it.
type sink struct {
	net.Conn
	src     io.Reader
	written *bytes.Buffer
}

func (s sink) Read(p []byte) (int, error)  { return s.src.Read(p) }
func (s sink) Write(p []byte) (int, error) { return s.written.Write(p) }
func (sink) Close() error                  { return nil }

// batch is how many bytes a connection collects.
const batch = 1 << 20

// connected returns a connection that is past its login, with publisher and
// subscription 0, and reads from src.
func connected(src io.Reader, e Entries, writeBuffer int) (*Conn, *Publication, *recorder, *bytes.Buffer) {
	r, written := &recorder{}, &bytes.Buffer{}
	c := newConn(kit.Conn{Conn: sink{src: src, written: written}, Raw: sink{}}, rabbit.Config{WriteBuffer: writeBuffer})
	c.FrameMax = 4096
	o := &Publication{conn: c, stream: "s", to: r, entries: e}
	c.publications[0].Store(o)
	c.subscriptions[0].Store(&Subscription{conn: c, stream: "s", to: r})
	return c, o, r, written
}

// chunkOf makes a chunk of the entries in publish frames, as a server would.
func chunkOf(t testing.TB, frames []byte, first uint64) []byte {
	t.Helper()
	var entries []byte
	number, records := 0, 0
	for len(frames) > 0 {
		size := int(binary.BigEndian.Uint32(frames))
		in := newCursor(frames[4+5 : 4+size])
		for range in.Uint32() {
			in.Uint64()
			number++
			if in.Rest[0]&0x80 != 0 {
				n := packedHead - entryHead + int(binary.BigEndian.Uint32(in.Rest[7:]))
				records += int(binary.BigEndian.Uint16(in.Rest[1:]))
				entries = append(entries, in.Bytes(n)...)
			} else {
				n := 4 + int(binary.BigEndian.Uint32(in.Rest))
				records++
				entries = append(entries, in.Bytes(n)...)
			}
		}
		if in.Bad || len(in.Rest) > 0 {
			t.Fatal("a publish frame is not what it says")
		}
		frames = frames[4+size:]
	}
	b := append(begin(nil, deliver), 0, 0x50, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(number))
	b = binary.BigEndian.AppendUint32(b, uint32(records))
	b = append(b, make([]byte, 16)...)
	b = binary.BigEndian.AppendUint64(b, first)
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	b = append(b, make([]byte, 8)...)
	return end(append(b, entries...), 0)
}

// What is published comes back out of a chunk, in entries of any kind.
func TestThereAndBack(t *testing.T) {
	with := AppendProperty(AppendProperty(nil, "name", "value"), "long", strings.Repeat("v", 300))
	for _, e := range []Entries{{Size: 1}, {Size: 4}, {Size: 4, Compression: Gzip}, {Size: 1, Properties: with}, {Size: 4, Properties: with}} {
		_, o, _, written := connected(nil, e, batch)
		var want [][]byte
		for i := range 10 {
			want = append(want, bytes.Repeat([]byte{byte(i)}, 100*i))
			if err := o.Publish(uint64(i+1), want[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.conn.Flush(); err != nil {
			t.Fatal(err)
		}
		c, _, r, _ := connected(bytes.NewReader(chunkOf(t, written.Bytes(), 20)), e, batch)
		if err := c.In.Each(c.deal); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if len(r.bodies) != len(want) {
			t.Fatalf("%+v: %d messages", e, len(r.bodies))
		}
		for i := range want {
			if !bytes.Equal(r.bodies[i], want[i]) || r.offsets[i] != uint64(20+i) {
				t.Errorf("%+v: message %d at %d has %d bytes", e, i, r.offsets[i], len(r.bodies[i]))
			}
		}
	}
}

func TestNoFrameIsTooLarge(t *testing.T) {
	for _, e := range []Entries{{Size: 3}, {Size: 3, Compression: Gzip}} {
		testNoFrameIsTooLarge(t, e)
	}
}

func testNoFrameIsTooLarge(t *testing.T, e Entries) {
	c, o, _, written := connected(nil, e, batch)
	body := make([]byte, c.Room()) // which cannot be compressed
	rand.NewChaCha8([32]byte{}).Read(body)
	for i := range 100 {
		if err := o.Publish(uint64(i+1), body[:c.Room()/3]); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Publish(101, body); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	for all := written.Bytes(); len(all) > 0; {
		n := 4 + int(binary.BigEndian.Uint32(all))
		if n > c.FrameMax {
			t.Errorf("%+v: a frame of %d bytes", e, n)
		}
		all = all[n:]
	}
}

func TestNothingIsAllocatedForAMessage(t *testing.T) {
	_, o, _, written := connected(nil, Entries{Size: 1}, 1)
	body, id := make([]byte, 1024), uint64(0)
	if n := testing.AllocsPerRun(100, func() {
		id++
		if err := o.Publish(id, body); err != nil {
			t.Fatal(err)
		}
		written.Reset()
	}); n > 0 {
		t.Errorf("publishing allocates %v times", n)
	}
}

// A broker that has just come back takes publishers for a leader that it then
// finds gone, and says so at once.
func TestStreamIsGoneAsSoonAsItHasAPublisher(t *testing.T) {
	ours, theirs := net.Pipe()
	c := newConn(kit.Conn{Conn: ours, Raw: ours}, rabbit.Config{})
	c.Start(c.deal, c.end)
	go func() {
		defer theirs.Close()
		request := make([]byte, 100)
		if _, err := theirs.Read(request); err != nil {
			return
		}
		answer := begin(nil, declarePublisher|answer)
		answer = end(append(append(answer, request[8:12]...), 0, byte(OK)), 0)
		start := len(answer)
		both := begin(answer, metadataUpdate)
		both = end(appendString(append(both, 0, byte(NotAvailable)), "s"), start)
		theirs.Write(both)
	}()
	r := &recorder{}
	c.Publisher(t.Context(), "s", "", Entries{}, r) // the end of the connection may come before its answer
	<-c.Done()
	var why *Error
	if len(r.ended) != 1 || !errors.As(r.ended[0], &why) || why.Code != NotAvailable {
		t.Errorf("the publisher was told %v", r.ended)
	}
}

// Other clients write properties in a shorter form.
func TestBodyAfterProperties(t *testing.T) {
	const data = "\x00\x53\x75\xA0\x02hi"
	for message, want := range map[string]string{
		data: "hi",
		"\x00\x53\x74\xC1\x05\x02\xA1\x01a\x40" + data:            "hi",
		"\x00\x53\x74\xC1\x01\x00" + data:                         "hi",
		"\x00\x53\x74\xD1\x00\x00\x00\x04\x00\x00\x00\x00" + data: "hi",
		"\x00\x53\x74\xD1\xFF\xFF\xFF\xFF" + data:                 "", // cut off: as it is
		"\x00\x53\x74\xC1":                                        "",
		"\x00\x53\x73\x45" + data:                                 "", // other properties
	} {
		if want == "" {
			want = message
		}
		if got := string(Body([]byte(message))); got != want {
			t.Errorf("%q has the body %q, want %q", message, got, want)
		}
	}
}

// FuzzFrames feeds a connection what a server might write.
func FuzzFrames(f *testing.F) {
	for _, e := range []Entries{{Size: 1}, {Size: 4}, {Size: 4, Compression: Gzip}} {
		_, o, _, written := connected(nil, e, batch)
		for i := range 10 {
			if err := o.Publish(uint64(i+1), make([]byte, 50*i)); err != nil {
				f.Fatal(err)
			}
		}
		if err := o.conn.Flush(); err != nil {
			f.Fatal(err)
		}
		f.Add(chunkOf(f, written.Bytes(), 0))
	}
	f.Add(end(append(begin(nil, publishConfirm), 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1), 0))
	f.Add(end(append(begin(nil, publishError), 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2), 0))
	f.Add(end(appendString(append(begin(nil, metadataUpdate), 0, 6), "s"), 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, _, _ := connected(bytes.NewReader(data), Entries{Size: 1}, batch)
		if c.In.Each(c.deal) == nil {
			t.Error("reading ends without a reason")
		}
		placement(data)
	})
}

// keeper is a Keeper that keeps what it is to call.
type keeper struct {
	recorder
	credits []func()
}

func (k *keeper) Behind(credit func()) { k.credits = append(k.credits, credit) }

// Who keeps messages has another chunk come when they are dealt with.
func TestNoCreditForWhatIsKept(t *testing.T) {
	_, o, _, published := connected(nil, Entries{Size: 1}, batch)
	if err := errors.Join(o.Publish(1, []byte("m")), o.conn.Flush()); err != nil {
		t.Fatal(err)
	}
	c, _, _, written := connected(bytes.NewReader(chunkOf(t, published.Bytes(), 0)), Entries{Size: 1}, 1)
	k := new(keeper)
	c.subscriptions[0].Store(&Subscription{conn: c, stream: "s", to: k, keeper: k})
	if err := c.In.Each(c.deal); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if len(k.bodies) != 1 || len(k.credits) != 1 || written.Len() > 0 {
		t.Fatalf("%d messages, %d chunks, and %d bytes were written", len(k.bodies), len(k.credits), written.Len())
	}
	k.credits[0]()
	if want := end(append(begin(nil, credit), 0, 0, 1), 0); !bytes.Equal(written.Bytes(), want) {
		t.Errorf("%x was written, want %x", written.Bytes(), want)
	}
}
