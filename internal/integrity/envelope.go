// Package integrity accounts for every message. Each payload carries an
// envelope, and ledgers tick off sends and deliveries, so that loss,
// duplication, reordering and corruption are exact counts.
package integrity

import (
	"encoding/binary"
	"hash/crc32"
)

// EnvelopeSize is the size of the envelope at the start of every payload, in
// bytes, and so the smallest payload.
const EnvelopeSize = 32

// Version is the version of the envelope's layout.
const Version = 1

// maxSequence is the largest sequence number an envelope can carry.
const maxSequence = 1<<48 - 1

// MaxStreams is the number of streams an envelope can distinguish.
const MaxStreams = 1 << 24

// Kind says what a message is for.
type Kind uint8

// The kinds.
const (
	Data      Kind = iota // part of the load
	Readiness             // sent before the load until every consumer has seen one
	Reply                 // a responder's answer
	Outside               // part of the load before or after the window, where another process receives it
)

// Envelope identifies and times a message. Little-endian, 32 bytes:
//
//	 0 u32 run
//	 4 u24 stream · u8 version:2 kind:3 own:3
//	 8 i64 intended, CLOCK_MONOTONIC ns of the origin
//	16 u48 sequence, per stream, from 0
//	22 u48 sent − intended, ns, saturating
//	28 u32 CRC-32C over the body, then bytes 0–27
//
// A stream is one producer's messages to one topic. Own is, in sevenths,
// which part of sent − intended was the generator's own delay, so that a
// consumer in another process can attribute the lag too. The body comes first
// in the checksum: a sender whose bodies are fixed computes 28 bytes only.
type Envelope struct {
	Run      uint32
	Stream   uint32
	Kind     Kind
	Own      uint8  // 0 to 7
	Intended int64  // ns, see above
	Sequence uint64 // 0 to maxSequence
	Lag      int64  // sent − intended, ns; Put clamps it to 0 to 2⁴⁸−1
}

const maxLag = 1<<48 - 1

// castagnoli is immutable; the package crc32 recognises it by its address and
// uses the processor's instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// BodySum returns the checksum of a payload's body (what follows the
// envelope), for [Envelope.Put].
func BodySum(payload []byte) uint32 {
	return AddSum(0, payload[EnvelopeSize:])
}

// AddSum extends sum, the checksum of the beginning of a body, by the bytes in more.
func AddSum(sum uint32, more []byte) uint32 { return crc32.Update(sum, castagnoli, more) }

// Put writes e to the start of payload, whose body has the checksum bodySum.
// It panics if payload is shorter than EnvelopeSize, and cuts fields that are too
// large to their width.
func (e *Envelope) Put(payload []byte, bodySum uint32) {
	b := payload[:EnvelopeSize:EnvelopeSize]
	lag := uint64(min(max(e.Lag, 0), maxLag))
	binary.LittleEndian.PutUint32(b[0:], e.Run)
	binary.LittleEndian.PutUint32(b[4:], e.Stream&0xffffff|uint32(Version|uint8(e.Kind)&7<<2|e.Own<<5)<<24)
	binary.LittleEndian.PutUint64(b[8:], uint64(e.Intended))
	binary.LittleEndian.PutUint64(b[16:], e.Sequence&maxSequence|lag<<48)
	binary.LittleEndian.PutUint32(b[24:], uint32(lag>>16))
	binary.LittleEndian.PutUint32(b[28:], crc32.Update(bodySum, castagnoli, b[:28]))
}

// Check is what reading an envelope found.
type Check int

// The outcomes of Get.
const (
	Good    Check = iota
	Short         // fewer bytes than an envelope: not ours, or cut
	Damaged       // the checksum or the version is wrong
)

// Get reads the envelope of payload. If it returns Damaged, the fields hold what
// the bytes say and may be wrong; if it returns Short, they are unchanged. If
// verify is false, Get does not compute the checksum.
func (e *Envelope) Get(payload []byte, verify bool) Check {
	if len(payload) < EnvelopeSize {
		return Short
	}
	b := payload[:EnvelopeSize:EnvelopeSize]
	e.Run = binary.LittleEndian.Uint32(b[0:])
	w := binary.LittleEndian.Uint32(b[4:])
	e.Stream = w & 0xffffff
	e.Kind = Kind(w >> 26 & 7)
	e.Own = uint8(w >> 29)
	e.Intended = int64(binary.LittleEndian.Uint64(b[8:]))
	s := binary.LittleEndian.Uint64(b[16:])
	e.Sequence = s & maxSequence
	e.Lag = int64(s>>48 | uint64(binary.LittleEndian.Uint32(b[24:]))<<16)
	if w>>24&3 != Version {
		return Damaged
	}
	if verify {
		sum := uint32(0)
		if len(payload) > EnvelopeSize {
			sum = crc32.Update(0, castagnoli, payload[EnvelopeSize:])
		}
		if crc32.Update(sum, castagnoli, b[:28]) != binary.LittleEndian.Uint32(b[28:]) {
			return Damaged
		}
	}
	return Good
}

// Answer returns the reply to a request: a copy of it in into's memory (grown if it is too
// small) whose envelope has the kind Reply. A damaged request is returned as it is, so that
// the requester detects the damage; kind is then Data. For a request shorter than an envelope
// the reply is nil. kind is otherwise the request's; only Data gets the kind Reply.
func Answer(into, request []byte) (reply []byte, kind Kind) {
	var e Envelope
	check := e.Get(request, true)
	if check == Short {
		return nil, Data
	}
	reply = append(into[:0], request...)
	if check != Good {
		return reply, Data
	}
	kind = e.Kind
	if kind == Data {
		e.Kind = Reply
		e.Put(reply, BodySum(reply))
	}
	return reply, kind
}
