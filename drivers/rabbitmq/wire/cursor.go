package wire

import (
	"encoding/binary"
	"math"
)

// cursor reads fields of a method, one after the other. Reading beyond the end
// yields zeros and sets bad, which is asked once, at the end.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) bytes(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.bad, c.rest = true, nil
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) octet() byte {
	if len(c.rest) == 0 {
		c.bad = true
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

func (c *cursor) uint16() uint16 {
	if b := c.bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) short() []byte { return c.bytes(int(c.octet())) }

func (c *cursor) long() []byte {
	n := c.uint32()
	if uint64(n) > uint64(len(c.rest)) {
		c.bad, c.rest = true, nil
		return nil
	}
	return c.bytes(int(n))
}

// Table is a field table. Values are string, bool, int64, float64, Table, []any
// or nil.
type Table map[string]any

// nestingMost is how deep tables may lie in tables.
const nestingMost = 32

func (c *cursor) table(depth int) Table {
	in := cursor{rest: c.long()}
	t := Table{}
	for len(in.rest) > 0 && !in.bad {
		name := string(in.short())
		t[name] = in.value(depth + 1)
	}
	c.bad = c.bad || in.bad
	return t
}

// value reads a field value as RabbitMQ writes them, which differs from the
// specification in the letters of integers.
func (c *cursor) value(depth int) any {
	if depth > nestingMost {
		c.bad, c.rest = true, nil
		return nil
	}
	switch c.octet() {
	case 't':
		return c.octet() != 0
	case 'b':
		return int64(int8(c.octet()))
	case 'B':
		return int64(c.octet())
	case 's':
		return int64(int16(c.uint16()))
	case 'u':
		return int64(c.uint16())
	case 'I':
		return int64(int32(c.uint32()))
	case 'i':
		return int64(c.uint32())
	case 'l', 'T':
		return int64(c.uint64())
	case 'f':
		return float64(math.Float32frombits(c.uint32()))
	case 'd':
		return math.Float64frombits(c.uint64())
	case 'S', 'x':
		return string(c.long())
	case 'D':
		scale, n := c.octet(), c.uint32()
		return float64(int32(n)) / math.Pow10(int(scale))
	case 'F':
		return c.table(depth)
	case 'A':
		in := cursor{rest: c.long()}
		list := []any{}
		for len(in.rest) > 0 && !in.bad {
			list = append(list, in.value(depth+1))
		}
		c.bad = c.bad || in.bad
		return list
	case 'V':
		return nil
	}
	c.bad, c.rest = true, nil
	return nil
}

// appendTable appends t. Integers of any kind become int64.
func appendTable(b []byte, t Table) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	for name, value := range t {
		b = appendValue(appendShort(b, name), value)
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return appendLong(append(b, 'S'), v)
	case bool:
		if v {
			return append(b, 't', 1)
		}
		return append(b, 't', 0)
	case int:
		return binary.BigEndian.AppendUint64(append(b, 'l'), uint64(v))
	case int64:
		return binary.BigEndian.AppendUint64(append(b, 'l'), uint64(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(b, 'd'), math.Float64bits(v))
	case Table:
		return appendTable(append(b, 'F'), v)
	}
	return append(b, 'V')
}
