package wire

import (
	"context"
	"encoding/binary"
	"net"
	"strconv"
	"sync/atomic"
)

// Create makes a stream with the arguments, such as max-length-bytes.
func (c *Conn) Create(ctx context.Context, stream string, args map[string]string) error {
	_, err := c.call(ctx, createStream, appendMap(appendString(nil, stream), args))
	return err
}

// Delete removes a stream with all that is in it.
func (c *Conn) Delete(ctx context.Context, stream string) error {
	_, err := c.call(ctx, deleteStream, appendString(nil, stream))
	return err
}

// Placement is where a stream is.
type Placement struct {
	Leader   string   // host and port, as the servers advertise them
	Replicas []string // likewise, without the leader's
	Brokers  int      // how many servers were named in the answer
}

// Locate tells where a stream is.
func (c *Conn) Locate(ctx context.Context, stream string) (Placement, error) {
	rest, err := c.call(ctx, metadata, appendString([]byte{0, 0, 0, 1}, stream))
	if err != nil {
		return Placement{}, err
	}
	return placement(rest)
}

// placement reads the answer to metadata for one stream.
func placement(answer []byte) (Placement, error) {
	in := newCursor(answer)
	var p Placement
	brokers := map[uint16]string{}
	for range in.count(8) {
		id := in.Uint16()
		host := in.string()
		brokers[id] = net.JoinHostPort(host, strconv.Itoa(int(in.Uint32())))
	}
	p.Brokers = len(brokers)
	if in.count(6) == 0 || in.Bad {
		return p, &Error{Code: NoStream}
	}
	in.string()
	if code := Code(in.Uint16()); code != OK {
		return p, &Error{Code: code}
	}
	p.Leader = brokers[in.Uint16()]
	for range in.count(2) {
		p.Replicas = append(p.Replicas, brokers[in.Uint16()])
	}
	return p, nil
}

// StoredOffset returns the offset that was stored under a name; a [*Error] with
// NoOffset if no offset was stored.
func (c *Conn) StoredOffset(ctx context.Context, name, stream string) (uint64, error) {
	return c.number(ctx, queryOffset, name, stream)
}

// LastPublished returns the last publishing ID that a named publisher has sent; 0: it
// has sent nothing.
func (c *Conn) LastPublished(ctx context.Context, name, stream string) (uint64, error) {
	return c.number(ctx, queryPublisherSequence, name, stream)
}

func (c *Conn) number(ctx context.Context, k key, name, stream string) (uint64, error) {
	rest, err := c.call(ctx, k, appendString(appendString(nil, name), stream))
	if err != nil {
		return 0, err
	}
	in := newCursor(rest)
	return in.Uint64(), nil
}

// Entries says how a publisher puts messages together.
type Entries struct {
	Size        int // messages in one entry; up to 1: each is an entry
	Compression Compression
	Properties  []byte // of every message, see AppendProperty; nil: none
}

// Publication is a publisher of a connection.
type Publication struct {
	conn    *Conn
	id      byte
	stream  string
	to      Publisher
	entries Entries

	// Guarded by the connection's lock on what is written.
	start  int    // of the frame that is being collected
	count  uint32 // entries in it
	held   []byte // messages of the entry that is being collected
	number int    // how many
	last   uint64 // publishing ID of the latest of them
	packer packer
}

// The lengths of what stands in a frame before its entries, and in an entry
// before its messages.
const (
	publishHead = 4 + 4 + 1 + 4
	entryHead   = 8
	packedHead  = 8 + 1 + 2 + 4 + 4
)

// Publisher declares a publisher. Where it has a name, the server takes no entry
// whose publishing ID is not larger than all before it.
func (c *Conn) Publisher(ctx context.Context, stream, name string, e Entries, to Publisher) (*Publication, error) {
	o := &Publication{conn: c, stream: stream, to: to, entries: e}
	c.opening.Lock()
	defer c.opening.Unlock()
	id := 0
	for id < len(c.publications) && c.publications[id].Load() != nil {
		id++
	}
	if id == len(c.publications) {
		return nil, &Error{Code: PreconditionFailed, Text: "no more than 256 publishers on a connection"}
	}
	o.id = byte(id)
	c.publications[id].Store(o) // that the stream is gone may come with the answer
	if _, err := c.call(ctx, declarePublisher, appendString(appendString([]byte{o.id}, name), stream)); err != nil {
		c.publications[id].CompareAndSwap(o, nil)
		return nil, err
	}
	return o, nil
}

// Room returns how large a body can be, with its properties, to fit into a frame.
func (c *Conn) Room() int { return c.FrameMax - publishHead - packedHead - messageRoom(0) }

// Room returns how large a body can be to fit into a frame with what goes with it.
func (o *Publication) Room() int { return o.conn.Room() - len(o.entries.Properties) }

// Publish sends body under a publishing ID, larger than those before. It is
// written at once, or joins what the connection collects. After an error the
// connection is of no use, and the message may or may not have come to the
// server. Of an entry of several messages the server confirms the last ID.
func (o *Publication) Publish(id uint64, body []byte) error {
	c := o.conn
	b, err := c.Out.Begin(0) // what is collected goes out with it, if that is due
	if err != nil {
		return c.Why(err)
	}
	room := messageRoom(len(o.entries.Properties)+len(body)) + packedHead
	if c.open != nil && (c.open != o || len(b)-o.start+len(o.held)+room > c.FrameMax) {
		b = c.seal(b)
	}
	if c.open == nil {
		c.open, o.start, o.count = o, len(b), 0
		b = append(begin(b, publish), o.id, 0, 0, 0, 0)
	}
	if o.entries.Size <= 1 {
		b = appendMessage(binary.BigEndian.AppendUint64(b, id), o.entries.Properties, body)
		o.count++
	} else {
		o.held = appendMessage(o.held, o.entries.Properties, body)
		o.number++
		o.last = id
		if o.number >= o.entries.Size {
			b = o.pack(b)
		}
	}
	due := len(b)+len(o.held) >= c.config.WriteBuffer
	if due {
		b = c.seal(b)
	}
	if err = c.Out.Commit(b); err == nil && due && len(b) < c.config.WriteBuffer {
		err = c.Out.Flush() // what the entry held has become less
	}
	return c.Why(err)
}

// seal ends the frame.
func (o *Publication) seal(b []byte) []byte {
	b = o.pack(b)
	binary.BigEndian.PutUint32(b[o.start+9:], o.count)
	return end(b, o.start)
}

// pack ends the entry.
func (o *Publication) pack(b []byte) []byte {
	if o.number == 0 {
		return b
	}
	data, how := o.held, Uncompressed
	if o.entries.Compression == Gzip {
		if packed := o.packer.pack(data); len(packed) < len(data) { // else there may be no room for it
			data, how = packed, Gzip
		}
	}
	b = binary.BigEndian.AppendUint64(b, o.last)
	b = append(b, 0x80|byte(how)<<4)
	b = binary.BigEndian.AppendUint16(b, uint16(o.number))
	b = binary.BigEndian.AppendUint32(b, uint32(len(o.held)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	o.count++
	o.held, o.number = o.held[:0], 0
	return append(b, data...)
}

// Close removes the publisher; nothing more is heard of it.
func (o *Publication) Close(ctx context.Context) error {
	_, err := o.conn.call(ctx, deletePublisher, []byte{o.id})
	o.conn.publications[o.id].CompareAndSwap(o, nil)
	return err
}

// The kinds of places in a stream where a subscription begins.
const (
	First  uint16 = 1
	Last   uint16 = 2 // the beginning of the last chunk
	Next   uint16 = 3 // what is written from now on
	Offset uint16 = 4
)

// Subscription is a subscription of a connection.
type Subscription struct {
	conn   *Conn
	id     byte
	stream string
	to     Subscriber
	keeper Keeper // to, if it is one; else nil
	from   uint64 // chunks begin before what was asked for
}

// Subscribe has the messages of a stream delivered, from the place on; offset
// counts with the place Offset only. The server sends credits chunks ahead.
func (c *Conn) Subscribe(ctx context.Context, stream string, place uint16, offset uint64, credits uint16, to Subscriber) (*Subscription, error) {
	in := &Subscription{conn: c, stream: stream, to: to}
	in.keeper, _ = to.(Keeper)
	if place == Offset {
		in.from = offset
	}
	c.opening.Lock()
	defer c.opening.Unlock()
	id := 0
	for id < len(c.subscriptions) && c.subscriptions[id].Load() != nil {
		id++
	}
	if id == len(c.subscriptions) {
		return nil, &Error{Code: PreconditionFailed, Text: "no more than 256 subscriptions on a connection"}
	}
	in.id = byte(id)
	c.subscriptions[id].Store(in) // messages may come with the answer
	b := appendString([]byte{in.id}, stream)
	b = binary.BigEndian.AppendUint16(b, place)
	if place == Offset {
		b = binary.BigEndian.AppendUint64(b, offset)
	}
	b = append(binary.BigEndian.AppendUint16(b, credits), 0, 0, 0, 0)
	if _, err := c.call(ctx, subscribe, b); err != nil {
		c.subscriptions[id].CompareAndSwap(in, nil)
		return nil, err
	}
	return in, nil
}

// End returns the offset behind the last message of a stream. The server has no
// question for it, but sends the last chunk to who subscribes there, before it
// answers what is asked next.
func (c *Conn) End(ctx context.Context, stream string) (uint64, error) {
	var seen last
	in, err := c.Subscribe(ctx, stream, Last, 0, 1, &seen)
	if err != nil {
		return 0, err
	}
	if err := in.Close(ctx); err != nil {
		return 0, err
	}
	return seen.end.Load(), nil
}

// last is a Subscriber that notes where the messages end.
type last struct{ end atomic.Uint64 }

// Deliver implements Subscriber.
func (l *last) Deliver(offset uint64, _ []byte) { l.end.Store(offset + 1) }

// End implements Subscriber.
func (l *last) End(error) {}

// chunk takes one.
func (in *Subscription) chunk(b []byte) error {
	if err := chunk(b, in.from, in.to); err != nil {
		return err
	}
	if in.keeper != nil {
		in.keeper.Behind(func() { _ = in.credit(0) }) // reading ends, too
		return nil
	}
	return in.credit(1)
}

// credit asks for another chunk, see kit.Writer.Reply.
func (in *Subscription) credit(due int) error {
	return in.conn.Out.Reply(end(append(begin(make([]byte, 0, 16), credit), in.id, 0, 1), 0), due)
}

// Store stores an offset under a name. The server does not answer; unless now,
// it is written when what has been read is dealt with.
func (in *Subscription) Store(name string, offset uint64, now bool) error {
	due := 1
	if now {
		due = 0
	}
	b := appendString(appendString(begin(make([]byte, 0, 256), storeOffset), name), in.stream)
	b = end(binary.BigEndian.AppendUint64(b, offset), 0)
	return in.conn.Why(in.conn.Out.Reply(b, due))
}

// Close ends the subscription; nothing more is heard of it.
func (in *Subscription) Close(ctx context.Context) error {
	_, err := in.conn.call(ctx, unsubscribe, []byte{in.id})
	in.conn.subscriptions[in.id].CompareAndSwap(in, nil)
	return err
}
