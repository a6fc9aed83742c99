// Package seal computes what the seal at a result file's end says: counts and checksums of its
// lines. The writer and the reader of a file count in the same way.
package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
)

// Tally collects the counts and checksums of a file's lines. It is not safe for concurrent use.
type Tally struct {
	sum   hash.Hash
	kinds map[string]*kind
}

// kind has the lines of one kind of record.
type kind struct {
	lines int64
	crc   uint32
}

// New returns the tally of an empty file, whose lines of these kinds it is to count. Lines of
// other kinds are only in the checksum of all bytes.
func New(kinds ...string) *Tally {
	t := &Tally{sum: sha256.New(), kinds: map[string]*kind{}}
	for _, name := range kinds {
		t.kinds[name] = new(kind)
	}
	return t
}

// Bytes adds bytes of the file to the checksum.
func (t *Tally) Bytes(b []byte) { t.sum.Write(b) }

// Record counts a line, without its newline, as one of its kind.
func (t *Tally) Record(name string, line []byte) {
	if k := t.kinds[name]; k != nil {
		k.lines++
		k.crc = crc32.Update(k.crc, crc32.MakeTable(crc32.Castagnoli), line)
	}
}

// SHA256 returns the checksum of all bytes so far, as 64 hexadecimal digits.
func (t *Tally) SHA256() string { return hex.EncodeToString(t.sum.Sum(nil)) }

// Lines returns how many lines of a kind of New's there are so far, and the CRC-32C of their bytes one after
// another, as 8 hexadecimal digits.
func (t *Tally) Lines(name string) (n int64, crc32c string) {
	k := t.kinds[name]
	return k.lines, fmt.Sprintf("%08x", k.crc)
}
