// Package numbers has sets of sequence numbers, as ledgers of several processes travel: compressed bitmaps, and texts
// of them in result files.
//
// A set takes a few bytes for each stretch of numbers without a gap. At worst it takes one bit for each number from its
// lowest to its highest, or two bytes for each of its numbers, whichever is less, and the text a third more.
package numbers

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Most is one more than the largest number of a set.
const Most = 1 << 48

// ErrText is wrapped by errors about texts that are no sets.
var ErrText = errors.New("no set of numbers")

// Set is a set of numbers below [Most]. The zero value is empty. It is not safe for concurrent use.
type Set struct{ bits *roaring64.Bitmap } // nil: empty

// made returns the bitmap, and makes it if there is none.
func (s *Set) made() *roaring64.Bitmap {
	if s.bits == nil {
		s.bits = roaring64.New()
	}
	return s.bits
}

// Add adds a number.
func (s *Set) Add(n uint64) { s.made().Add(n) }

// AddRange adds the numbers from ≤ n < to.
func (s *Set) AddRange(from, to uint64) {
	if from < to {
		s.made().AddRange(from, to)
	}
}

// AddWords adds the numbers from + i for each bit i of words, of which the first word has the bits 0 to 63.
func (s *Set) AddWords(from uint64, words []uint64) {
	var single []uint64
	run := 0 // words without a gap before the current one
	for i := range len(words) + 1 {
		if i < len(words) && words[i] == ^uint64(0) {
			run++
			continue
		}
		s.AddRange(from+uint64(i-run)*64, from+uint64(i)*64)
		run = 0
		for b := 0; i < len(words) && b < 64; b++ {
			if words[i]>>b&1 != 0 {
				single = append(single, from+uint64(i*64+b))
			}
		}
	}
	if len(single) > 0 {
		s.made().AddMany(single)
	}
}

// Union adds the numbers of another set.
func (s *Set) Union(o Set) {
	if o.bits != nil {
		s.made().Or(o.bits)
	}
}

// Without takes the numbers of another set away.
func (s *Set) Without(o Set) {
	if s.bits != nil && o.bits != nil {
		s.bits.AndNot(o.bits)
	}
}

// Both returns the numbers that are in s and in o, which are not changed.
func (s Set) Both(o Set) Set {
	if s.bits == nil || o.bits == nil {
		return Set{}
	}
	return Set{roaring64.And(s.bits, o.bits)}
}

// Within returns the numbers from ≤ n < to of s, which is not changed.
func (s Set) Within(from, to uint64) Set {
	var r Set
	r.AddRange(from, to)
	return s.Both(r)
}

// Clone returns a copy.
func (s Set) Clone() Set {
	if s.bits == nil {
		return Set{}
	}
	return Set{s.bits.Clone()}
}

// Len returns how many numbers there are.
func (s Set) Len() int64 {
	if s.bits == nil {
		return 0
	}
	return int64(s.bits.GetCardinality())
}

// Has reports whether a number is in the set.
func (s Set) Has(n uint64) bool { return s.bits != nil && s.bits.Contains(n) }

// Highest returns the largest number; ok is false if the set is empty.
func (s Set) Highest() (n uint64, ok bool) {
	if s.bits == nil || s.bits.IsEmpty() {
		return 0, false
	}
	return s.bits.Maximum(), true
}

// All yields the numbers, ascending. The set must not change meanwhile.
func (s Set) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if s.bits == nil {
			return
		}
		for i := s.bits.Iterator(); i.HasNext(); {
			if !yield(i.Next()) {
				return
			}
		}
	}
}

// DropHighest takes the n highest numbers away.
func (s *Set) DropHighest(n int64) {
	if n <= 0 || s.bits == nil {
		return
	}
	if n >= s.Len() {
		s.bits = nil
		return
	}
	if first, err := s.bits.Select(uint64(s.Len() - n)); err == nil {
		s.bits.RemoveRange(first, Most)
	}
}

// Text returns the set as a text, which is empty if the set is.
func (s Set) Text() string {
	if s.Len() == 0 {
		return ""
	}
	s.bits.RunOptimize()
	text, err := s.bits.MarshalBinary()
	if err != nil {
		return "" // cannot happen: it is written into memory
	}
	return base64.StdEncoding.EncodeToString(text)
}

// Parse returns the set of a text. Errors wrap [ErrText]. Reading takes no more than some ten times
// the text's memory; sets made of it may take 8 kB for each 65,536 numbers.
func Parse(text string) (s Set, err error) {
	if text == "" {
		return Set{}, nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return Set{}, fmt.Errorf("%w: %w", ErrText, err)
	}
	// The library allocates as many parts as the text says.
	if len(data) < 8 || binary.LittleEndian.Uint64(data) > uint64(len(data))/8 {
		return Set{}, fmt.Errorf("%w: %d bytes are too few for it", ErrText, len(data))
	}
	bits, rest := roaring64.New(), bytes.NewReader(data)
	if _, err := bits.ReadFrom(rest); err != nil {
		return Set{}, fmt.Errorf("%w: %w", ErrText, err)
	}
	if err := bits.Validate(); err != nil {
		return Set{}, fmt.Errorf("%w: %w", ErrText, err)
	}
	switch {
	case rest.Len() > 0:
		return Set{}, fmt.Errorf("%w: %d bytes follow it", ErrText, rest.Len())
	case bits.IsEmpty():
		return Set{}, fmt.Errorf("%w: it is empty", ErrText)
	case bits.Maximum() >= Most:
		return Set{}, fmt.Errorf("%w: it has the number %d", ErrText, bits.Maximum())
	}
	return Set{bits}, nil
}
