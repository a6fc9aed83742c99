package clocksync

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
)

// Key authenticates frames: who has not got it is not answered, and nothing that he sends is taken for an answer.
type Key [sha256.Size]byte

// NewKey makes the key of a secret that both sides have for something else.
func NewKey(secret string) (k Key) {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte("sixnines: questions for the time, 1"))
	h.Sum(k[:0])
	return k
}

// stampSize is the length of a question and of an answer over UDP, which are equal, so that nothing is amplified. The last macSize
// bytes authenticate those before.
const (
	macSize   = 16
	stampSize = 64 + macSize
)

// The first four bytes of such a frame.
const (
	stampAsk    = 0x3963743f // "9ct?"
	stampAnswer = 0x39637421 // "9ct!"
)

// What a frame is, in one of its words.
const (
	isKernel = 1 << iota
	isRaw
)

// stampFrame is a question, which has number, about and place alone, or its answer, by the responder's raw clock. The kernel says when
// an answer left only when it has left: so a second question asks about the first one's answer, and that instant comes with the
// second answer.
type stampFrame struct {
	answer bool
	kernel bool   // t2 is the kernel's
	raw    bool   // instants are of the raw clock; else, of the monotonic one
	place  uint32 // question: where the responder has the answer that is asked about. answer: where it has this one
	number uint64 // random; an answer has that of its question
	about  uint64 // the number of the question whose answer is asked about; 0: of none
	t2, t3 int64  // the question came at t2 at the latest, and the answer left at t3 at the earliest
	left   int64  // at the earliest, by the kernel, the answer that is asked about; 0: not known
	clock  uint64 // names the responder's clock
}

var errStampFrame = errors.New("clocksync: what came is no frame of one who has the key")

// put writes the frame. Little-endian: mark, place u32, number, about u64, t2, t3, left i64, clock u64, what it is u64, and what
// authenticates it.
func (f *stampFrame) put(b *[stampSize]byte, key *Key) {
	le, mark, is := binary.LittleEndian, uint32(stampAsk), uint64(0)
	if f.answer {
		mark = stampAnswer
	}
	if f.kernel {
		is |= isKernel
	}
	if f.raw {
		is |= isRaw
	}
	le.PutUint32(b[0:], mark)
	le.PutUint32(b[4:], f.place)
	le.PutUint64(b[8:], f.number)
	le.PutUint64(b[16:], f.about)
	le.PutUint64(b[24:], uint64(f.t2))
	le.PutUint64(b[32:], uint64(f.t3))
	le.PutUint64(b[40:], uint64(f.left))
	le.PutUint64(b[48:], f.clock)
	le.PutUint64(b[56:], is)
	sum := authenticate(b[:stampSize-macSize], key)
	copy(b[stampSize-macSize:], sum[:macSize])
}

func authenticate(b []byte, key *Key) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, key[:])
	h.Write(b)
	h.Sum(sum[:0])
	return sum
}

// parseStampFrame parses a frame of who has the key. Every error is errStampFrame.
func parseStampFrame(b []byte, key *Key) (f stampFrame, err error) {
	if len(b) != stampSize {
		return f, errStampFrame
	}
	le := binary.LittleEndian
	mark := le.Uint32(b)
	if mark != stampAsk && mark != stampAnswer {
		return f, errStampFrame
	}
	if sum := authenticate(b[:stampSize-macSize], key); subtle.ConstantTimeCompare(sum[:macSize], b[stampSize-macSize:]) != 1 {
		return f, errStampFrame
	}
	is := le.Uint64(b[56:])
	if is&^(isKernel|isRaw) != 0 {
		return f, errStampFrame
	}
	f = stampFrame{answer: mark == stampAnswer, kernel: is&isKernel != 0, raw: is&isRaw != 0, place: le.Uint32(b[4:]), number: le.Uint64(b[8:]), about: le.Uint64(b[16:]),
		t2: int64(le.Uint64(b[24:])), t3: int64(le.Uint64(b[32:])), left: int64(le.Uint64(b[40:])), clock: le.Uint64(b[48:])}
	if f.number == 0 {
		return stampFrame{}, errStampFrame
	}
	return f, nil
}
