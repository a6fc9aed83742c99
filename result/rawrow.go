package result

import (
	"encoding/binary"
	"fmt"
)

// A raw file holds one row per event of a message: that it was sent, that it
// was acknowledged, that a consumer received it, and so on. Joining the events
// of a message into one row would need a lookup on the hot path (and a row of
// unbounded length where many consume it); readers join instead.

// RawRowSize is the length of a row in bytes.
const RawRowSize = 40

// RawKind says what happened to a message.
type RawKind uint8

// The kinds of rows.
const (
	RawEmpty     RawKind = iota // a row that was never written; readers skip it
	RawSent                     // handed to the client; Instant is the generator's own lag
	RawAcked                    // acknowledged
	RawReceived                 // received, first copy, intact
	RawReplied                  // back at its origin
	RawNacked                   // refused by the broker
	RawCorrupted                // received, first copy, damaged
	rawKinds                    // the number of kinds
)

// String returns the kind's name.
func (k RawKind) String() string {
	switch k {
	case RawEmpty:
		return "empty"
	case RawSent:
		return "sent"
	case RawAcked:
		return "acked"
	case RawReceived:
		return "received"
	case RawReplied:
		return "replied"
	case RawNacked:
		return "nacked"
	case RawCorrupted:
		return "corrupted"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// RawRow is one event of one message. All instants are ns from the start of
// the measured window.
type RawRow struct {
	Kind     RawKind
	Stream   uint32 // of the producer; 24 bits
	Party    uint32 // the consumer or delivery group; 0 on the publish side
	Seq      int64  // in the stream
	Intended int64
	Sent     int64
	// Instant is when the event happened; in a row of kind RawSent, which
	// happened at Sent, it is the generator's own lag, ns.
	Instant int64
}

// PutRow encodes r into the first [RawRowSize] bytes of b, little-endian:
//
//	0 u8 kind · 1 u24 stream · 4 u32 party · 8 i64 sequence
//	16 i64 intended · 24 i64 sent · 32 i64 instant
//
// The word with the kind is stored last, so that a row whose writer was killed
// between two stores reads as empty.
func PutRow(b []byte, r RawRow) {
	_ = b[RawRowSize-1]
	binary.LittleEndian.PutUint64(b[8:], uint64(r.Seq))
	binary.LittleEndian.PutUint64(b[16:], uint64(r.Intended))
	binary.LittleEndian.PutUint64(b[24:], uint64(r.Sent))
	binary.LittleEndian.PutUint64(b[32:], uint64(r.Instant))
	binary.LittleEndian.PutUint64(b, uint64(r.Kind)|uint64(r.Stream&(1<<24-1))<<8|uint64(r.Party)<<32)
}

// getRow decodes what PutRow encoded.
func getRow(b []byte) RawRow {
	_ = b[RawRowSize-1]
	w := binary.LittleEndian.Uint64(b)
	return RawRow{
		Kind:     RawKind(w),
		Stream:   uint32(w>>8) & (1<<24 - 1),
		Party:    uint32(w >> 32),
		Seq:      int64(binary.LittleEndian.Uint64(b[8:])),
		Intended: int64(binary.LittleEndian.Uint64(b[16:])),
		Sent:     int64(binary.LittleEndian.Uint64(b[24:])),
		Instant:  int64(binary.LittleEndian.Uint64(b[32:])),
	}
}
