package nullbroker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"sixnines/internal/integrity"
)

// Entry is what the log holds of one message.
type Entry struct {
	Run      uint32 // of the envelope
	Stream   uint32 // of the envelope: the producer and topic; 24 bits
	Kind     uint8  // of the envelope; noEnvelope: the payload does not begin with one
	Sequence uint64 // of the envelope, in the stream
	// Received is when the broker had read the message, Forwarded when it began
	// to hand it to the sockets of the subscribers, on CLOCK_MONOTONIC in ns.
	// Forwarded − Received is how long it was held back, as it really was.
	Received, Forwarded int64
	// Planned is how long the laws asked for, with the time in the server's queue,
	// in ns.
	Planned int64
}

// noEnvelope is the Kind of a message that Sixnines did not send.
const noEnvelope = 0xff

// The log is a header of 8 bytes, "69null\x01\n", and then 40 bytes an entry,
// little-endian, in the order of forwarding:
//
//	0 u32 run · 4 u24 stream, u8 kind · 8 u64 sequence
//	16 i64 received · 24 i64 forwarded · 32 i64 planned
const (
	logHeader    = "69null\x01\n"
	logEntrySize = 40
)

// appendEntry appends an entry as the log has it.
func appendEntry(b []byte, e Entry) []byte {
	b = binary.LittleEndian.AppendUint32(b, e.Run)
	b = binary.LittleEndian.AppendUint32(b, e.Stream&(integrity.MaxStreams-1)|uint32(e.Kind)<<24)
	b = binary.LittleEndian.AppendUint64(b, e.Sequence)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Received))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Forwarded))
	return binary.LittleEndian.AppendUint64(b, uint64(e.Planned))
}

// identify fills in whom a payload is from.
func (e *Entry) identify(payload []byte) {
	var v integrity.Envelope
	if v.Get(payload, false) != integrity.Good {
		e.Kind = noEnvelope
		return
	}
	e.Run, e.Stream, e.Kind, e.Sequence = v.Run, v.Stream, uint8(v.Kind), v.Sequence
}

// errLog says that a file is no log of the null broker.
var errLog = errors.New("not a log of the null broker")

// ReadLog reads a log to its end and calls each for every entry, in the order
// of forwarding. An entry that was cut off is left out: so ends the log of a
// broker that was killed, or of one that goes on. It fails, wrapping [errLog],
// if r is no log, and with the error of each, if that returns one.
func ReadLog(r io.Reader, each func(e Entry) error) error {
	var b [logEntrySize]byte
	switch _, err := io.ReadFull(r, b[:len(logHeader)]); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it is too short", errLog)
	case err != nil:
		return fmt.Errorf("read the null broker's log: %w", err)
	case string(b[:len(logHeader)]) != logHeader:
		return fmt.Errorf("%w: it begins with %q", errLog, b[:len(logHeader)])
	}
	for {
		switch _, err := io.ReadFull(r, b[:]); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the null broker's log: %w", err)
		}
		word := binary.LittleEndian.Uint32(b[4:])
		if err := each(Entry{
			Run: binary.LittleEndian.Uint32(b[0:]), Stream: word & (integrity.MaxStreams - 1), Kind: uint8(word >> 24),
			Sequence: binary.LittleEndian.Uint64(b[8:]), Received: int64(binary.LittleEndian.Uint64(b[16:])),
			Forwarded: int64(binary.LittleEndian.Uint64(b[24:])), Planned: int64(binary.LittleEndian.Uint64(b[32:])),
		}); err != nil {
			return err
		}
	}
}
