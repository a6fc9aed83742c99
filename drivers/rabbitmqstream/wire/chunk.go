package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
)

// inflatedMost is the largest sub-entry that is taken apart: as much as a server
// may be set to carry.
const inflatedMost = 64 << 20

// chunk hands the messages of a chunk over, from the offset from on.
func chunk(b []byte, from uint64, s Subscriber) error {
	c := newCursor(b)
	if magic := c.Octet(); magic != 0x50 {
		return fmt.Errorf("%w: a chunk begins with %#x", ErrProtocol, magic)
	}
	kind := c.Octet()
	entries := int(c.Uint16())
	c.Bytes(4 + 8 + 8) // records, time, epoch
	offset := c.Uint64()
	c.Bytes(4) // CRC: TCP has one
	length := c.Uint32()
	c.Bytes(8)
	if c.Bad || uint64(length) > uint64(len(c.Rest)) {
		return fmt.Errorf("%w: a chunk is cut off", ErrProtocol)
	}
	if kind != 0 {
		return nil // the server's own bookkeeping
	}
	c.Rest = c.Rest[:length]
	for range entries {
		if len(c.Rest) < 4 {
			return fmt.Errorf("%w: a chunk has less entries than it says", ErrProtocol)
		}
		if c.Rest[0]&0x80 == 0 {
			m := c.Bytes(int(c.Uint32()))
			if c.Bad {
				return fmt.Errorf("%w: a message is cut off", ErrProtocol)
			}
			if offset >= from {
				s.Deliver(offset, Body(m))
			}
			offset++
			continue
		}
		n, err := subEntry(&c, offset, from, s)
		if err != nil {
			return err
		}
		offset += n
	}
	return nil
}

// subEntry hands over the messages of an entry that holds several.
func subEntry(c *cursor, offset, from uint64, s Subscriber) (uint64, error) {
	compression := Compression(c.Octet() >> 4 & 7)
	records := int(c.Uint16())
	plain := c.Uint32()
	data := c.Bytes(int(c.Uint32()))
	if c.Bad || plain > inflatedMost {
		return 0, fmt.Errorf("%w: a sub-entry is cut off, or too large", ErrProtocol)
	}
	switch compression {
	case Uncompressed:
	case Gzip:
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(z, int64(plain)))
		}
		if err != nil {
			return 0, fmt.Errorf("%w: a compressed sub-entry: %w", ErrProtocol, err)
		}
	default:
		return 0, fmt.Errorf("%w: compression %d", ErrProtocol, compression)
	}
	in := newCursor(data)
	for i := range uint64(records) {
		m := in.Bytes(int(in.Uint32()))
		if in.Bad {
			return 0, fmt.Errorf("%w: a sub-entry has less messages than it says", ErrProtocol)
		}
		if offset+i >= from {
			s.Deliver(offset+i, Body(m))
		}
	}
	return uint64(records), nil
}

// Compression is how sub-entries are compressed.
type Compression byte

// The compressions that are understood here.
const (
	Uncompressed Compression = 0
	Gzip         Compression = 1
)

// The beginnings of an AMQP 1.0 message that is nothing but data, as other
// clients expect in a stream: a described type, its short descriptor 0x75, and
// binary of up to 255 bytes or more.
const (
	dataShort = "\x00\x53\x75\xA0"
	dataLong  = "\x00\x53\x75\xB0"
)

// propertiesStart begins application properties, before the data: a described type,
// its short descriptor 0x74. They are a map in one of two widths.
const (
	propertiesStart = "\x00\x53\x74"
	mapShort        = 0xC1
	mapLong         = 0xD1
	stringShort     = 0xA1
	stringLong      = 0xB1
)

// AppendProperty appends a name with a value to the properties of a message, which
// are nil before the first.
func AppendProperty(b []byte, name, value string) []byte {
	if b == nil {
		b = append([]byte(propertiesStart), mapLong, 0, 0, 0, 4, 0, 0, 0, 0)
	}
	for _, s := range []string{name, value} {
		if len(s) < 256 {
			b = append(b, stringShort, byte(len(s)))
		} else {
			b = binary.BigEndian.AppendUint32(append(b, stringLong), uint32(len(s)))
		}
		b = append(b, s...)
	}
	head := b[len(propertiesStart)+1:]
	binary.BigEndian.PutUint32(head, uint32(len(head)-4))
	binary.BigEndian.PutUint32(head[4:], binary.BigEndian.Uint32(head[4:])+2)
	return b
}

// afterProperties returns what follows a message's application properties: all of it,
// if it does not begin with any.
func afterProperties(m []byte) []byte {
	const n = len(propertiesStart)
	if len(m) < n+5 || string(m[:n]) != propertiesStart {
		return m
	}
	size := -1
	switch m[n] {
	case mapShort:
		size = n + 2 + int(m[n+1])
	case mapLong:
		size = n + 5 + int(binary.BigEndian.Uint32(m[n+1:]))
	}
	if size < 0 || size > len(m) {
		return m
	}
	return m[size:]
}

// messageRoom returns how many bytes appendMessage may append.
func messageRoom(body int) int { return 4 + len(dataLong) + 4 + body }

// appendMessage appends a message with its length and its properties, if any.
func appendMessage(b, properties, body []byte) []byte {
	if n := len(body); n < 256 {
		b = binary.BigEndian.AppendUint32(b, uint32(len(properties)+len(dataShort)+1+n))
		b = append(append(append(b, properties...), dataShort...), byte(n))
	} else {
		b = binary.BigEndian.AppendUint32(b, uint32(len(properties)+len(dataLong)+4+n))
		b = binary.BigEndian.AppendUint32(append(append(b, properties...), dataLong...), uint32(n))
	}
	return append(b, body...)
}

// Body returns the data of an AMQP 1.0 message that is nothing else but application
// properties, and any other message as it is.
func Body(whole []byte) []byte {
	m := afterProperties(whole)
	switch {
	case len(m) >= 5 && string(m[:4]) == dataShort && int(m[4]) == len(m)-5:
		return m[5:]
	case len(m) >= 8 && string(m[:4]) == dataLong && uint64(binary.BigEndian.Uint32(m[4:])) == uint64(len(m)-8):
		return m[8:]
	}
	return whole
}

// packer compresses, again and again: a new compressor for each entry would be a
// large part of a megabyte each.
type packer struct {
	gzip *gzip.Writer
	out  bytes.Buffer
}

// pack returns data, compressed. It is valid until pack is called again. A bytes.Buffer
// takes all that is written: there are no errors.
func (p *packer) pack(data []byte) []byte {
	p.out.Reset()
	if p.gzip == nil {
		p.gzip = gzip.NewWriter(&p.out)
	} else {
		p.gzip.Reset(&p.out)
	}
	_, _ = p.gzip.Write(data)
	_ = p.gzip.Close()
	return p.out.Bytes()
}
