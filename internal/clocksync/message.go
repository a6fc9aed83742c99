package clocksync

import "errors"

// ErrAnswer is the error of [Take] about something else than the answer to the question.
var ErrAnswer = errors.New("clocksync: what came is not the answer to the question")

// Ask returns a question for a transport of messages, where [Prober] is for connections: the number tells it from others,
// and t1 is the instant at which it leaves, on this clock.
func Ask(number uint32, t1 int64) []byte {
	var b [frameSize]byte
	frame{number: number, t1: t1}.put(&b)
	return b[:]
}

// Answer returns the answer to a question that arrived at t2, on this side's clock, which now reads.
func Answer(question []byte, t2 int64, now func() int64) ([]byte, error) {
	var b [frameSize]byte
	if err := answer(&b, question, t2, now); err != nil {
		return nil, err
	}
	return b[:], nil
}

// Take makes an exchange of the answer, which came at t4, to the question that [Ask] made of number and t1. Its only error is
// [ErrAnswer].
func Take(answer []byte, number uint32, t1, t4 int64) (Exchange, error) {
	f, err := parseFrame(answer)
	if err != nil || !f.answer || f.number != number || f.t1 != t1 {
		return Exchange{}, ErrAnswer
	}
	return Exchange{t1, f.t2, f.t3, t4}, nil
}
