package kafka

import (
	"math/rand/v2"
)

// keys makes the keys of one producer's records. It is used by one goroutine at
// a time and does not allocate.
type keys struct {
	kind  string
	size  int
	first uint64 // tells the unique keys of producers apart
	count uint64
	zipf  *rand.Zipf
}

// newKeys returns the keys of the producer with the ID, nil if there are none.
// The same ID gives the same keys.
func newKeys(o *Options, id int) *keys {
	if o.Key == none {
		return nil
	}
	k := &keys{kind: o.Key, size: o.KeySize, first: uint64(id) << 40}
	if o.Key == "zipf" {
		k.zipf = rand.NewZipf(rand.New(rand.NewPCG(uint64(id), 0x736978)), o.KeySkew, 1, uint64(o.KeySpace-1))
	}
	return k
}

// next writes the next key over b, which is grown the first time.
func (k *keys) next(b []byte) []byte {
	if cap(b) < k.size {
		b = make([]byte, k.size)
	}
	b = b[:k.size]
	var n uint64
	switch k.kind {
	case "unique":
		n = k.first | k.count
		k.count++
	case "zipf":
		n = k.zipf.Uint64()
	default:
		n = k.first
	}
	// The number's digits from the right, so that keys that are cut differ where
	// numbers do first.
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[n&63]
		n >>= 6
	}
	return b
}
