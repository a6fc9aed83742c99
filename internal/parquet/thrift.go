package parquet

import "encoding/binary"

// Types of fields in Thrift's compact protocol.
const (
	kindTrue, kindI32, kindI64, kindBinary, kindList, kindStruct = 1, 5, 6, 8, 9, 12
)

// thrift encodes a structure in Thrift's compact protocol. Fields come in the order of their numbers.
type thrift struct {
	b     []byte
	last  int   // number of the field before, in the structure under way
	outer []int // the same of those around it
}

// field begins a field.
func (t *thrift) field(number, kind int) {
	if d := number - t.last; d > 0 && d < 16 {
		t.b = append(t.b, byte(d<<4|kind))
	} else {
		t.b = append(t.b, byte(kind))
		t.number(number)
	}
	t.last = number
}

// number appends an integer: zigzag, then seven bits a byte.
func (t *thrift) number(v int) { t.b = binary.AppendVarint(t.b, int64(v)) }

func (t *thrift) i32(number, v int) {
	t.field(number, kindI32)
	t.number(v)
}

func (t *thrift) i64(number int, v int64) {
	t.field(number, kindI64)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) yes(number int) { t.field(number, kindTrue) }

func (t *thrift) text(number int, s string) {
	t.field(number, kindBinary)
	t.string(s)
}

func (t *thrift) string(s string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

// list begins a list of n elements of a kind.
func (t *thrift) list(number, kind, n int) {
	t.field(number, kindList)
	if n < 15 {
		t.b = append(t.b, byte(n<<4|kind))
		return
	}
	t.b = binary.AppendUvarint(append(t.b, byte(0xf0|kind)), uint64(n))
}

// begin begins a structure as a field, and element one in a list; end ends it.
func (t *thrift) begin(number int) {
	t.field(number, kindStruct)
	t.element()
}

func (t *thrift) element() {
	t.outer = append(t.outer, t.last)
	t.last = 0
}

func (t *thrift) end() {
	t.stop()
	t.last = t.outer[len(t.outer)-1]
	t.outer = t.outer[:len(t.outer)-1]
}

// stop ends the outermost structure.
func (t *thrift) stop() { t.b = append(t.b, 0) }
