package wire

import (
	"encoding/binary"
	"math"

	"sixnines/drivers/internal/rabbit"
)

// cursor reads the fields of a method.
type cursor struct{ rabbit.Cursor }

func newCursor(b []byte) cursor { return cursor{rabbit.Cursor{Rest: b}} }

func (c *cursor) short() []byte { return c.Bytes(int(c.Octet())) }

func (c *cursor) long() []byte {
	n := c.Uint32()
	if uint64(n) > uint64(len(c.Rest)) {
		c.Fail()
		return nil
	}
	return c.Bytes(int(n))
}

// Table is a field table. Values are string, bool, int64, float64, Table, []any
// or nil.
type Table map[string]any

// nestingMost is how deep tables may lie in tables.
const nestingMost = 32

func (c *cursor) table(depth int) Table {
	in := newCursor(c.long())
	t := Table{}
	for len(in.Rest) > 0 && !in.Bad {
		name := string(in.short())
		t[name] = in.value(depth + 1)
	}
	c.Bad = c.Bad || in.Bad
	return t
}

// value reads a field value as RabbitMQ writes them, which differs from the
// specification in the letters of integers.
func (c *cursor) value(depth int) any {
	if depth > nestingMost {
		c.Fail()
		return nil
	}
	switch c.Octet() {
	case 't':
		return c.Octet() != 0
	case 'b':
		return int64(int8(c.Octet()))
	case 'B':
		return int64(c.Octet())
	case 's':
		return int64(int16(c.Uint16()))
	case 'u':
		return int64(c.Uint16())
	case 'I':
		return int64(int32(c.Uint32()))
	case 'i':
		return int64(c.Uint32())
	case 'l', 'T':
		return int64(c.Uint64())
	case 'f':
		return float64(math.Float32frombits(c.Uint32()))
	case 'd':
		return math.Float64frombits(c.Uint64())
	case 'S', 'x':
		return string(c.long())
	case 'D':
		scale, n := c.Octet(), c.Uint32()
		return float64(int32(n)) / math.Pow10(int(scale))
	case 'F':
		return c.table(depth)
	case 'A':
		in := newCursor(c.long())
		list := []any{}
		for len(in.Rest) > 0 && !in.Bad {
			list = append(list, in.value(depth+1))
		}
		c.Bad = c.Bad || in.Bad
		return list
	case 'V':
		return nil
	}
	c.Fail()
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
