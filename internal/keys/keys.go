// Package keys makes the keys of messages: which key a message has follows from
// the seed, its stream and its number and from nothing else, so that it is the same
// on every broker and in every repetition, and needs no state that senders share.
package keys

import "math/rand/v2"

// Kind is how messages' keys are chosen.
type Kind string

// The kinds of keys.
const (
	Fixed  Kind = "fixed"  // the same in all messages of a stream
	Unique Kind = "unique" // no other message has it
	Zipf   Kind = "zipf"   // drawn from Space keys, the first ones most often
)

// Spec says what keys are.
type Spec struct {
	Kind Kind
	Size int // of each key in bytes, at least 1; unique keys need no more than 11
	// Space and Skew are those of zipf: the key of rank r, from 1 to Space, is drawn
	// with a probability proportional to r^-Skew. Space is at least 1 and Skew above 1.
	Space uint64
	Skew  float64
	Seed  uint64
}

// Source makes the keys of one stream. It is used by one goroutine at a time and
// does not allocate.
type Source struct {
	spec   Spec
	stream uint64
	random *rand.PCG
	zipf   *rand.Zipf
}

// numbers is how many messages of a stream have unique keys, as bits: the numbers
// of streams lie above.
const numbers = 40

// New returns the keys of a stream. Streams have numbers below 2^24.
func New(s Spec, stream uint32) *Source {
	k := &Source{spec: s, stream: uint64(stream)}
	if s.Kind == Zipf {
		k.random = rand.NewPCG(0, 0)
		// Go's law is P(k) ∝ (v+k)^-s for k from 0 to the last: with v = 1 that of
		// the rank r = k+1 is r^-s. It draws by rejection-inversion (Hörmann and
		// Derflinger, 1996), exactly and without a table.
		k.zipf = rand.NewZipf(rand.New(k.random), s.Skew, 1, s.Space-1)
	}
	return k
}

// Put writes the key of the stream's n-th message, with n below 2^40, over b, which
// has the length of a key.
func (k *Source) Put(b []byte, n uint64) {
	x := k.stream << numbers
	switch k.spec.Kind {
	case Unique:
		x |= n
	case Zipf:
		// SplitMix64 (Steele, Lea and Flood, 2014) of a counter: no draw depends on
		// the one before.
		z := k.spec.Seed*0xd1342543de82ef95 + k.stream*0xda942042e4dd58b5 + n*0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		k.random.Seed(z, k.spec.Seed)
		x = k.zipf.Uint64()
	}
	// The number's digits from the right, so that keys that are cut differ where
	// numbers do first.
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[x&63]
		x >>= 6
	}
}
