package recorder

import (
	"iter"
	"math/bits"
	"sync/atomic"
)

// marks has a bit for each block of an array, set when an element of the block
// changes. The collector reads only marked blocks. Any goroutine may set; one takes.
type marks []atomic.Uint64

const (
	block    = 8          // elements: counts of a cache line
	wordSpan = 64 * block // elements that a word of marks stands for
)

func newMarks(length int) marks { return make(marks, (length+wordSpan-1)/wordSpan) }

// set marks the block of element i. It must be called after the change: a take that
// clears the mark then sees the change, and a later take finds a new mark. If the bit
// is already set, the take that clears it is still to come, so nothing is written.
func (m marks) set(i int) {
	u := uint(i) // unsigned, a division by a power of two is one shift
	if word, bit := &m[u/wordSpan], uint64(1)<<(u/block%64); word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// take clears the marks and returns the first element of each block that had one,
// ascending.
func (m marks) take() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w := range m {
			if m[w].Load() == 0 {
				continue
			}
			for b := m[w].Swap(0); b != 0; b &= b - 1 {
				if !yield(w*wordSpan + bits.TrailingZeros64(b)*block) {
					return
				}
			}
		}
	}
}

// blocks is a set of blocks, owned by one goroutine.
type blocks []uint64

func newBlocks(length int) blocks { return make(blocks, (length+wordSpan-1)/wordSpan) }

func (s blocks) add(i int) { s[i/wordSpan] |= 1 << (i / block % 64) }

// next returns the first element of the first block in the set that ends after
// element i, or i itself where that block begins before; length if no block follows.
func (s blocks) next(i, length int) int {
	if i >= length {
		return length
	}
	w := i / wordSpan
	b := s[w] &^ (1<<(i/block%64) - 1)
	for b == 0 {
		if w++; w == len(s) {
			return length
		}
		b = s[w]
	}
	return max(i, w*wordSpan+bits.TrailingZeros64(b)*block)
}
