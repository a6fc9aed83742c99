package result

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
)

// Seal is at the end of a summary and says what was written before it. It shows
// accidents and careless edits in records that nothing else tells of, such as events and
// vitals. It is no proof: a forger can compute it again, see docs/method.md.
type Seal struct {
	// SHA256 is of every byte of the file before the comma in front of the seal, as
	// 64 hexadecimal digits.
	SHA256 string `json:"sha256"`
	// What was written of each kind of record; Summaries has those before this one.
	Headers   SealedLines `json:"headers"`
	Intervals SealedLines `json:"intervals"`
	Events    SealedLines `json:"events"`
	Summaries SealedLines `json:"summaries"`
}

// SealedLines are the lines of one kind of record.
type SealedLines struct {
	Lines  int64  `json:"lines"`
	CRC32C string `json:"crc32c"` // of their bytes one after another, without newlines; 8 hexadecimal digits
}

// sealKey is the text before the seal in the line of a summary.
const sealKey = `,"seal":`

// tally collects the counts and checksums of a seal, for a writer or a reader.
type tally struct {
	sum   hash.Hash
	kinds map[string]*sealedKind
}

type sealedKind struct {
	lines int64
	crc   uint32
}

func newTally() *tally {
	t := &tally{sum: sha256.New(), kinds: map[string]*sealedKind{}}
	for _, kind := range []string{typeHeader, typeInterval, typeEvent, typeSummary} {
		t.kinds[kind] = new(sealedKind)
	}
	return t
}

// bytes adds bytes of the file to the checksum.
func (t *tally) bytes(b []byte) { t.sum.Write(b) }

// record counts a line as one of its kind. Kinds that this version does not know are only
// in the checksum of all bytes.
func (t *tally) record(kind string, line []byte) {
	if k := t.kinds[kind]; k != nil {
		k.lines++
		k.crc = crc32.Update(k.crc, crc32.MakeTable(crc32.Castagnoli), line)
	}
}

// seal returns the seal of the records and bytes so far.
func (t *tally) seal() *Seal {
	of := func(kind string) SealedLines {
		k := t.kinds[kind]
		return SealedLines{Lines: k.lines, CRC32C: fmt.Sprintf("%08x", k.crc)}
	}
	return &Seal{SHA256: hex.EncodeToString(t.sum.Sum(nil)),
		Headers: of(typeHeader), Intervals: of(typeInterval), Events: of(typeEvent), Summaries: of(typeSummary)}
}

// sealed appends a seal to a summary's line without one, and counts the line.
func (t *tally) sealed(line []byte) ([]byte, error) {
	text := line[:len(line)-1] // without the closing brace
	t.bytes(text)
	seal, err := json.Marshal(t.seal())
	if err != nil {
		return nil, err
	}
	rest := append(append([]byte(sealKey), seal...), '}')
	t.bytes(rest)
	line = append(text, rest...)
	t.record(typeSummary, line)
	return line, nil
}

// read counts a line that was read, with its newline if whole, and returns the seal that the
// line should have; nil if it is not a summary or has no seal.
func (t *tally) read(kind string, line []byte, whole bool) (want *Seal) {
	rest := line
	if at := bytes.LastIndex(line, []byte(sealKey)); kind == typeSummary && at >= 0 {
		t.bytes(line[:at])
		want, rest = t.seal(), line[at:]
	}
	if t.bytes(rest); whole {
		t.bytes([]byte{'\n'})
	}
	t.record(kind, line)
	return want
}
