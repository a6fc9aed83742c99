package clocksync

import (
	"encoding/binary"
	"errors"
)

// ErrAnswer is the error of [Take] about something else than the answer to the question.
var ErrAnswer = errors.New("clocksync: what came is not the answer to the question")

// QuestionSize is the length of a question, in bytes.
const QuestionSize = frameSize

// Ask returns a question for a transport of messages, where [Prober] is for connections: the number tells it from others,
// and t1 is the instant at which it leaves, on this clock.
func Ask(number uint32, t1 int64) []byte {
	var b [frameSize]byte
	frame{number: number, t1: t1}.put(&b)
	return b[:]
}

// tailSize is the length of what an answer has behind its frame: Ahead and Width of a reading, i64, little-endian.
const tailSize = 16

// Answer returns the answer to a question that arrived at t2, on this side's clock, which now reads. raw is what that clock is
// like against the raw one of this machine; the zero value: it is not known.
func Answer(question []byte, t2 int64, raw Reading, now func() int64) ([]byte, error) {
	var b [frameSize]byte
	if err := answer(&b, question, t2, now); err != nil {
		return nil, err
	}
	all := binary.LittleEndian.AppendUint64(b[:], uint64(raw.Ahead))
	return binary.LittleEndian.AppendUint64(all, uint64(raw.Width)), nil
}

// mostWidth bounds the width of a reading, ns: one that took longer says nothing.
const mostWidth = 1_000_000_000

// Take makes an exchange of the answer, which came at t4, to the question that [Ask] made of number and t1. there is the other
// machine's reading, on its own clock at T3, if it is known. The only error is [ErrAnswer].
func Take(answer []byte, number uint32, t1, t4 int64) (x Exchange, there Reading, err error) {
	if len(answer) != frameSize+tailSize {
		return Exchange{}, Reading{}, ErrAnswer
	}
	f, err := parseFrame(answer[:frameSize])
	there = Reading{At: f.t3, Ahead: int64(binary.LittleEndian.Uint64(answer[frameSize:])), Width: int64(binary.LittleEndian.Uint64(answer[frameSize+8:]))}
	if err != nil || !f.answer || f.number != number || f.t1 != t1 || there.Width < 0 || there.Width > mostWidth {
		return Exchange{}, Reading{}, ErrAnswer
	}
	return Exchange{t1, f.t2, f.t3, t4}, there, nil
}
