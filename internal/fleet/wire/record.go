package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// MaxRecord is the longest record, in bytes. One that is longer than a message may be goes by several.
const MaxRecord = 16 << 20

// MaxPart is the most bytes of a record in one message: below what a NATS server carries by default.
const MaxPart = 512 << 10

// Part is a record of an agent or a part of one. The subject that it comes by says of which agent.
type Part struct {
	Number uint64 // of the record, from 0
	Index  uint32 // of the part, from 0
	Of     uint32 // parts of the record
	Bytes  []byte
}

// partMark begins each frame; its last byte is the version of the frame's layout.
const partMark = "6NR\x01"

// partHead is the size of what precedes the bytes of a part: the mark, number, index and of, and a
// CRC-32C over all else.
const partHead = 24

// AppendPart appends the frame of a part.
func AppendPart(to []byte, p Part) []byte {
	at := len(to)
	to = append(to, partMark...)
	to = binary.LittleEndian.AppendUint64(to, p.Number)
	to = binary.LittleEndian.AppendUint32(to, p.Index)
	to = binary.LittleEndian.AppendUint32(to, p.Of)
	sum := crc32.Update(checksum(to[at:]), castagnoli(), p.Bytes)
	to = binary.LittleEndian.AppendUint32(to, sum)
	return append(to, p.Bytes...)
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // which is made once, and kept

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli()) }

// ParsePart reads a frame. Bytes is a part of it. The error wraps [ErrMalformed].
func ParsePart(frame []byte) (Part, error) {
	if len(frame) < partHead || string(frame[:len(partMark)]) != partMark {
		return Part{}, fmt.Errorf("%w: %d bytes that are not part of a record", ErrMalformed, len(frame))
	}
	p := Part{Number: binary.LittleEndian.Uint64(frame[4:]), Index: binary.LittleEndian.Uint32(frame[12:]), Of: binary.LittleEndian.Uint32(frame[16:]),
		Bytes: frame[partHead:]}
	switch sum := crc32.Update(checksum(frame[:20]), castagnoli(), p.Bytes); {
	case sum != binary.LittleEndian.Uint32(frame[20:]):
		return Part{}, fmt.Errorf("%w: part of a record with a wrong checksum", ErrMalformed)
	case p.Of == 0 || p.Index >= p.Of || p.Of > MaxRecord/MaxPart || len(p.Bytes) > MaxPart:
		return Part{}, fmt.Errorf("%w: part %d of %d with %d bytes", ErrMalformed, p.Index, p.Of, len(p.Bytes))
	case p.Index+1 < p.Of && len(p.Bytes) != MaxPart:
		return Part{}, fmt.Errorf("%w: part %d of %d has %d bytes and is not the last", ErrMalformed, p.Index, p.Of, len(p.Bytes))
	}
	return p, nil
}

// Parts returns how many messages a record of this size goes by.
func Parts(size int) uint32 { return uint32(max(1, (size+MaxPart-1)/MaxPart)) }

// PartOf returns part index of a record. Its bytes are the record's.
func PartOf(number uint64, record []byte, index uint32) Part {
	from := int(index) * MaxPart
	return Part{number, index, Parts(len(record)), record[from:min(from+MaxPart, len(record))]}
}

// Assembler puts the records of one agent together from parts as they come. The zero value awaits
// record 0. It holds one record at most.
type Assembler struct {
	next  uint64
	index uint32 // of the part that is next
	bytes []byte
	twice uint64
}

// ErrGap is wrapped by the error about a part that is not the next one: records before it are missing.
var ErrGap = errors.New("records are missing")

// Next is the number of the record that is awaited.
func (a *Assembler) Next() uint64 { return a.next }

// Twice is how many parts came again.
func (a *Assembler) Twice() uint64 { return a.twice }

// Add takes the next part. It returns a record if that is complete, valid until the next call, and
// whether there is one. A part that came before changes nothing. An error wraps [ErrGap] or [ErrMalformed].
func (a *Assembler) Add(p Part) (number uint64, record []byte, ok bool, err error) {
	if a.index == 0 {
		a.bytes = a.bytes[:0]
	}
	switch {
	case p.Number < a.next || p.Number == a.next && p.Index < a.index:
		a.twice++
		return 0, nil, false, nil
	case p.Number > a.next || p.Index > a.index:
		return 0, nil, false, fmt.Errorf("%w: part %d of record %d comes, and part %d of record %d is next", ErrGap, p.Index, p.Number, a.index, a.next)
	case len(a.bytes) != int(p.Index)*MaxPart:
		return 0, nil, false, fmt.Errorf("%w: part %d of record %d", ErrMalformed, p.Index, p.Number)
	}
	a.bytes = append(a.bytes, p.Bytes...)
	if a.index++; a.index < p.Of {
		return 0, nil, false, nil
	}
	number = a.next
	a.next, a.index = a.next+1, 0
	return number, a.bytes, true, nil
}
