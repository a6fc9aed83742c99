package rabbit

import "encoding/binary"

// Cursor reads fields in network byte order, one after the other. Reading beyond the end
// yields zeros and sets Bad, which is asked once, at the end.
type Cursor struct {
	Rest []byte
	Bad  bool
}

// Fail has nothing more read.
func (c *Cursor) Fail() { c.Bad, c.Rest = true, nil }

// Bytes reads n bytes, which lie where they were.
func (c *Cursor) Bytes(n int) []byte {
	if n < 0 || n > len(c.Rest) {
		c.Fail()
		return nil
	}
	b := c.Rest[:n:n]
	c.Rest = c.Rest[n:]
	return b
}

// Octet reads a byte.
func (c *Cursor) Octet() byte {
	if b := c.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint16 reads two bytes.
func (c *Cursor) Uint16() uint16 {
	if b := c.Bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// Uint32 reads four bytes.
func (c *Cursor) Uint32() uint32 {
	if b := c.Bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads eight bytes.
func (c *Cursor) Uint64() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}
