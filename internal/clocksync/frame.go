package clocksync

import (
	"encoding/binary"
	"errors"
)

// frameSize is the length of a question and of an answer, in bytes. They are equal, so
// that a responder does not amplify questions with a forged source address.
const frameSize = 32

// The first four bytes of a frame.
const (
	askMark    = 0x3963513f // "9cQ?"
	answerMark = 0x39635121 // "9cQ!"
)

// frame is a question, with t2 and t3 zero, or an answer, which repeats
// the question's number and t1. Little-endian: mark u32, number u32, t1, t2, t3
// i64.
type frame struct {
	answer     bool
	number     uint32
	t1, t2, t3 int64
}

var errFrame = errors.New("clocksync: what came is neither a question nor an answer of this protocol")

func (f frame) put(b *[frameSize]byte) {
	mark := uint32(askMark)
	if f.answer {
		mark = answerMark
	}
	binary.LittleEndian.PutUint32(b[0:], mark)
	binary.LittleEndian.PutUint32(b[4:], f.number)
	binary.LittleEndian.PutUint64(b[8:], uint64(f.t1))
	binary.LittleEndian.PutUint64(b[16:], uint64(f.t2))
	binary.LittleEndian.PutUint64(b[24:], uint64(f.t3))
}

// parseFrame parses a question or an answer. Every error is errFrame.
func parseFrame(b []byte) (frame, error) {
	if len(b) != frameSize {
		return frame{}, errFrame
	}
	f := frame{
		number: binary.LittleEndian.Uint32(b[4:]),
		t1:     int64(binary.LittleEndian.Uint64(b[8:])),
		t2:     int64(binary.LittleEndian.Uint64(b[16:])),
		t3:     int64(binary.LittleEndian.Uint64(b[24:])),
	}
	switch binary.LittleEndian.Uint32(b) {
	case askMark:
		if f.t2 != 0 || f.t3 != 0 {
			return frame{}, errFrame
		}
	case answerMark:
		f.answer = true
	default:
		return frame{}, errFrame
	}
	return f, nil
}
